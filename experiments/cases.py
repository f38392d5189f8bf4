"""The case studies' tables: which rows, which columns, which model.

Tables are read from a folder the user names; nothing of them is kept.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from whygap.errors import InputError
from whygap.study import Study

__all__ = [
    "Move",
    "data_folder",
    "insurance_study",
    "read_table",
    "readmission_study",
    "whole_units",
]

DEMOGRAPHICS = ("age", "female", "race_black", "race_hispanic", "race_asian")
UTILISATION = (
    "time_in_hospital",
    "num_lab_procedures",
    "num_procedures",
    "num_medications",
    "number_outpatient",
    "number_emergency",
    "number_inpatient",
    "number_diagnoses",
)
NOT_FEATURES = ("state", "year", "person_weight", "household", "public_coverage")
WHERE_FROM = {
    "acs_public_coverage_2018.parquet": "ACS 1-year 2018 public-use microdata of NE, WV, NM and WY",
    "acs_public_coverage_2018_2024.parquet": "ACS 1-year 2018 and 2024 of NE, WY, LA and KS",
    "acs_workers_2024.parquet": "ACS 1-year 2024, people at work in eleven states",
    "hospital_readmission.parquet": "UCI 'Diabetes 130-US hospitals 1999-2008'",
}


def data_folder(data: Path | None) -> Path:
    """The folder given, or the one in WHYGAP_DATA."""
    named = data or (Path(os.environ["WHYGAP_DATA"]) if "WHYGAP_DATA" in os.environ else None)
    if named is None:
        raise InputError(
            "This study needs data that are not shipped",
            hint="Give their folder with --data DIR or in WHYGAP_DATA.",
        )
    return named


def read_table(data: Path | None, name: str) -> pa.Table:
    """One of the case studies' tables."""
    path = data_folder(data) / name
    if not path.exists():
        raise InputError(
            f"The file '{name}' is not in '{path.parent}'", hint=f"It holds {WHERE_FROM[name]}."
        )
    return pyarrow.parquet.read_table(path)


@dataclass(frozen=True, slots=True)
class Move:
    """From one state and year to another."""

    source: str
    target: str
    source_year: int = 2018
    target_year: int = 2018

    @property
    def name(self) -> str:
        """E.g. `NE to WV`, with years where they are not 2018."""
        if self.source_year == self.target_year == 2018:
            return f"{self.source} to {self.target}"
        return f"{self.source} {self.source_year} to {self.target} {self.target_year}"

    @property
    def file(self) -> str:
        """The table that has both."""
        old = self.source_year == self.target_year == 2018
        return f"acs_public_coverage_2018{'' if old else '_2024'}.parquet"


def insurance_study(
    data: Path | None,
    move: Move,
    *,
    metric: str = "accuracy",
    baseline: tuple[str, ...] = ("SEX", "AGEP", "race_white"),
    rows: tuple[int | None, int | None] = (3000, 6000),
    seed: int = 0,
    table: pa.Table | None = None,
) -> Study:
    """The paper's insurance model: 10 hidden units, alpha 1, trained on 3,300 source rows.

    `rows=(None, None)` keeps every row, the training rows too (for worlds made from the tables).
    `table` takes the place of the file in the data folder.
    """
    table = read_table(data, move.file) if table is None else table
    here = _state(table, move.source, move.source_year)
    there = _state(table, move.target, move.target_year)
    features = [c for c in table.column_names if c not in NOT_FEATURES]
    rng = np.random.default_rng(seed)
    order = rng.permutation(here.num_rows)
    model = _mlp(here.take(order[:3300]), features, seed)
    source = here if rows[0] is None else here.take(order[3300 : 3300 + rows[0]])
    size = there.num_rows if rows[1] is None else min(rows[1], there.num_rows)
    target = there.take(rng.permutation(there.num_rows)[:size])
    pair = [_with_prediction(t, model, features, "public_coverage") for t in (source, target)]
    return Study(
        source=pair[0],
        target=pair[1],
        outcome="public_coverage",
        baseline=list(baseline),
        covariates=[c for c in _varying(pair, features) if c not in baseline],
        prediction="prediction",
        metric=metric,
        source_name=f"{move.source} {move.source_year}",
        target_name=f"{move.target} {move.target_year}",
    )


