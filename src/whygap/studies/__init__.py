"""The paper's experiments and what it did not check: every number in the docs can be made again.

Each study is a module with a `run(output, data, quick, jobs, report)` that returns the path of its
page; `STUDIES` names them as the command line does. Modules are imported when they are run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["STUDIES"]


def _study(module: str, **fixed: str) -> Callable[..., Path]:
    def run(
        output: Path,
        data: Path | None = None,
        quick: bool = False,
        jobs: int = 1,
        report: Callable[[str], None] = lambda _: None,
    ) -> Path:
        found: Any = importlib.import_module(f"whygap.studies.{module}")
        page: Path = found.run(Path(output), data, quick, jobs, report, **fixed)
        return page

    run.__name__ = module
    return run


STUDIES: Mapping[str, Callable[..., Path]] = MappingProxyType(
    {
        "casestudy insurance": _study("casestudy", case="insurance"),
        "casestudy readmission": _study("casestudy", case="readmission"),
        "comparators": _study("comparators"),
        "coverage": _study("coverage"),
        "revisions": _study("revisions"),
        "scaling": _study("scaling"),
        "semisynthetic": _study("semisynthetic"),
        "shares": _study("shares"),
        "untuned": _study("untuned"),
    }
)
"""Studies by name."""
