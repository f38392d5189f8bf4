"""Evaluating fits only at rows they were not trained on, back in the original row order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whygap.domains import Array, Domain
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.conditional_mean import Fits
from whygap.learning.density_ratio import RatioFits
from whygap.learning.features import View

__all__ = ["everywhere", "out_of_fold", "paired_values", "ratio_out_of_fold", "risk_twins", "twins"]


def out_of_fold(fits: Fits, view: View) -> Array:
    """Each row by the model trained on all other blocks."""
    blocks = fits.features.blocks
    pieces = [fits.predict(blocks.complement(k), view, k) for k in blocks.evaluated]
    return np.concatenate(pieces)[blocks.back()[view.domain]]


def ratio_out_of_fold(fits: RatioFits, domain: Domain) -> Array:
    """The density ratio at each row by the classifier trained on all other blocks."""
    blocks = fits.features.blocks
    pieces = [fits.predict(blocks.complement(k), domain, k) for k in blocks.evaluated]
    return np.concatenate(pieces)[blocks.back()[domain]]


def twins(fits: Fits, view: View, halvings: int) -> list[tuple[Array, Array]]:
    """For each halving, each row by the two models trained on disjoint halves of other blocks.

    A model trained on `complement(k)` for every k (plain cross-fitting) is its own twin.
    """

    def predict(block: int, trained_on: Sequence[BlockSet]) -> list[Array]:
        rows = fits.inputs(view, block)
        return [fits.models[t].predict(rows) for t in trained_on]

    return _paired(fits.features.blocks, view.domain, halvings, set(fits.models), predict)


def risk_twins(fits: Fits, name: str, halvings: int) -> list[tuple[Array, Array]]:
    """The same for models with an extra column, at its view of this name."""
    extra = next(iter((fits.task.extra or {}).values()))

    def predict(block: int, trained_on: Sequence[BlockSet]) -> list[Array]:
        return fits.predict_named(trained_on, name, block)

    domain = extra.views[name].domain
    return _paired(fits.features.blocks, domain, halvings, set(fits.models), predict)


def paired_values(
    blocks: Blocks, domain: Domain, halvings: int, values: Mapping[BlockSet, Array]
) -> list[tuple[Array, Array]]:
    """Block-sorted arrays, one per training set, picked as `twins` picks predictions."""

    def predict(block: int, trained_on: Sequence[BlockSet]) -> list[Array]:
        return [values[t][blocks.rows(domain, block)] for t in trained_on]

    return _paired(blocks, domain, halvings, set(values), predict)


def _paired(
    blocks: Blocks,
    domain: Domain,
    halvings: int,
    trained: set[BlockSet],
    predict: Callable[[int, Sequence[BlockSet]], list[Array]],
) -> list[tuple[Array, Array]]:
    back = blocks.back()[domain]
    if trained == set(blocks.complements()):
        pieces = [predict(k, [blocks.complement(k)])[0] for k in blocks.evaluated]
        plain = np.concatenate(pieces)[back]
        return [(plain, plain)]
    found: list[list[Array]] = []
    for k in blocks.evaluated:
        pairs = blocks.halvings(k, halvings)
        found.append(predict(k, [half for pair in pairs for half in pair]))
    flat = [np.concatenate([block[i] for block in found])[back] for i in range(len(found[0]))]
    return [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]


def everywhere(fits: Fits, trained_on: frozenset[int], view: View) -> Array:
    """At all rows of a domain the model was not trained on (its other domain), block-sorted."""
    blocks = fits.features.blocks
    return np.concatenate([fits.predict(trained_on, view, k) for k in range(blocks.count)])
