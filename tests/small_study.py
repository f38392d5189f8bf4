"""Two small tables with a known kind of shift, and the study of them: fits in a second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import whygap as wg

# Three folds, the fewest that twins allow: what these tests hold does not depend on how many.
FAST = wg.Settings(learner="fast", folds=3, progress=False)


def warnings_of(gap: wg.Gap) -> list[str]:
    """Sentences of the notes that are more than information."""
    return [str(note) for note in gap.notes if note.level != "info"]


def make_table(rows: int, shift: float, seed: int) -> pd.DataFrame:
    """Columns w (baseline), a, b, c (covariates), y, risk; `shift` bends the outcome along a."""
    rng = np.random.default_rng(seed)
    w = rng.normal(0, 1, rows)
    a = rng.normal(0.5 * shift, 1, rows)
    b = rng.normal(0, 1, rows) + 0.3 * w
    truth = 0.3 * w + a * (1.2 - 1.6 * shift) + 0.5 * b
    return pd.DataFrame(
        {
            "w": w,
            "a": a,
            "b": b,
            "c": rng.choice(["x", "y", "z"], rows),
            "y": (rng.random(rows) < 1 / (1 + np.exp(-truth))).astype(int),
            "risk": 1 / (1 + np.exp(-(0.3 * w + 1.2 * a + 0.5 * b))),
        }
    )


def tables(source: int = 400, target: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Source and target with an outcome shift."""
    return make_table(source, 0.0, 1), make_table(target, 1.0, 2)


def covariate_tables(rows: int = 400) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Source and target with a covariate shift: four times as many rows are hard (g = 1)."""
    pair = []
    for hard, seed in ((0.2, 1), (0.8, 2)):
        rng = np.random.default_rng(seed)
        w, g = rng.normal(size=rows), (rng.random(rows) < hard).astype(float)
        risk = 0.9 + 0.05 * np.tanh(w)
        y = rng.random(rows) < np.where(g == 1, 0.5, risk)
        extra = rng.normal(size=rows)
        pair.append(pd.DataFrame({"w": w, "g": g, "h": extra, "y": y.astype(int), "risk": risk}))
    return pair[0], pair[1]


def make_study(source: Any = None, target: Any = None, **roles: Any) -> wg.Study:
    """The study of two tables, roles changed by name."""
    if source is None:
        source, target = tables()
    known: dict[str, Any] = {"outcome": "y", "baseline": ["w"], "prediction": "risk"}
    return wg.Study(source, target, **(known | roles))


def fast(**changes: Any) -> wg.Settings:
    """Settings with the fast learner."""
    return replace(FAST, **changes)
