"""The measurements of `benchmarks/run.py`; each runs in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import measure
import numpy as np
from synthetic import wide_design, wide_study

from experiments.cases import Move, insurance_study
from experiments.worlds import gaussian
from whygap._explain import Analysis
from whygap.datasets import load_employment
from whygap.domains import ByDomain
from whygap.progress import Silent
from whygap.running.workers import one_thread
from whygap.settings import Settings

SUBSETS = ((0,), (1,), (2,))


def run_one(job: dict[str, Any]) -> dict[str, Any]:
    settings = Settings(progress=False, **job.get("settings", {}))
    found: dict[str, Any] = _RUNS[job["case"]](job, settings)
    return {**found, "peak_mb": round(measure.peak_megabytes(), 1)}


def _insurance(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The paper's case: NE to WV, 3,000 + 6,000 rows, 3 baseline columns, 31 players."""
    clock = measure.Clock()
    with clock.stage("model and tables"):
        study = insurance_study(Path(job["data"]), Move("NE", "WV"))
        design = study.design
    return _explained(design, settings, clock, job["detail"])


def _demo(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What `whygap demo` explains."""
    clock = measure.Clock()
    with clock.stage("model and tables"):
        design = load_employment().study().design
    return _explained(design, settings, clock, job["detail"])


def _wide(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Synthetic rows x columns, generated in chunks; players are groups of columns."""
    clock = measure.Clock()
    with clock.stage("model and tables"):
        design = wide_design(job["rows"], job["columns"], job["players"])
    return _explained(design, settings, clock, job["detail"])


def _files(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The same from Parquet files, so that the rows are read and encoded on the way."""
    clock = measure.Clock()
    with tempfile.TemporaryDirectory() as folder:
        study = wide_study(Path(folder), job["rows"], job["columns"], job["players"])
        with clock.stage("reading"):
            design = study.design
        return _explained(design, settings, clock, job["detail"])


def _pace(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Set-up and a few random subsets of both parts: where a whole run would take too long."""
    clock = measure.Clock()
    with clock.stage("model and tables"):
        design = wide_design(job["rows"], job["columns"], job["players"])
    rng, found = np.random.default_rng(0), {}
    with one_thread():
        with clock.stage("aggregate"):
            analysis = Analysis.begin(design, settings, Silent())
        for name in ("covariate", "outcome"):
            with clock.stage(f"{name} set-up"):
                (part,) = analysis.parts(name)  # type: ignore[arg-type]
                part.numerator((0, 1))
            with clock.stage(name):
                for _ in range(job["subsets"]):
                    size = int(rng.integers(1, job["players"]))
                    chosen = rng.permutation(job["players"])[:size]
                    part.numerator(tuple(sorted(int(k) for k in chosen)))
            found[f"{name}_subsets"] = job["subsets"]
    return {**found, **_seconds(clock), "rows": sum(design.rows), "columns": len(design.columns)}


def _explained(
    design: Any, settings: Settings, clock: measure.Clock, parts: list[Any]
) -> dict[str, Any]:
    """Walk the main path stage by stage."""
    with clock.stage("aggregate"):
        analysis = Analysis.begin(design, settings, Silent())
        total = analysis.decomposition().total
    found: dict[str, Any] = {"gap": total.value}
    for part in parts:
        with clock.stage(part):
            detailed = analysis.details((part,)).shares[part]
        found[f"{part}_subsets"] = detailed.sampling.evaluated if detailed.sampling else 0
    return {**found, **_seconds(clock), "rows": sum(design.rows), "columns": len(design.columns)}


def _coverage(job: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The paper's coverage world: set-up, then {Z1}, {Z2}, {Z3} of both parts."""
    clock, rows = measure.Clock(), job["rows"]
    design = gaussian.GaussianWorld().draw(ByDomain(rows, rows), np.random.default_rng(0))
    with one_thread():
        with clock.stage("aggregate"):
            analysis = Analysis.begin(design, settings, Silent())
        for name in ("covariate", "outcome"):
            with clock.stage(f"{name} set-up"):
                (part,) = analysis.parts(name)  # type: ignore[arg-type]
                part.denominator  # noqa: B018 - measured
                part.numerator(SUBSETS[0])
            with clock.stage(f"{name} subsets"):
                for subset in SUBSETS:
                    part.numerator(subset)
    return {**_seconds(clock), "rows": 2 * rows, "columns": 4}


def _seconds(clock: measure.Clock) -> dict[str, Any]:
    return {
        "cpu": {name: round(value, 3) for name, value in clock.cpu.items()},
        "wall": {name: round(value, 3) for name, value in clock.wall.items()},
    }


_RUNS: dict[str, Any] = {
    "insurance": _insurance,
    "demo": _demo,
    "coverage": _coverage,
    "wide": _wide,
    "files": _files,
    "pace": _pace,
}