def _varying(tables: list[pa.Table], names: list[str]) -> list[str]:
    """Columns with more than one value in the two tables together."""
    return [n for n in names if len(set().union(*(np.unique(t[n]) for t in tables))) > 1]


def _state(table: pa.Table, state: str, year: int) -> pa.Table:
    mask = np.asarray(table["state"]) == state
    if "year" in table.column_names:
        mask &= np.asarray(table["year"]) == year
    return table.filter(pa.array(mask))


def _mlp(table: pa.Table, features: list[str], seed: int) -> Any:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    mlp = MLPClassifier(hidden_layer_sizes=(10,), alpha=1.0, max_iter=500, random_state=seed)
    model = make_pipeline(StandardScaler(), mlp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(_matrix(table, features), np.asarray(table["public_coverage"]))


def _matrix(table: pa.Table, features: list[str]) -> Any:
    return np.column_stack([np.asarray(table[name], dtype=float) for name in features])


def _with_prediction(table: pa.Table, model: Any, features: list[str], outcome: str) -> pa.Table:
    risk = model.predict_proba(_matrix(table, features))[:, 1]
    kept = [*features, outcome]
    return table.select(kept).append_column("prediction", pa.array(risk))


def readmission_study(
    data: Path | None,
    *,
    metric: str = "accuracy",
    rows: int | None = 3750,
    seed: int = 0,
) -> Study:
    """Readmission within 30 days: patients without heart failure, then patients with it.

    The source are encounters of patients who never have heart failure among their diagnoses, the
    target the encounters with it, so that no patient is in both. The model is a class-weighted
    boosting of depth 2, trained on 18,873 encounters of other source patients. `rows=None` keeps
    all encounters of the analysed patients.
    """
    table = read_table(data, "hospital_readmission.parquet")
    diagnoses = [c for c in table.column_names if c.startswith("dx_")]
    features = [*DEMOGRAPHICS, *UTILISATION, *diagnoses]
    patient, failing = np.asarray(table["patient_id"]), np.asarray(table["hf"]) == 1
    rng = np.random.default_rng(seed)
    ever = np.isin(patient, patient[failing])
    source_rows = whole_units(patient, np.flatnonzero(~ever), rng)
    target_rows = whole_units(patient, np.flatnonzero(failing), rng)
    cut = int(np.searchsorted(np.cumsum(np.ones(len(source_rows))), 18873))
    last = patient[source_rows[cut]]
    training = source_rows[:cut][patient[source_rows[:cut]] != last]
    rest = source_rows[cut:]
    model = _boosting(table.take(training), features)
    pair = []
    for chosen in (rest, target_rows):
        part = table.take(chosen[: rows or len(chosen)])
        scored = _with_prediction(part, model, features, "readmit_30")
        pair.append(scored.append_column("patient_id", part["patient_id"]))
    return Study(
        source=pair[0],
        target=pair[1],
        outcome="readmit_30",
        baseline=list(DEMOGRAPHICS),
        covariates=[*UTILISATION, *diagnoses],
        prediction="prediction",
        metric=metric,
        clusters="patient_id",
        source_name="no heart failure",
        target_name="heart failure",
    )


def whole_units(unit: Any, rows: Any, rng: np.random.Generator) -> Any:
    """Rows in random order of units (patients, households), the rows of each together."""
    names = np.unique(unit[rows])
    place = rng.permutation(len(names))
    return rows[np.argsort(place[np.searchsorted(names, unit[rows])], kind="stable")]


def _boosting(table: pa.Table, features: list[str]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_depth=2, max_iter=200, class_weight="balanced", random_state=0, early_stopping=False
    )
    return model.fit(_matrix(table, features), np.asarray(table["readmit_30"]))
