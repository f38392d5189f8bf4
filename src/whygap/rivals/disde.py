"""DISDE (Cai, Namkoong and Yadlowsky 2023): X shift against Y given X, on shared ground.

The two conditional risks are compared under a shared distribution of X with density proportional
to `p_0 p_1 / (p_0 + p_1)`, which lies where both domains have rows. The gap splits in three:
source to shared (X), the change of Y given X on the shared ground, shared to target (X).

Assumes: a good domain classifier; enough shared ground.
Misleads: the middle term speaks about the shared region only; with little overlap that is a small,
odd population. No variable is named. The intervals take the fitted weights as known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate
from whygap.rivals.importances import Importances, from_estimates, random_stream
from whygap.rivals.learner import cross_fitted, fold_numbers
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Disde", "decompose", "importance", "shared_weights"]

ASSUMPTIONS = "The domain classifier is right and the domains share enough ground."
MISLEADS = (
    "Y given X is compared on the shared ground only, which under poor overlap is a small and odd "
    "population; no variable is named."
)
DomainClassifier = Callable[[Design, Settings], ByDomain[Array]]


@dataclass(frozen=True, slots=True)
class Disde:
    """The four means and the three parts.

    Attributes:
        source: mean loss in the source.
        shared_source: on shared ground, with the source's Y given X.
        shared_target: on shared ground, with the target's Y given X.
        target: mean loss in the target.
    """

    source: Estimate
    shared_source: Estimate
    shared_target: Estimate
    target: Estimate

    @property
    def source_to_shared(self) -> Estimate:
        """The part of X that left the source."""
        return self.shared_source - self.source

    @property
    def outcome(self) -> Estimate:
        """Y given X, on shared ground."""
        return self.shared_target - self.shared_source

    @property
    def shared_to_target(self) -> Estimate:
        """The part of X that is new in the target."""
        return self.target - self.shared_target


def importance(design: Design, settings: Settings) -> Importances:
    """The three parts of the gap; they add up to it."""
    found = decompose(design, settings)
    return from_estimates(
        "disde",
        "aggregate",
        {
            "X: source to shared": found.source_to_shared,
            "Y given X: shared": found.outcome,
            "X: shared to target": found.shared_to_target,
        },
        level=settings.level,
        unit="change of the metric",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def decompose(
    design: Design, settings: Settings, classifier: DomainClassifier | None = None
) -> Disde:
    """The four means.

    Args:
        design: both domains.
        settings: folds, seed.
        classifier: gives the probability of "target" at every row, out of fold, from classes as
            frequent as the rows; default: boosting and a logistic model, blended.
    """
    probability = (classifier or domain_probability)(design, settings)
    weights = shared_weights(probability, design.rows)
    loss, sample = design.loss, design.sample()
    zero = loss.map(np.zeros_like)

    def source_mean(values: Array) -> Estimate:
        return Estimate.from_contributions(sample, source=values, target=zero.target)

    def target_mean(values: Array) -> Estimate:
        return Estimate.from_contributions(sample, source=zero.source, target=values)

    return Disde(
        source=source_mean(loss.source),
        shared_source=source_mean(weights.source * loss.source) / source_mean(weights.source),
        shared_target=target_mean(weights.target * loss.target) / target_mean(weights.target),
        target=target_mean(loss.target),
    )


def shared_weights(probability: ByDomain[Array], rows: ByDomain[int]) -> ByDomain[Array]:
    """Density of the shared distribution over each domain's own, up to a constant.

    With e the probability of "target" and a the share of target rows, `p_1 / (p_0 + p_1)` is
    `e (1 - a) / (e (1 - a) + (1 - e) a)`; at target rows its complement.
    """
    share = rows.target / (rows.source + rows.target)

    def toward_target(e: Array) -> Array:
        return np.asarray(e * (1 - share) / (e * (1 - share) + (1 - e) * share))

    return ByDomain(toward_target(probability.source), 1 - toward_target(probability.target))


def domain_probability(design: Design, settings: Settings) -> ByDomain[Array]:
    """Out-of-fold probability of "target" given W and Z."""
    rng = random_stream(settings, "disde")
    columns = list(design.baseline + design.covariates)
    features = np.vstack(list(design.features))[:, columns]
    domain = np.repeat([0.0, 1.0], list(design.rows))
    sample = design.sample()
    fold = np.concatenate([fold_numbers(units, settings.folds, rng) for units in sample.units])
    weights = np.concatenate(list(sample.weights))
    fitted, _ = cross_fitted(features, domain, weights, fold, int(rng.integers(2**31)))
    cut = design.rows.source
    return ByDomain(fitted[:cut], fitted[cut:])
