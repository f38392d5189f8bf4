"""ParametricAcc: which coefficient of the loss changed?

As ParametricChange, with the per-row loss in place of the outcome. A loss outside [0, 1] is
brought there by its smallest and largest value.

Assumes: the expected loss is logistic-linear in both domains.
Misleads: it hardly ever is: accuracy is highest far from the threshold *on both sides*, so its
best linear fit can be flat in the very variable that changed.
"""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.rivals.importances import Importances, from_estimates
from whygap.rivals.parametric import interaction_strengths
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["importance", "unit_loss"]

ASSUMPTIONS = "The expected loss follows a linear logistic model in each domain."
MISLEADS = (
    "The expected loss is hardly ever monotone in a variable (accuracy is high far from the "
    "threshold on both sides), so the linear fit can be flat where the shift is."
)


def importance(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times Z in a logistic model of the loss."""
    return from_estimates(
        "parametric_acc",
        "outcome",
        interaction_strengths(design, unit_loss(design)),
        level=settings.level,
        unit="change of the logit of the loss per standard deviation",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def unit_loss(design: Design) -> ByDomain[Array]:
    """The loss in [0, 1]: as it is, or scaled by its range over both domains."""
    loss = design.loss
    pooled = np.concatenate(list(loss))
    low, high = float(pooled.min()), float(pooled.max())
    if low >= 0 and high <= 1:
        return loss
    return loss.map(lambda values: (values - low) / (high - low))
