"""Two small tables with an outcome of each kind and predictions of each form, from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

WAYS = ("bus", "car", "foot")


def make_table(rows: int, shift: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, distance = rng.normal(40 + shift, 9, rows), rng.gamma(2.0, 2.0 + shift, rows)
    utility = np.column_stack([0.3 * distance, 0.5 * distance, 2.0 - 0.4 * distance])
    true = np.exp(utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    chance = np.exp(utility) / np.exp(utility).sum(axis=1, keepdims=True)
    wage = 10 + 0.02 * age + rng.normal(0, 0.4, rows)
    return pd.DataFrame(
        {
            "age": age.round(2),
            "distance": distance.round(3),
            "way": np.array(WAYS)[true],
            "said": np.array(WAYS)[chance.argmax(axis=1)],
            **{f"p_{way}": chance[:, k] for k, way in enumerate(WAYS)},
            "wage": wage,
            "guess": 10.05 + 0.018 * age,
            "high": (wage > 10.8).astype(int),
            "risk": np.clip(0.5 + (age - 42) / 60, 0.02, 0.98).round(2),
            "grade": true + 1,
            "grade_said": chance.argmax(axis=1) + 1,
            "weight": rng.random(rows) + 0.5,
        }
    )


def tables() -> dict[str, pd.DataFrame]:
    return {"source": make_table(300, 0.0, 1), "target": make_table(260, 0.5, 2)}


COLUMNS = {way: f"p_{way}" for way in WAYS}
SHARED = {"baseline": ["age"], "covariates": ["distance"]}
BINARY: dict[str, Any] = {"outcome": "high", "prediction": "risk", **SHARED}
CLASSES: dict[str, Any] = {"outcome": "way", "prediction": COLUMNS, **SHARED}
LABELS: dict[str, Any] = {"outcome": "way", "prediction": "said", **SHARED}
VALUES: dict[str, Any] = {"outcome": "wage", "prediction": "guess", **SHARED, "metric": "mse"}
