"""The second primitive: p_1(X_S) / p_0(X_S), from a classifier's odds times n_0 / n_1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygap.domains import DOMAINS, Array, Domain
from whygap.learning.blocks import BlockSet
from whygap.learning.choose_ratio import RatioBlend, as_ratio_blend, odds
from whygap.learning.conditional_mean import Checked, Label
from whygap.learning.features import Features, at
from whygap.learning.inputs import Inputs
from whygap.learning.models import Learner, Model
from whygap.learning.ridge import Curvature

__all__ = ["RatioFits", "domain_inputs", "fit_ratios", "stacked"]


@dataclass(frozen=True, slots=True, eq=False)
class RatioFits:
    """Domain classifiers, one per training set."""

    features: Features
    columns: tuple[int, ...]
    weights: tuple[float, ...]
    models: Mapping[BlockSet, tuple[Model, ...]]
    odds_to_ratio: Mapping[BlockSet, float]

    def predict(self, trained_on: BlockSet, domain: Domain, block: int) -> Array:
        """The ratio at the rows of one block."""
        rows = self.features.blocks.rows(domain, block)
        inputs = self.features.inputs(self.features.plain[domain], rows, self.columns)
        total = np.zeros(len(inputs))
        for weight, model in zip(self.weights, self.models[trained_on], strict=True):
            total += weight * odds(model.predict(inputs))
        return total * self.odds_to_ratio[trained_on]


def fit_ratios(
    features: Features,
    learner: RatioBlend | Learner,
    columns: tuple[int, ...],
    trained_on: tuple[BlockSet, ...],
    name: str,
    *,
    repeated: bool = False,
) -> RatioFits:
    """One domain classifier per training set; without columns the ratio is 1.

    `repeated` ones come again with other columns.
    """
    blend = as_ratio_blend(learner)
    models, factor = {}, {}
    for blocks in trained_on:
        inputs, label, weight = domain_inputs(features, columns, blocks)
        if repeated:
            inputs = replace(inputs, known=_known(features, blocks, columns))
        named = Label.of(features, name, blocks, columns)
        with named.named("Fitting"):
            models[blocks] = tuple(
                Checked(part.fit(inputs, label, weight, "probability"), named)
                for part in blend.learners
            )
        factor[blocks] = float(weight @ (1 - label)) / float(weight @ label)
    return RatioFits(features, columns, blend.weights, models, factor)


def _known(
    features: Features, blocks: BlockSet, columns: tuple[int, ...]
) -> Callable[[Any], Curvature]:
    def find(learner: Any) -> tuple[Curvature, None]:
        everything = domain_inputs(features, features.everything, blocks)
        return learner.curvature(*everything, "probability"), None

    return features.known("domain", blocks, columns, find)


def domain_inputs(
    features: Features, columns: tuple[int, ...], blocks: BlockSet
) -> tuple[Inputs, Array, Array]:
    """Rows of both domains with the domain as label."""
    parts, weights, labels = [], [], []
    for label, domain in enumerate(DOMAINS):
        rows = features.training_slices(domain, blocks)
        parts.append(features.inputs(features.plain[domain], rows, columns))
        weights.append(at(features.weights[domain], rows))
        labels.append(np.full(len(parts[-1]), float(label)))
    return stacked(parts), np.concatenate(labels), np.concatenate(weights)


def stacked(parts: Sequence[Inputs]) -> Inputs:
    """Rows below each other."""
    return replace(
        parts[0],
        raw=np.hstack([p.raw.T for p in parts]).T,
        basis=np.hstack([p.basis.T for p in parts]).T,
    )
