"""Reports of real analyses: each is computed once, when a test first asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import in_shell

import whygap as wg

ROOT = Path(__file__).resolve().parents[2]
FAST = wg.Settings(learner="fast", folds=3, subsets=64, seed=2, progress=False)


def demo(folder: Path) -> Path:
    """What `whygap demo` writes; only the learner is a quicker one."""
    done = in_shell("--quiet", "demo", "-o", folder, "--set", "learner=fast")
    assert done.code == 0, done.err
    return folder / "gap.html"


def insurance(folder: Path) -> Path:
    """Nebraska to West Virginia, 31 covariates."""
    from experiments.cases import Move, insurance_study

    study = insurance_study(case_data(), Move("NE", "WV"), rows=(1500, 2500))
    return wg.explain(study, settings=FAST).report(folder / "insurance.html")


def readmission(folder: Path) -> Path:
    """Patients without and with heart failure."""
    from experiments.cases import readmission_study

    study = readmission_study(case_data(), rows=2500)
    return wg.explain(study, settings=FAST).report(folder / "readmission.html")


def undefined(folder: Path) -> Path:
    """One world twice: nothing to explain."""
    gap = wg.explain(study_of(3, shift=0.0), settings=FAST)
    assert not any(detail.defined for detail in gap.shares.values())
    return gap.report(folder / "undefined.html")


def sixty(folder: Path) -> Path:
    """60 covariates, the last of them named like an attack."""
    settings = replace(FAST, time_budget=20.0)
    gap = wg.explain(study_of(60, shift=0.8, rows=900), detail="shares", settings=settings)
    assert gap.shares["outcome"].defined
    return gap.report(folder / "sixty.html")


def one(folder: Path) -> Path:
    """One covariate."""
    return wg.explain(study_of(1, shift=0.8), settings=FAST).report(folder / "one.html")


def several(folder: Path) -> Path:
    """One source, three targets."""
    study = study_of(3, shift=0.8)
    targets = {name: table_of(3, shift, 600, 7) for name, shift in TARGETS.items()}
    many = wg.explain_many(study, targets, settings=FAST)
    return many.report(folder / "several.html")


TARGETS = {"site <B>": 0.4, "市立病院": 0.8, "site D": 0.0}
QUICK_REPORTS: dict[str, Callable[[Path], Path]] = {"demo": demo}
SLOW_REPORTS: dict[str, Callable[[Path], Path]] = {
    "insurance": insurance,
    "readmission": readmission,
    "undefined": undefined,
    "sixty": sixty,
    "one": one,
    "several": several,
}
REAL_REPORTS = QUICK_REPORTS | SLOW_REPORTS
NAMES: list[Any] = [
    *QUICK_REPORTS,
    *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_REPORTS),
]


def case_data() -> Path:
    """The case studies' tables, which are not shipped; without them the test is left out."""
    named = os.environ.get("WHYGAP_DATA")
    places = [Path(named)] if named else [base / "shared" / "data" for base in (ROOT, ROOT.parent)]
    for place in places:
        if (place / "hospital_readmission.parquet").exists():
            return place
    pytest.skip("needs the case studies' data: name their folder in WHYGAP_DATA")


def study_of(covariates: int, shift: float, rows: int = 600) -> wg.Study:
    """Two tables; the outcome follows the first covariate less in a shifted target."""
    return wg.Study(
        source=table_of(covariates, 0.0, rows, 1),
        target=table_of(covariates, shift, rows, 2),
        outcome="y",
        baseline=["age"],
        prediction="risk",
        source_name="الرياض",
    )


def table_of(covariates: int, shift: float, rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng([seed, covariates])
    age, z = rng.integers(20, 70, rows), rng.normal(0, 1, (rows, covariates))
    z[:, 0] += 0.5 * shift
    score = 0.02 * (age - 45) + 1.5 * z[:, 0]
    risk = 1 / (1 + np.exp(-score))
    moved = 1 / (1 + np.exp(-score + 3 * shift * z[:, 0]))
    names = [f"a rather long name of variable {k}" for k in range(covariates)]
    names[-1] = "<script>alert(1)</script> 🙂"
    columns = {name: z[:, k] for k, name in enumerate(names)}
    return pa.table({"age": age, **columns, "y": (rng.random(rows) < moved) * 1, "risk": risk})
