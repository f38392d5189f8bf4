"""A smooth world of twelve correlated columns: two of W, ten players.

Columns are normal; neighbours correlate, in both domains alike. Some means and spreads differ in
the target. The source risk is logistic with one product of two columns, the model is the logistic
model of its main effects, and in the target some coefficients change. Nothing was tuned to it.

Truths (`correlated_truth`): Psi(S), points, groups, corners and v_Z are integrals over the model's
logit and the two columns of the product, by quadrature; the gains of 4,096 sets of columns come
from a fixed quasi-Monte-Carlo rule and are kept in `correlated_gains.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from experiments.worlds.world import Corners, Subset, SubsetTruth, drawn_outcomes
from whygap._metrics import Metric, metric_of
from whygap.domains import Array, ByDomain, Domain
from whygap.errors import InputError
from whygap.tables.design import Column, Design, Player

__all__ = ["BASELINE", "NAMES", "PRODUCT_OF", "CorrelatedWorld", "Law", "Risk", "root", "scalars"]

NAMES = ("W1", "W2", *(f"Z{j}" for j in range(1, 11)))
BASELINE = (0, 1)
PRODUCT_OF = (NAMES.index("Z1"), NAMES.index("Z6"))
NEIGHBOURS = 0.5  # correlation of neighbouring columns


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A normal law of the twelve columns."""

    mean: Array
    cov: Array

    def given(self, column: int, value: float) -> Law:
        """The law of all columns when one is known."""
        along = self.cov[:, column] / self.cov[column, column]
        return Law(
            self.mean + along * (value - self.mean[column]),
            self.cov - np.outer(along, self.cov[column]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """Logit risk: intercept, slopes, and the coefficient of the product."""

    intercept: float
    slopes: Array
    product: float

    def linear(self, x: Array) -> Array:
        """The main effects."""
        return np.asarray(self.intercept + x @ self.slopes)

    def __call__(self, x: Array) -> Array:
        """p(Y=1 | x)."""
        first, second = PRODUCT_OF
        return np.asarray(special.expit(self.linear(x) + self.product * x[:, first] * x[:, second]))


def _column_values(default: float, **values: float) -> Array:
    return np.array([values.get(name, default) for name in NAMES])


def _law(mean: Array, sd: Array) -> Law:
    distance = np.abs(np.subtract.outer(np.arange(len(NAMES)), np.arange(len(NAMES))))
    return Law(mean, np.outer(sd, sd) * NEIGHBOURS**distance)


LAWS: ByDomain[Law] = ByDomain(
    _law(_column_values(0.0), _column_values(1.0)),
    _law(
        _column_values(0.0, W1=0.4, Z1=-0.5, Z3=0.3, Z6=0.6, Z9=-0.3),
        _column_values(1.0, Z2=1.15, Z6=0.85, Z7=0.9),
    ),
)
SOURCE_SLOPES = {"W1": 0.5, "W2": -0.3, "Z1": 0.9, "Z2": -0.7, "Z4": 0.6, "Z7": 0.5, "Z9": -0.4}
RISKS: ByDomain[Risk] = ByDomain(
    Risk(-0.3, _column_values(0.0, **SOURCE_SLOPES), 0.6),
    Risk(0.1, _column_values(0.0, **(SOURCE_SLOPES | {"Z1": 0.3, "Z4": 1.0, "Z8": 0.5})), 0.6),
)


def scalars(law: Law, domain: Domain) -> tuple[Array, Array]:
    """Mean and covariance of (t, x, x', d).

    t is the model's logit, (x, x') the columns of the product, d what the domain's coefficients
    add to t: the logit risk is t + d + product * x * x'.
    """
    model = RISKS.source
    rows = np.zeros((4, len(NAMES)))
    rows[0] = model.slopes
    rows[1, PRODUCT_OF[0]] = rows[2, PRODUCT_OF[1]] = 1.0
    rows[3] = RISKS[domain].slopes - model.slopes
    offset = np.array([model.intercept, 0.0, 0.0, RISKS[domain].intercept - model.intercept])
    return rows @ law.mean + offset, rows @ law.cov @ rows.T


def root(cov: Array) -> Array:
    """A square root of a covariance that may be singular, widest direction first."""
    values, vectors = np.linalg.eigh(cov)
    return np.asarray((vectors * np.sqrt(np.clip(values, 0.0, None)))[:, ::-1])


@dataclass(frozen=True)
class CorrelatedWorld:
    """The world described above, scored by one metric."""

    metric: str | Metric = "accuracy"

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return NAMES[len(BASELINE) :]

    # -- functions of rows -----------------------------------------------------------------------

    def model(self, x: Array) -> Array:
        """The main effects of the source risk."""
        return np.asarray(special.expit(RISKS.source.linear(x)))

    def risk(self, domain: Domain, x: Array) -> Array:
        """p_d(Y=1 | W, Z)."""
        return RISKS[domain](x)

    def ratio(self, x: Array, columns: Sequence[int]) -> Array:
        """p_1 / p_0 of these columns."""
        chosen = list(columns)
        if not chosen:
            return np.ones(len(x))
        densities = LAWS.map(
            lambda law: stats.multivariate_normal(
                law.mean[chosen], law.cov[np.ix_(chosen, chosen)]
            ).logpdf(x[:, chosen])
        )
        return np.asarray(np.exp(densities.target - densities.source)).reshape(len(x))

    # -- rows ------------------------------------------------------------------------------------

    def draw_features(self, domain: Domain, rows: int, rng: np.random.Generator) -> Array:
        """Columns of independent rows."""
        law = LAWS[domain]
        root = np.linalg.cholesky(law.cov)
        return law.mean + rng.standard_normal((rows, len(NAMES))) @ root.T

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = ByDomain(
            self.draw_features("source", rows.source, rng),
            self.draw_features("target", rows.target, rng),
        )
        outcome = drawn_outcomes(
            ByDomain(self.risk("source", features.source), self.risk("target", features.target)),
            rng,
        )
        prediction = features.map(self.model)
        coefficients = prediction.map(lambda p: metric_of(self.metric).coefficients(p, 0.5))
        return Design.affine(
            features=features,
            columns=tuple(Column(name, "numeric") for name in NAMES),
            baseline=BASELINE,
            players=tuple(Player(name, (NAMES.index(name),)) for name in self.players),
            outcome=outcome,
            prediction=prediction,
            intercept=coefficients.map(lambda pair: pair[0]),
            slope=coefficients.map(lambda pair: pair[1]),
        )

    # -- truth -----------------------------------------------------------------------------------

    def corners(self) -> Corners:
        """True corner means."""
        from experiments.worlds import correlated_truth

        return correlated_truth.corners(self)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """True v_Z(s)."""
        from experiments.worlds import correlated_truth

        return correlated_truth.covariate_truth(self, subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """There is none: the source risk is no linear function, so its bins have no closed form."""
        raise InputError(
            "The correlated world has no outcome values",
            got=f"subset {subset}, bins {bins}",
            hint="Ask for points, groups, budgets or covariate values.",
        )
