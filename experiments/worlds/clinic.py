"""A clinic and another one: columns in units and codes, as real tables have them; the truth known.

Every column matters to the model, and the model is a function of the columns, as real ones are.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import pandas as pd

from experiments.worlds.world import Corners
from whygap.domains import Array, ByDomain

__all__ = ["COLUMNS", "draw", "truth"]

Place = Literal["source", "target"]
COLUMNS = ("age", "weight", "temperature", "glucose", "smoker", "stage", "balance")
ENOUGH = 1_000_000  # rows behind the truth: its error is a hundredth of an interval's width


def draw(rows: tuple[int, int], seed: int) -> ByDomain[pd.DataFrame]:
    """Both tables: W is `age`; every other column but `y` and `risk` is a covariate."""
    rng = np.random.default_rng([seed, *rows])
    return ByDomain(_table(rows[0], "source", rng), _table(rows[1], "target", rng))


def _table(rows: int, place: Place, rng: np.random.Generator) -> pd.DataFrame:
    table = _covariates(_ages(rows, place, rng), place, rng)
    table["risk"] = _model(table)
    table["y"] = (rng.random(rows) < _risk(table, place)).astype(int)
    return table


def _ages(rows: int, place: Place, rng: np.random.Generator) -> Array:
    return np.clip(np.round(rng.normal(52 if place == "source" else 56, 12, rows)), 18, 95)


def _covariates(age: Array, place: Place, rng: np.random.Generator) -> pd.DataFrame:
    """Given age, in either place; the target's weigh more, smoke more, and balance less."""
    rows, moved = len(age), place == "target"
    stage = 1 + rng.binomial(3, 0.35 + 0.1 * moved, rows)
    return pd.DataFrame(
        {
            "age": age,
            "weight": rng.normal(74 + 4 * moved + 0.1 * (age - 52), 12, rows).round(1),
            "temperature": rng.normal(37.2, 0.6, rows).round(1),
            "glucose": np.exp(rng.normal(4.6 + 0.1 * moved, 0.3, rows)).round(0),
            "smoker": np.where(rng.random(rows) < 0.3 + 0.15 * moved, "Yes", "No"),
            "stage": stage.astype(float),
            "balance": rng.normal(0.0, 1.0 if moved else 1.5, rows),
        }
    )


def _score(table: pd.DataFrame, of_weight: float) -> Array:
    return np.asarray(
        0.04 * (table["age"] - 55)
        + of_weight * (table["weight"] - 76)
        + 0.9 * (table["temperature"] - 37.2)
        + 0.02 * (table["glucose"] - 105)
        + 0.8 * ((table["smoker"] == "Yes") - 0.4)
        + 0.6 * (table["stage"] - 2.2)
        + 0.8 * table["balance"],
        dtype=float,
    )


def _model(table: pd.DataFrame) -> Array:
    return 1 / (1 + np.exp(-_score(table, 0.05)))


def _risk(table: pd.DataFrame, place: Place) -> Array:
    """In the target weight works the other way."""
    return 1 / (1 + np.exp(-_score(table, 0.05 if place == "source" else -0.03)))


@cache
def truth() -> Corners:
    """True mean accuracy in the four corners, by drawing from each."""
    places: dict[str, tuple[Place, Place, Place]] = {
        "mean_000": ("source", "source", "source"),
        "mean_100": ("target", "source", "source"),
        "mean_110": ("target", "target", "source"),
        "mean_111": ("target", "target", "target"),
    }
    found = {}
    for number, (name, (of_w, of_z, of_y)) in enumerate(places.items()):
        rng = np.random.default_rng([number, ENOUGH])
        table = _covariates(_ages(ENOUGH, of_w, rng), of_z, rng)
        risk, says = _risk(table, of_y), _model(table) >= 0.5  # the default threshold
        found[name] = float(np.mean(np.where(says, risk, 1 - risk)))
    return Corners(**found)
