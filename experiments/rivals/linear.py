"""Logistic regression with influence values, on columns expanded to plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.errors import FitError
from whygap.estimate import Estimate, Sample
from whygap.tables.design import Column, Design


@dataclass(frozen=True, slots=True, eq=False)
class NumericMatrix:
    """Columns without gaps and without codes."""

    values: ByDomain[Array]  # (rows, columns) in each domain
    names: tuple[str, ...]  # one per column, such as `age`, `state = NE` or `income (missing)`
    owner: IntArray  # position in the design of the column each one came from

    def where(self, positions: tuple[int, ...]) -> IntArray:
        """Columns that came from these columns of the design."""
        return np.flatnonzero(np.isin(self.owner, positions))


def numeric_matrix(design: Design) -> NumericMatrix:
    """Expand categories to indicators (first level left out) and fill gaps.

    A missing number becomes the pooled mean and an indicator of its own; a missing category is a
    level of its own. Columns that are constant over both domains are left out.
    """
    wanted = design.baseline + design.covariates
    pooled = np.vstack(list(design.features))
    blocks: list[Array] = []
    names: list[str] = []
    owner: list[int] = []
    for j in wanted:
        expanded = _expanded(design.columns[j], pooled[:, j])
        varying = {name: values for name, values in expanded.items() if np.ptp(values) > 0}
        blocks += varying.values()
        names += varying
        owner += [j] * len(varying)
    block = np.column_stack([np.zeros((len(pooled), 0)), *blocks])
    cut = design.rows.source
    return NumericMatrix(
        ByDomain(block[:cut], block[cut:]), tuple(names), np.array(owner, dtype=np.int64)
    )


def _expanded(column: Column, values: Array) -> dict[str, Array]:
    missing = np.isnan(values)
    if column.kind == "category":
        codes = np.unique(values[~missing])[1:]
        found = {
            f"{column.name} = {_level(column, code)}": (values == code) * 1.0 for code in codes
        }
    else:
        centre = float(np.nanmean(values)) if not missing.all() else 0.0
        found = {column.name: np.where(missing, centre, values)}
    return {**found, f"{column.name} (missing)": missing * 1.0}


def _level(column: Column, code: float) -> str:
    place = int(code)
    return column.levels[place] if place < len(column.levels) else f"{code:g}"


def with_intercept(matrix: Array) -> Array:
    """A column of ones in front."""
    return np.column_stack([np.ones(len(matrix)), matrix])


def with_domain(blocks: Sequence[Array], interacted: IntArray) -> Array:
    """Both domains' rows as columns 1, D, V, D times the interacted columns of V."""
    pooled = np.vstack(list(blocks))
    domain = np.repeat([0.0, 1.0], [len(block) for block in blocks])[:, None]
    return with_intercept(np.column_stack([domain, pooled, domain * pooled[:, interacted]]))


def unit_loss(design: Design) -> ByDomain[Array]:
    """The loss in [0, 1]: as it is, or scaled by its range over both domains."""
    pooled = np.concatenate(list(design.loss))
    low, high = float(pooled.min()), float(pooled.max())
    if low >= 0 and high <= 1:
        return design.loss
    return design.loss.map(lambda values: (values - low) / (high - low))


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients and, per row, their influence: `fit - truth` is about the weighted row mean."""

    coefficients: Array
    influence: Array


def logistic(matrix: Array, response: Array, weights: Array, ridge: float = 1e-6) -> Fit:
    """Logistic regression by Newton steps; the response may be any value in [0, 1].

    The first column is the intercept and is not penalised. The penalty per row on standardised
    slopes keeps separated levels finite.
    """
    scale = np.where(np.ptp(matrix, axis=0) > 0, matrix.std(axis=0), 1.0)
    scaled = matrix / scale
    penalty = np.full(matrix.shape[1], ridge)
    penalty[0] = 0.0
    beta = np.zeros(matrix.shape[1])
    for _ in range(100):  # Newton needs about ten
        mean = special.expit(scaled @ beta)
        score = scaled.T @ (weights * (response - mean)) / len(scaled) - penalty * beta
        step = np.linalg.solve(_curvature(scaled, weights * mean * (1 - mean), penalty), score)
        # At most 5 on the logit scale, so that the first steps do not overshoot.
        beta = beta + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    else:
        raise FitError(
            "A logistic regression did not converge in 100 steps",
            hint="Some columns may separate the outcome; group rare levels.",
        )
    mean = special.expit(scaled @ beta)
    inverse = np.linalg.inv(_curvature(scaled, weights * mean * (1 - mean), penalty))
    influence = (scaled * (response - mean)[:, None]) @ inverse
    return Fit(beta / scale, influence / scale)


def _curvature(matrix: Array, weights: Array, penalty: Array) -> Array:
    information = (matrix * weights[:, None]).T @ matrix / len(matrix)
    return np.asarray(information + np.diag(penalty + 1e-12))


def domain_means(sample: Sample, domain: Domain, matrix: Array) -> list[Estimate]:
    """Column means of one domain, as estimates."""
    return one_sided(sample, domain, sample.weights[domain] @ matrix / len(matrix), matrix)


def one_sided(sample: Sample, domain: Domain, values: Array, rows: Array) -> list[Estimate]:
    """Values from one domain's rows, as estimates; `rows` hold what each row adds to them."""
    empty = sample.weights.map(np.zeros_like)
    found = []
    for value, own in zip(values, rows.T, strict=True):
        source, target = (own if d == domain else empty[d] for d in ("source", "target"))
        found.append(Estimate.of(value, sample.influence(ByDomain(source, target)), sample.key))
    return found


def pooled_coefficients(sample: Sample, fit: Fit) -> list[Estimate]:
    """Coefficients fitted on the stacked rows (source first), as estimates."""
    rows = sample.weights.map(len)
    shares = rows.map(lambda n: n / (rows.source + rows.target))
    source, target = fit.influence[: rows.source].T, fit.influence[rows.source :].T
    return [
        Estimate.of(
            value, sample.influence(ByDomain(shares.source * s, shares.target * t)), sample.key
        )
        for value, s, t in zip(fit.coefficients, source, target, strict=True)
    ]


def length(parts: Sequence[Estimate]) -> Estimate:
    """A coefficient itself, the length of several (delta method), 0 for none."""
    if not parts:
        return Estimate(0.0, 0.0)
    size = float(np.linalg.norm([part.value for part in parts]))
    if len(parts) > 1 and size > 0:
        parts = [part * (part.value / size) for part in parts]
    return sum(parts[1:], parts[0])
