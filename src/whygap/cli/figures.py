"""Figures to files, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whygap.errors import ResultError

__all__ = ["save_overview"]


def save_overview(gap: Any, path: Path, level: float) -> None:
    """Draw the overview and write it in the format that the file's name asks for."""
    import matplotlib as mpl

    mpl.use("Agg")
    figure = gap.plot(level=level)
    unfinished = path.with_name(f".{path.name}.part{path.suffix}")
    try:
        figure.savefig(unfinished)
        unfinished.replace(path)
    except OSError as err:
        unfinished.unlink(missing_ok=True)
        raise ResultError(f"The file '{path}' cannot be written", got=err.strerror) from err
