"""Two small tables with every kind of column, made from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

LEVELS = ["low", "mid", "high"]


def make_table(rows: int, shift: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.normal(50 + shift, 10, rows).round(1)
    days = rng.integers(0, 400, rows)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(rows) < 0.1, np.nan, age),
            "sex": rng.choice(["f", "m"], rows),
            "visits": rng.integers(0, 9, rows),
            "smoker": rng.random(rows) < 0.3,
            "region": rng.choice(["north", "south", "öst"], rows),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
            "weight": (rng.random(rows) + 0.5).round(3),
            "patient": rng.integers(0, rows // 3, rows) + int(1000 * shift),
        }
    )
    table.loc[rng.random(rows) < 0.1, "region"] = None
    table["risk"] = (1 / (1 + np.exp(-(table["visits"] - 4) / 2))).round(4)
    table["y"] = (rng.random(rows) < table["risk"]).astype(int)
    return table


def with_grade(table: pd.DataFrame) -> pd.DataFrame:
    codes = np.arange(len(table)) % 3
    grade = pd.Categorical.from_codes(codes, categories=LEVELS, ordered=True)
    return table.assign(grade=grade)


def source_and_target(**columns: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """240 source rows, 180 target rows; columns replaced by name (one value for all rows)."""
    return (
        make_table(240, 0.0, 1).assign(**columns),
        make_table(180, 2.0, 2).assign(**columns),
    )


ROLES: dict[str, Any] = {
    "outcome": "y",
    "baseline": ["age", "sex"],
    "prediction": "risk",
    "weights": "weight",
    "clusters": "patient",
}
