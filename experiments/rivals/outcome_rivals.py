"""Rivals for the outcome part: whose coefficient changed, and which variables predict the loss?

ParametricChange and ParametricAcc read a logistic model, RandomForestAcc a forest.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from experiments.rivals import linear
from experiments.rivals.importances import Importances, Method, random_stream
from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate
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
FOREST = Method(
    name="random_forest_acc",
    part="outcome",
    unit="share of the impurity decrease",
    assumptions="A variable that predicts the loss explains why the loss changed.",
    misleads="It measures what makes rows hard in either domain, not what shifted; impurity "
    "importances favour columns with many distinct values.",
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


def random_forest_acc(design: Design, settings: Settings) -> Importances:
    """Share of a forest's impurity decrease, per player: what predicts the loss of both domains?

    The forest sees the domain, W and Z; importances are shares of 1 that the domain and W take
    part in.
    """
    shares = _impurity_shares(design, settings)
    return FOREST.importances(
        {player.name: shares[list(player.columns)].sum() for player in design.players}
    )


def _impurity_shares(design: Design, settings: Settings) -> Array:
    """One share per column of the design; the domain's own share is left out."""
    features = np.vstack(list(design.features))
    domain = np.repeat([0.0, 1.0], list(design.rows))[:, None]
    loss = np.concatenate(list(design.loss))
    weights = np.concatenate(list(design.sample().weights))
    seed = int(random_stream(settings, "random_forest_acc").integers(2**31))
    table = np.column_stack([features, domain])
    # Importances hardly move with more trees; leaves of five rows see structure, not single rows.
    return forest_importances(table, loss, weights, trees=200, leaf=5, seed=seed)[:-1]


def forest_importances(
    features: Array, response: Array, weights: Array, trees: int, leaf: int, seed: int
) -> Array:
    """Mean decrease of impurity of every column in a random forest; two values are classes."""
    two = len(np.unique(response)) == 2
    kind = RandomForestClassifier if two else RandomForestRegressor
    forest = kind(n_estimators=trees, min_samples_leaf=leaf, random_state=seed, n_jobs=1)
    label = (response == response.max()).astype(int) if two else response
    forest.fit(features, label, sample_weight=weights)
    return np.asarray(forest.feature_importances_, dtype=float)
