"""A small world for the tests of repair, as a design."""

from __future__ import annotations

import numpy as np
from scipy import special

from whygap._metrics import metric_named
from whygap.domains import ByDomain
from whygap.tables.design import Column, Design, Player


def world(rows: ByDomain[int], seed: int = 0, covariates: int = 4, shift: float = 2.5) -> Design:
    """W and Z1.. normal; the outcome's law changes in z1 only; the model is the source's law."""
    rng = np.random.default_rng(seed)
    names = ["w", *(f"z{j + 1}" for j in range(covariates))]
    before = np.array([0.5, 1.5, 1.0, 0.5, 0.0][: covariates + 1])
    after = before - np.eye(len(before))[1] * shift
    x = rows.map(lambda n: rng.normal(size=(n, len(names))))
    risk = ByDomain(special.expit(x.source @ before), special.expit(x.target @ after))
    outcome = risk.map(lambda p: (rng.random(len(p)) < p).astype(float))
    prediction = x.map(lambda block: special.expit(block @ before))
    pairs = prediction.map(lambda p: metric_named("accuracy").coefficients(p, 0.5))
    return Design.affine(
        features=x,
        columns=tuple(Column(name, "numeric") for name in names),
        baseline=(0,),
        players=tuple(Player(name, (j,)) for j, name in enumerate(names) if j),
        outcome=outcome,
        prediction=prediction,
        intercept=pairs.map(lambda p: p[0]),
        slope=pairs.map(lambda p: p[1]),
    )
