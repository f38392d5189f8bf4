"""DISDE (Cai, Namkoong and Yadlowsky 2023): X shift against Y given X, on shared ground.

The two conditional risks are compared under a shared distribution of X with density proportional
to `p_0 p_1 / (p_0 + p_1)`, which lies where both domains have rows. The gap splits in three:
source to shared (X), the change of Y given X on the shared ground, shared to target (X). The
intervals take the fitted weights as known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.rivals.importances import Importances, Method, random_stream
from experiments.rivals.learner import cross_fitted, fold_numbers
from experiments.rivals.linear import domain_means
from whygap.domains import Array, ByDomain, Domain
from whygap.estimate import Estimate
from whygap.settings import Settings
from whygap.tables.design import Design

METHOD = Method(
    name="disde",
    part="aggregate",
    unit="change of the metric",
    assumptions="The domain classifier is right and the domains share enough ground.",
    misleads="Y given X is compared on the shared ground only, which under poor overlap is a small "
    "and odd population; no variable is named.",
)
DomainClassifier = Callable[[Design, Settings], ByDomain[Array]]


@dataclass(frozen=True, slots=True)
class Disde:
    """The four means and the three parts."""

    source: Estimate  # mean loss in the source
    shared_source: Estimate  # on shared ground, with the source's Y given X
    shared_target: Estimate  # on shared ground, with the target's Y given X
    target: Estimate  # mean loss in the target

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
    parts = {
        "X: source to shared": found.source_to_shared,
        "Y given X: shared": found.outcome,
        "X: shared to target": found.shared_to_target,
    }
    return METHOD.from_estimates(parts, settings.level)


def decompose(
    design: Design, settings: Settings, classifier: DomainClassifier | None = None
) -> Disde:
    """The four means; `classifier` gives the probability of "target" at every row, out of fold."""
    probability = (classifier or domain_probability)(design, settings)
    weights = shared_weights(probability, design.rows)
    sample = design.sample()

    def plain_and_shared(domain: Domain) -> list[Estimate]:
        loss, weight = design.loss[domain], weights[domain]
        block = np.column_stack([loss, weight * loss, weight])
        plain, top, bottom = domain_means(sample, domain, block)
        return [plain, top / bottom]

    source, shared_source = plain_and_shared("source")
    target, shared_target = plain_and_shared("target")
    return Disde(source, shared_source, shared_target, target)


def shared_weights(probability: ByDomain[Array], rows: ByDomain[int]) -> ByDomain[Array]:
    """Density of the shared distribution over each domain's own, up to a constant.

    With e the probability of "target" and a the share of target rows, `p_1 / (p_0 + p_1)` is
    `e (1 - a) / (e (1 - a) + (1 - e) a)`; at target rows its complement.
    """
    share = rows.target / (rows.source + rows.target)
    toward_target = probability.map(lambda e: e * (1 - share) / (e * (1 - share) + (1 - e) * share))
    return ByDomain(toward_target.source, 1 - toward_target.target)


def domain_probability(
    design: Design,
    settings: Settings,
    columns: tuple[int, ...] | None = None,
    purpose: str = "disde",
) -> ByDomain[Array]:
    """Out-of-fold probability of "target" given some columns (default: W and Z)."""
    rng = random_stream(settings, purpose)
    used = list(design.baseline + design.covariates if columns is None else columns)
    domain = np.repeat([0.0, 1.0], list(design.rows))
    sample = design.sample()
    fold = np.concatenate([fold_numbers(units, settings.folds, rng) for units in sample.units])
    weights = np.concatenate(list(sample.weights))
    features = np.vstack(list(design.features))[:, used]
    found = cross_fitted(features, domain, weights, fold, int(rng.integers(2**31))).fitted
    inside = np.clip(found, 1e-3, 1 - 1e-3)  # lest a single row weigh more than a thousandfold
    return ByDomain(*np.split(inside, [design.rows.source]))
