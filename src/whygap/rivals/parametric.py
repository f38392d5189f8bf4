"""ParametricChange and ParametricAcc: which coefficient of a logistic model changed?"""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate
from whygap.rivals import linear
from whygap.rivals.importances import Importances, Method
from whygap.settings import Settings
from whygap.tables.design import Design

CHANGE = Method(
    name="parametric_change",
    part="outcome",
    unit="change of the logit per standard deviation",
    assumptions="The outcome follows a linear logistic model in each domain.",
    misleads="The largest change on the logit scale need not be the change that moves the loss; "
    "correlated variables trade their coefficients.",
)
ACC = Method(
    name="parametric_acc",
    part="outcome",
    unit="change of the logit of the loss per standard deviation",
    assumptions="The expected loss follows a linear logistic model in each domain.",
    misleads="The expected loss is hardly ever monotone in a variable (accuracy is high far from "
    "the threshold on both sides), so the linear fit can be flat where the shift is.",
)


def parametric_change(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times Z in a logistic model of the outcome."""
    return CHANGE.from_estimates(_interactions(design, design.outcome), settings.level)


def parametric_acc(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times Z in a logistic model of the loss, scaled to [0, 1]."""
    return ACC.from_estimates(_interactions(design, linear.unit_loss(design)), settings.level)


def _interactions(design: Design, response: ByDomain[Array]) -> dict[str, Estimate]:
    """Per player the coefficient of domain times Z, for one pooled standard deviation of Z.

    The model is `logit E[response] = 1 + D + W + Z + D Z`. A player of several columns gets the
    root of the summed squares of its coefficients.
    """
    matrix, sample = linear.numeric_matrix(design), design.sample()
    covariates = matrix.where(design.covariates)
    fit = linear.logistic(
        linear.with_domain(list(matrix.values), covariates),
        np.concatenate(list(response)),
        np.concatenate(list(sample.weights)),
    )
    spread = np.vstack(list(matrix.values)).std(axis=0)
    slopes = linear.pooled_coefficients(sample, fit)[-len(covariates) :] if len(covariates) else []
    scaled = {j: slope * float(spread[j]) for j, slope in zip(covariates, slopes, strict=True)}
    return {
        player.name: linear.length([scaled[j] for j in matrix.where(player.columns)])
        for player in design.players
    }
