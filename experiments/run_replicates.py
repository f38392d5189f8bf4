"""Run replicates of an experiment on any machine that has numpy, scipy, scikit-learn and LightGBM.

    python experiments/run_replicates.py coverage configs.json 0 200 --jobs 16 --output new.jsonl

`configs.json` holds one configuration or a list of them, e.g.
`{"world": "gaussian", "rows": [2000, 2000], "metric": "brier", "settings": {"folds": 3}}`;
`python experiments/run_replicates.py coverage full` runs the experiment's own full list (`quick`:
the small one). One JSON line per replicate is appended; seeds that have a line are skipped, so the
command can be stopped and started again. The other packages that whygap needs (pyarrow, typer,
rich, matplotlib, ...) are not imported. Copy the output to `evidence/NAME/replicates.jsonl` and run
`python -m experiments NAME --jobs 0` to turn it into tables, figures and the page.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "whygap"


def open_bare_packages() -> None:
    """Let `whygap` and rooms whose front door imports everything be found without opening it."""
    for name in ("whygap", "whygap.tables"):
        package = ModuleType(name)
        package.__path__ = [str(SOURCE.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    importlib.import_module("lightgbm")  # first, since it looks for optional packages itself
    named = {"whygap.study": ("Study",)}  # in annotations of the main path only
    if importlib.util.find_spec("pyarrow") is None:
        # Table: likewise, of worlds; scikit-learn asks of its inputs whether they are any of these
        named["pyarrow"] = ("Table", "RecordBatch", "Array", "ChunkedArray")
    for module, nouns in named.items():
        sys.modules[module] = ModuleType(module)
        sys.modules[module].__dict__.update({noun: type(noun, (), {}) for noun in nouns})


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run replicates of an experiment.")
    parser.add_argument("experiment", help="a module of experiments, e.g. coverage")
    parser.add_argument("configs", help="a JSON file, or 'full' or 'quick'")
    parser.add_argument("first", type=int, nargs="?", default=0, help="first seed")
    parser.add_argument("count", type=int, nargs="?", default=None, help="number of seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=Path("replicates.jsonl"))
    parser.add_argument("--anew", action="store_true", help="also what an older engine ran")
    parser.add_argument("--only", default="", help="a label, or a part of several labels")
    return parser.parse_args()


def chosen(plan: list[tuple[Any, int]], label: str) -> list[tuple[Any, int]]:
    """The configuration of this label, or all whose label contains it."""
    exact = [step for step in plan if step[0].label == label]
    return exact or [step for step in plan if label in step[0].label]


def main() -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    arguments = read_arguments()
    open_bare_packages()
    sys.path.insert(0, str(ROOT))
    replicates = importlib.import_module("experiments.replicates")
    experiment = importlib.import_module(f"experiments.{arguments.experiment}")
    if arguments.configs in ("full", "quick"):
        plan = experiment.plan(quick=arguments.configs == "quick")
    else:
        raw = json.loads(Path(arguments.configs).read_text(encoding="utf-8"))
        raw = raw if isinstance(raw, list) else [raw]
        plan = [(replicates.Config.from_mapping(r), arguments.count or 200) for r in raw]
    job = getattr(experiment, "replicate", replicates.replicate)
    for config, planned in chosen(plan, arguments.only):
        started = time.monotonic()
        seeds = range(arguments.first, arguments.first + (arguments.count or planned))
        how = {"jobs": arguments.jobs, "fork": True, "anew": arguments.anew, "job": job}
        lines = replicates.run_missing(config, seeds, arguments.output, **how)
        print(f"{config.label}: {len(lines)} lines, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
