"""The tables behind the judging worlds: which rows, which columns, which model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from experiments.cases import Move, insurance_study, read_table
from whygap.study import Study

if TYPE_CHECKING:
    from experiments.semisynthetic import Pool
    from experiments.worlds.atoms import Atoms

__all__ = ["world"]

TRAINING_ROWS = 2500
HOW_ADMITTED = ("emergency_adm", "elective_adm", "from_er", "referral", "transfer_in")
NOT_CARE = ("hf", "readmit_any", "readmit_30", "is_first", "is_random_one", "patient_id",
            "time_order")  # fmt: skip
NOT_WORK = ("state", "household", "person_weight", "way_to_work", "wage", "private_cover")
ENCOUNTERS = 16000  # drawn from either side: a pool of 50,000 rows would judge no better


def world(data: Path | None, pool: Pool) -> Atoms:
    """The world of one pool."""
    from experiments.worlds.semisynthetic import from_design

    if pool.name == "louisiana":
        move = Move("KS", "LA", 2024, 2024)
        baseline = ("SEX", "race_white")
        study = insurance_study(
            data, move, metric=pool.metric, baseline=baseline, rows=(None, None)
        )
    else:
        study = (_admission if pool.name == "admission" else _workers)(data, pool.metric)
    return from_design(study.design)


def _admission(data: Path | None, metric: str) -> Study:
    table = read_table(data, "hospital_readmission.parquet")
    emergency = np.asarray(table["emergency_adm"]) == 1
    rng = np.random.default_rng(0)
    sides = [rng.permutation(np.flatnonzero(side))[:ENCOUNTERS] for side in (~emergency, emergency)]
    features = [c for c in table.column_names if c not in (*HOW_ADMITTED, *NOT_CARE)]
    pair = [table.take(side).select([*features, "readmit_any"]) for side in sides]
    return _study(pair, features, "readmit_any", ["female", "race_black"], metric)


def _workers(data: Path | None, metric: str) -> Study:
    table = read_table(data, "acs_workers_2024.parquet")
    features = [c for c in table.column_names if c not in NOT_WORK]
    rich = compute.cast(compute.greater(table["wage"], 60_000), pa.int64())
    at_home = compute.equal(compute.cast(table["way_to_work"], pa.string()), "home")
    minutes = compute.if_else(at_home, None, table["commute_minutes"])
    table = table.append_column("above", rich).set_column(
        table.column_names.index("commute_minutes"), "commute_minutes", minutes
    )
    pair = [
        table.filter(compute.equal(table["state"], state)).select([*features, "above"])
        for state in ("OH", "NY")
    ]
    return _study(pair, features, "above", ["sex", "english"], metric)


def _study(
    pair: Sequence[pa.Table], features: list[str], outcome: str, baseline: list[str], metric: str
) -> Study:
    """With the predictions of boosted trees that saw rows of the source only."""
    model = _boosting(pair[0].slice(0, TRAINING_ROWS), features, outcome)
    scored = [
        t.append_column("prediction", pa.array(model.predict_proba(_codes(t, features))[:, 1]))
        for t in pair
    ]
    covariates = [c for c in features if c not in baseline]
    return Study(
        *scored,
        outcome=outcome,
        baseline=baseline,
        covariates=covariates,
        prediction="prediction",
        metric=metric,
    )


def _boosting(table: pa.Table, features: list[str], outcome: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_depth=3, max_iter=80, random_state=0)
    return model.fit(_codes(table, features), np.asarray(table[outcome]))


def _codes(table: pa.Table, features: list[str]) -> Any:
    """Numbers as they are, levels by number (a dictionary's own order), missing as NaN."""
    columns = []
    for name in features:
        column = table[name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.indices
        columns.append(column.to_numpy(zero_copy_only=False).astype(float))
    return np.column_stack(columns)
