"""Six independent columns and a boosted model; what shifts, and whether it hurts, is known.

| story | what changes in the target | the column to blame |
|---|---|---|
| `nothing` | nothing | none |
| `harmless drift` | x5 and x6, which neither outcome nor model know | none |
| `other rows` | x1 moves to where the model errs more; x5 and x6 drift | x1 |
| `other outcomes` | labels are turned where x2 is high; x5 and x6 drift | x2 |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import lightgbm
import numpy as np
from scipy import special

from experiments.worlds.world import drawn_outcomes, model_design
from whygap.domains import Array, ByDomain, Domain
from whygap.tables.design import Column, Design, Player

__all__ = ["CULPRITS", "NAMES", "SHADES", "NamingWorld", "deployed"]

NAMES = ("x1", "x2", "x3", "x4", "x5", "x6")
CULPRITS = {"nothing": "", "harmless drift": "", "other rows": "x1", "other outcomes": "x2"}
# Turned labels cost most where the risk was sure, so of other outcomes every column of the risk
# tells something; columns that know nothing of it are innocent in any story.
SHADES = {"other outcomes": ("x1", "x3", "x4")}
DRIFT = 0.5  # of x5 and x6, in standard deviations
MOVE = -0.8  # of x1: from sure risks to unsure ones
TURNED = 0.25  # share of the labels with x2 above HIGH
HIGH = 0.4  # a third of the rows
TRAINING_ROWS = 8000


@dataclass(frozen=True, slots=True)
class NamingWorld:
    """One story, scored by accuracy."""

    story: str

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains; W is empty."""
        x = ByDomain(*(self._features(d, rows[d], rng) for d in ("source", "target")))
        risk = ByDomain(self.risk("source", x.source), self.risk("target", x.target))
        columns = tuple(Column(name, "numeric") for name in NAMES)
        design = model_design(x, drawn_outcomes(risk, rng), columns, _predict, "accuracy")
        players = tuple(Player(name, (k,)) for k, name in enumerate(NAMES))
        return replace(design, baseline=(), players=players)

    def _features(self, domain: Domain, rows: int, rng: np.random.Generator) -> Array:
        x = rng.standard_normal((rows, len(NAMES)))
        if domain == "target" and self.story != "nothing":
            x[:, 4:] += DRIFT
        if domain == "target" and self.story == "other rows":
            x[:, 0] += MOVE
        return x

    def risk(self, domain: Domain, x: Array) -> Array:
        """p(Y=1 | x)."""
        p = special.expit(2.0 + 1.6 * x[:, 0] + 0.8 * x[:, 1] - 0.6 * x[:, 2] + 0.4 * x[:, 3])
        turned = TURNED * (x[:, 1] > HIGH)
        changed = domain == "target" and self.story == "other outcomes"
        return np.asarray(p * (1 - 2 * turned) + turned if changed else p)


@lru_cache(maxsize=1)
def deployed() -> Any:
    """The model in use: boosted trees, trained on other source rows."""
    rng, world = np.random.default_rng(77), NamingWorld("nothing")
    x = rng.standard_normal((TRAINING_ROWS, len(NAMES)))
    y = rng.random(TRAINING_ROWS) < world.risk("source", x)
    model = lightgbm.LGBMClassifier(
        n_estimators=60, num_leaves=8, learning_rate=0.1, n_jobs=1, random_state=0, verbose=-1
    )
    return model.fit(x, y.astype(int))


def _predict(x: Array) -> Array:
    return np.asarray(deployed().predict_proba(x)[:, 1])
