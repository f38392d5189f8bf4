"""AUC regression (Dodd and Pepe 2003): does the ranking depend on a variable, differently?

Every pair of a case and a control of one domain votes on whether the model ranks it rightly (a tie
votes half). The votes follow `logit AUC = 1 + D + V + D V`, where V is the pair's mean of each
variable; importance is the coefficient of domain times the variable, per standard deviation of
V. Standard errors count that a row takes part in many pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.rivals.importances import Importances, Method, random_stream
from experiments.rivals.linear import NumericMatrix, logistic, numeric_matrix, with_domain
from whygap.domains import DOMAINS, Array, Domain, IntArray
from whygap.errors import ModelError
from whygap.estimate.student import normal_quantile
from whygap.settings import Settings
from whygap.tables.design import Design

METHOD = Method(
    name="auc_regression",
    part="outcome",
    unit="change of the logit of the AUC per standard deviation",
    assumptions="The AUC is logistic-linear in the pair's mean of each variable.",
    misleads="Blind to calibration; coefficients also move when only the mix of case-control pairs "
    "does.",
)


@dataclass(frozen=True, slots=True, eq=False)
class AucRegression:
    """Coefficients of the domain and of domain times each numeric column of Z."""

    names: tuple[str, ...]  # "(domain)", then the columns
    coefficients: Array  # one per name
    covariance: Array  # theirs, two-way by rows
    owner: IntArray  # position in the design of the column each one came from; -1 for the domain


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    case: IntArray
    control: IntArray
    vote: Array
    variables: Array


def importance(design: Design, settings: Settings) -> Importances:
    """Coefficient of domain times variable; a group gets the length of its coefficients."""
    found = regress(design, settings)
    values: dict[str, float] = {}
    errors = []
    for player in design.players:
        own = np.flatnonzero(np.isin(found.owner, player.columns))
        slopes = found.coefficients[own]
        length = float(np.linalg.norm(slopes))
        toward = slopes / length if length > 0 else slopes
        values[player.name] = float(slopes[0]) if len(own) == 1 else length
        variance = float(toward @ found.covariance[np.ix_(own, own)] @ toward)
        errors.append(np.sqrt(max(variance, 0.0)))
    half = normal_quantile(settings.level) * np.array(errors)
    found_values = METHOD.importances(values)
    return replace(found_values, low=found_values.values - half, high=found_values.values + half)


def regress(design: Design, settings: Settings, pairs: int = 60_000) -> AucRegression:
    """Fit the AUC regression on sampled pairs, half of them of each domain.

    The noise of so many pairs is small beside that of the rows.
    """
    rng = random_stream(settings, "auc_regression")
    matrix = numeric_matrix(design)
    drawn = [_draw(design, matrix, domain, pairs // 2, rng) for domain in DOMAINS]
    pooled = np.vstack([p.variables for p in drawn])
    spread = pooled.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    covariates = matrix.where(design.covariates)
    block = with_domain([(p.variables - pooled.mean(axis=0)) / scale for p in drawn], covariates)
    votes = np.concatenate([p.vote for p in drawn])
    fit = logistic(block, votes, np.ones(len(votes)))
    covariance = _two_way(fit.influence, drawn, design)
    kept = np.concatenate([[1], np.arange(block.shape[1] - len(covariates), block.shape[1])])
    return AucRegression(
        names=("(domain)", *(matrix.names[j] for j in covariates)),
        coefficients=fit.coefficients[kept],
        covariance=covariance[np.ix_(kept, kept)],
        owner=np.concatenate([[-1], matrix.owner[covariates]]),
    )


def _draw(
    design: Design, matrix: NumericMatrix, domain: Domain, count: int, rng: np.random.Generator
) -> _Pairs:
    score, outcome = design.prediction[domain], design.outcome[domain]
    weights, variables = design.sample().weights[domain], matrix.values[domain]
    if len(np.unique(score)) < 3:
        raise ModelError(
            "AUC regression needs the model's scores",
            got="predictions with at most two distinct values",
            hint="Give a column of probabilities, or leave out 'auc_regression'.",
        )
    members = [np.flatnonzero(outcome == happened) for happened in (1, 0)]
    case, control = (
        rng.choice(rows, count, p=weights[rows] / weights[rows].sum()) for rows in members
    )
    vote = (score[case] > score[control]) + 0.5 * (score[case] == score[control])
    return _Pairs(case, control, vote, (variables[case] + variables[control]) / 2)


def _two_way(influence: Array, drawn: list[_Pairs], design: Design) -> Array:
    """Covariance of the coefficients: pairs are dependent through their case and control."""
    total = -(influence.T @ influence)
    halves = np.split(influence, [len(drawn[0].vote)])
    for part, piece, unit in zip(drawn, halves, design.sample().units, strict=True):
        for member in (part.case, part.control):
            sums = np.zeros((int(unit.max()) + 1, influence.shape[1]))
            np.add.at(sums, unit[member], piece)
            total = total + sums.T @ sums
    return np.asarray(total / len(influence) ** 2)
