"""People at work in three states: three questions, seven metrics, one model a question.

The American Community Survey's workers of 2024 (`acs_workers_2024.parquet`): what they earn, how
they get to work, and who earns more than 60,000 dollars a year. Models are plain gradient boosting,
trained on 2,500 people of Ohio and asked about the other ones of Ohio, about New York and Maryland.
Households stay whole: none is both trained on and compared, and each is a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.cases import read_table, whole_units
from whygap.study import Study

__all__ = ["ALL_STATES", "HOME", "QUESTIONS", "STATES", "Question", "workers_study"]

FILE = "acs_workers_2024.parquet"
HOME = "OH"
STATES = {"OH": "Ohio", "NY": "New York", "MD": "Maryland"}
ALL_STATES = STATES | {
    "CO": "Colorado",
    "GA": "Georgia",
    "IL": "Illinois",
    "MI": "Michigan",
    "MN": "Minnesota",
    "TN": "Tennessee",
    "WA": "Washington",
    "WI": "Wisconsin",
}
BASELINE = ("age", "sex")
GROUPS = {
    "origin": ["race", "hispanic", "citizen", "english"],
    "job": ["class_of_worker", "industry", "occupation"],
    "time at work": ["hours", "weeks"],
}
NOT_FEATURES = ("state", "household", "person_weight")
TRAINED_ON = 2500  # people of Ohio; about as many are left to compare with
HIGH_WAGE = 60_000  # dollars a year


@dataclass(frozen=True)
class Question:
    """What a model is asked of a worker.

    Attributes:
        name: for files.
        title: in words.
        column: what the outcome is called.
        metrics: by which the model is judged; the first is explained in full.
        hidden: columns that the outcome is made from, or that give it away.
    """

    name: str
    title: str
    column: str
    metrics: tuple[str, ...]
    hidden: tuple[str, ...]

    @property
    def task(self) -> str:
        """As `Study` calls it."""
        return {"wage": "regression", "way": "multiclass", "high": "binary"}[self.name]

    def outcome(self, table: pa.Table) -> Any:
        """Of every row."""
        if self.name == "way":
            return np.asarray(table["way_to_work"].cast(pa.string()))
        wage = np.asarray(table["wage"], dtype=float)
        return np.log(wage) if self.name == "wage" else (wage > HIGH_WAGE).astype(int)


QUESTIONS = {
    question.name: question
    for question in (
        Question("wage", "What do they earn?", "log wage", ("mae", "mse", "r2"), ("wage",)),
        Question(
            "way",
            "How do they get to work?",
            "way_to_work",
            ("accuracy", "log_loss"),
            # who works at home has no minutes to go
            ("way_to_work", "commute_minutes"),
        ),
        Question(
            "high", "Who earns more than 60,000 dollars?", "high wage", ("auc", "f1"), ("wage",)
        ),
    )
}


def workers_study(
    data: Path | None, question: Question, metric: str, state: str, rows: int | None = None
) -> Study:
    """Ohio's other people against those of a state, the first `rows` of each."""
    tables = _scored(data, question.name)
    pair = [tables[name] for name in (HOME, state)]
    scores = {name: f"says {name}" for name in _classes(pair[0])}
    return Study(
        *(table.slice(0, rows) for table in pair),
        outcome=question.column,
        task=question.task,
        baseline=list(BASELINE),
        covariates=[c for c in _features(pair[0], question) if c not in BASELINE],
        prediction=scores or "prediction",
        metric=metric,
        groups=GROUPS,
        clusters="household",
        source_name=ALL_STATES[HOME],
        target_name=ALL_STATES[state],
    )


def _features(table: pa.Table, question: Question) -> list[str]:
    """What the model is shown."""
    given = (*NOT_FEATURES, question.column, "prediction")
    return [c for c in table.column_names if c not in given and not c.startswith("says ")]


def _classes(table: pa.Table) -> list[str]:
    return [c.removeprefix("says ") for c in table.column_names if c.startswith("says ")]


@cache
def _scored(data: Path | None, name: str) -> dict[str, pa.Table]:
    """By state, the compared people with outcome and prediction."""
    question, table = QUESTIONS[name], read_table(data, FILE)
    rng = np.random.default_rng(0)
    state, household = np.asarray(table["state"]), np.asarray(table["household"])
    outcome = pa.array(question.outcome(table))
    table = table.drop_columns(list(question.hidden)).append_column(question.column, outcome)
    chosen = {
        code: whole_units(household, np.flatnonzero(state == code), rng) for code in ALL_STATES
    }
    here = chosen[HOME]
    last = household[here[TRAINED_ON - 1]]
    model = _boosting(table.take(here[:TRAINED_ON]), question)
    chosen[HOME] = here[TRAINED_ON:][household[here[TRAINED_ON:]] != last]
    return {
        code: _with_predictions(table.take(rows), model, question)
        for code, rows in chosen.items()
        if len(rows)
    }


def _boosting(table: pa.Table, question: Question) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    real = question.task == "regression"
    kind = HistGradientBoostingRegressor if real else HistGradientBoostingClassifier
    model = kind(categorical_features="from_dtype", random_state=0)
    return model.fit(_frame(table, question), np.asarray(table[question.column]))


def _frame(table: pa.Table, question: Question) -> Any:
    return table.select(_features(table, question)).to_pandas()


def _with_predictions(table: pa.Table, model: Any, question: Question) -> pa.Table:
    frame = _frame(table, question)
    if not hasattr(model, "classes_"):
        return table.append_column("prediction", pa.array(model.predict(frame)))
    risks = model.predict_proba(frame)
    if len(model.classes_) == 2:
        return table.append_column("prediction", pa.array(risks[:, 1]))
    for k, name in enumerate(model.classes_):
        table = table.append_column(f"says {name}", pa.array(risks[:, k]))
    return table
