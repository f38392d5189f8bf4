"""The second primitive: p_1(X_S) / p_0(X_S), from a classifier's odds times n_0 / n_1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, Domain
from whygap.errors import WhygapError
from whygap.learning.blocks import BlockSet
from whygap.learning.conditional_mean import fit_error
from whygap.learning.features import Features, Inputs
from whygap.learning.models import Learner, Model

__all__ = ["RatioFits", "domain_inputs", "fit_ratios"]

_LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class RatioFits:
    """Domain classifiers, one per training set."""

    features: Features
    columns: tuple[int, ...]
    models: Mapping[BlockSet, Model]
    odds_to_ratio: Mapping[BlockSet, float]

    def probability(self, trained_on: BlockSet, domain: Domain, block: int) -> Array:
        """P(target | X_S) at the rows of one block."""
        rows = self.features.blocks.rows(domain, block)
        inputs = self.features.inputs(self.features.plain[domain], rows, self.columns)
        fitted = self.models[trained_on].predict(inputs)
        return np.clip(fitted, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)

    def predict(self, trained_on: BlockSet, domain: Domain, block: int) -> Array:
        """The ratio at the rows of one block."""
        probability = self.probability(trained_on, domain, block)
        return probability / (1 - probability) * self.odds_to_ratio[trained_on]


def fit_ratios(
    features: Features,
    learner: Learner,
    columns: tuple[int, ...],
    trained_on: tuple[BlockSet, ...],
    name: str,
) -> RatioFits:
    """One domain classifier per training set; without columns the ratio is 1."""
    models, factor = {}, {}
    for blocks in trained_on:
        inputs, label, weight = domain_inputs(features, columns, blocks)
        try:
            models[blocks] = learner.fit(inputs, label, weight, "probability")
        except (WhygapError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise fit_error(features, name, blocks, columns, error) from error
        factor[blocks] = float(weight @ (1 - label)) / float(weight @ label)
    return RatioFits(features, columns, models, factor)


def domain_inputs(
    features: Features, columns: tuple[int, ...], blocks: BlockSet
) -> tuple[Inputs, Array, Array]:
    """Rows of both domains with the domain as label."""
    parts, weights, labels = [], [], []
    for label, domain in enumerate(("source", "target")):
        rows = features.training_rows(domain, blocks)
        parts.append(features.inputs(features.plain[domain], rows, columns))
        weights.append(features.weights[domain][rows])
        labels.append(np.full(len(rows), float(label)))
    both = Inputs(
        np.vstack([p.raw for p in parts]),
        np.vstack([p.basis for p in parts]),
        parts[0].simple,
        parts[0].categorical,
    )
    return both, np.concatenate(labels), np.concatenate(weights)
