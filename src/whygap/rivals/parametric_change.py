"""ParametricChange: which coefficient of the outcome changed?

A logistic model of Y on W, Z and domain times Z over both domains; importance is the coefficient
of the interaction, per standard deviation of the variable.

Assumes: the outcome is logistic-linear in both domains.
Misleads: a large change on the logit scale need not change the loss (predictions far from the
threshold stay right), and correlated variables trade their coefficients.
"""

from __future__ import annotations

from whygap.rivals.importances import Importances, from_estimates
from whygap.rivals.parametric import interaction_strengths
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["importance"]

ASSUMPTIONS = "The outcome follows a linear logistic model in each domain."
MISLEADS = (
    "The largest change on the logit scale need not be the change that moves the loss; correlated "
    "variables trade their coefficients."
)


def importance(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times Z in a logistic model of the outcome."""
    return from_estimates(
        "parametric_change",
        "outcome",
        interaction_strengths(design, design.outcome),
        level=settings.level,
        unit="change of the logit per standard deviation",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )
