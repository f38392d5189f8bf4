"""AUC regression (Dodd and Pepe 2003): does the ranking depend on a variable, differently?

Every pair of a case and a control of one domain votes on whether the model ranks it rightly (a tie
votes half). The votes follow `logit AUC = 1 + D + V + D V`, where V is the pair's mean of each
variable; importance is the coefficient of domain times the variable, per standard deviation of
V. Standard errors count that a row takes part in many pairs.

Assumes: the AUC is logistic-linear in the pair's variables; the model gives scores, not labels.
Misleads: it is blind to calibration; a variable's coefficient changes when the mix of pairs does,
without any change of Y given X. A pair's mean is a crude summary of two different rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from whygap.domains import Array, IntArray
from whygap.errors import ModelError
from whygap.rivals.importances import Importances, random_stream
from whygap.rivals.linear import logistic, with_intercept
from whygap.rivals.matrix import NumericMatrix, numeric_matrix
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["AucRegression", "importance", "regress"]

ASSUMPTIONS = "The AUC is logistic-linear in the pair's mean of each variable."
MISLEADS = (
    "Blind to calibration; coefficients also move when only the mix of case-control pairs does."
)
PAIRS = 60_000


@dataclass(frozen=True, slots=True, eq=False)
class AucRegression:
    """Coefficients per column of the numeric matrix, with their covariance.

    Attributes:
        names: columns; the first is "(domain)".
        coefficients: of the domain and of domain times each covariate column.
        covariance: their covariance, two-way by rows.
    """

    names: tuple[str, ...]
    coefficients: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Sampled pairs of one domain."""

    case: IntArray
    control: IntArray
    vote: Array
    variables: Array


def importance(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times variable; a group gets the length of its coefficients."""
    matrix = numeric_matrix(design)
    found = regress(design, settings)
    columns = matrix.where(design.covariates)
    owner = matrix.owner[columns]
    z = float(stats.norm.ppf(0.5 + settings.level / 2))
    values, errors = [], []
    for player in design.players:
        mine = 1 + np.flatnonzero(np.isin(owner, player.columns))
        value, error = _length(found.coefficients[mine], found.covariance[np.ix_(mine, mine)])
        values.append(value)
        errors.append(error)
    return Importances(
        method="auc_regression",
        part="outcome",
        names=tuple(player.name for player in design.players),
        values=np.array(values),
        unit="change of the logit of the AUC per standard deviation",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
        low=np.array(values) - z * np.array(errors),
        high=np.array(values) + z * np.array(errors),
    )


def regress(design: Design, settings: Settings, pairs: int = PAIRS) -> AucRegression:
    """Fit the AUC regression on sampled pairs of both domains."""
    rng = random_stream(settings, "auc_regression")
    matrix = numeric_matrix(design)
    drawn = [
        _draw(
            design.prediction[d],
            design.outcome[d],
            matrix.values[d],
            design.sample().weights[d],
            pairs // 2,
            rng,
        )
        for d in ("source", "target")
    ]
    block = _interacted(drawn, matrix, design)
    votes = np.concatenate([p.vote for p in drawn])
    fit = logistic(block, votes, np.ones(len(votes)))
    covariance = _two_way(fit.influence, drawn, design)
    covariates = matrix.where(design.covariates)
    kept = np.concatenate([[1], np.arange(block.shape[1] - len(covariates), block.shape[1])])
    names = ("(domain)", *(matrix.names[j] for j in covariates))
    return AucRegression(names, fit.coefficients[kept], covariance[np.ix_(kept, kept)])


def _draw(
    score: Array,
    outcome: Array,
    variables: Array,
    weights: Array,
    count: int,
    rng: np.random.Generator,
) -> _Pairs:
    cases, controls = np.flatnonzero(outcome == 1), np.flatnonzero(outcome == 0)
    if len(np.unique(score)) < 3:
        raise ModelError(
            "AUC regression needs the model's scores",
            got="predictions with at most two distinct values",
            hint="Give a column of probabilities, or leave out 'auc_regression'.",
        )
    case, control = (
        rng.choice(rows, count, p=weights[rows] / weights[rows].sum()) for rows in (cases, controls)
    )
    vote = (score[case] > score[control]) + 0.5 * (score[case] == score[control])
    mean = (variables[case] + variables[control]) / 2
    return _Pairs(case, control, vote.astype(float), mean)


def _interacted(drawn: list[_Pairs], matrix: NumericMatrix, design: Design) -> Array:
    """Columns 1, D, V (standardised), D times V of the covariates."""
    variables = np.vstack([p.variables for p in drawn])
    spread = variables.std(axis=0)
    scaled = (variables - variables.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    domain = np.repeat([0.0, 1.0], [len(p.vote) for p in drawn])[:, None]
    covariates = matrix.where(design.covariates)
    return with_intercept(np.column_stack([domain, scaled, domain * scaled[:, covariates]]))


def _two_way(influence: Array, drawn: list[_Pairs], design: Design) -> Array:
    """Covariance of the coefficients: pairs are dependent through their case and control."""
    pairs = len(influence)
    cut = len(drawn[0].vote)
    total = -(influence.T @ influence)
    units = design.sample().units
    for part, piece, unit in zip(drawn, (influence[:cut], influence[cut:]), units, strict=True):
        for member in (part.case, part.control):
            sums = np.zeros((int(unit.max()) + 1, influence.shape[1]))
            np.add.at(sums, unit[member], piece)
            total = total + sums.T @ sums
    return np.asarray(total / pairs**2)


def _length(coefficients: Array, covariance: Array) -> tuple[float, float]:
    if len(coefficients) == 0:
        return 0.0, 0.0
    if len(coefficients) == 1:
        return float(coefficients[0]), float(np.sqrt(max(covariance[0, 0], 0.0)))
    length = float(np.linalg.norm(coefficients))
    slope = coefficients / length if length > 0 else coefficients
    return length, float(np.sqrt(max(float(slope @ covariance @ slope), 0.0)))
