"""What worlds on columns of their own have in common: a design from rows, risks and a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whygap._metrics import Metric, metric_of
from whygap.domains import Array, ByDomain
from whygap.tables.design import Column, Design, Player

__all__ = ["drawn_outcomes", "model_design"]


def drawn_outcomes(risks: ByDomain[Array], rng: np.random.Generator) -> ByDomain[Array]:
    """One 0 or 1 per row."""
    return risks.map(lambda r: (rng.random(len(r)) < r).astype(float))


def model_design(
    features: ByDomain[Array],
    outcome: ByDomain[Array],
    columns: tuple[Column, ...],
    model: Callable[[Array], Array],
    metric: str | Metric,
    threshold: float = 0.5,
) -> Design:
    """Rows with a model's predictions; the first column is W, every other one a player."""
    metric = metric_of(metric)
    prediction = features.map(model)
    coefficients = prediction.map(lambda p: metric.coefficients(p, threshold))
    return Design(
        features=features,
        columns=columns,
        baseline=(0,),
        players=tuple(Player(column.name, (j + 1,)) for j, column in enumerate(columns[1:])),
        outcome=outcome,
        prediction=prediction,
        intercept=coefficients.map(lambda pair: pair[0]),
        slope=coefficients.map(lambda pair: pair[1]),
    )
