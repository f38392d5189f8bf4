"""Evaluating fits only at rows they were not trained on, back in the original row order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.conditional_mean import Fits
from whygap.learning.density_ratio import RatioFits
from whygap.learning.features import View

__all__ = [
    "everywhere",
    "out_of_fold",
    "paired_values",
    "ratio_out_of_fold",
    "risk_twins",
    "twin_values",
    "twins",
]


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


def risk_twins(
    fits: Fits, names: Sequence[str], halvings: int
) -> dict[str, list[tuple[Array, Array]]]:
    """The same for models with an extra column, at its views of these names."""
    views = next(iter((fits.task.extra or {}).values())).views
    found: dict[str, list[tuple[Array, Array]]] = {}
    for domain in DOMAINS:
        group = [name for name in names if views[name].domain == domain]
        if group:
            pairs = _risk_twins(fits, group, domain, halvings)
            size = len(pairs) // len(group)
            found |= {name: pairs[k * size : (k + 1) * size] for k, name in enumerate(group)}
    return found


def _risk_twins(
    fits: Fits, names: Sequence[str], domain: Domain, halvings: int
) -> list[tuple[Array, Array]]:
    """Those of one name after those of the other."""

    def predict(block: int, trained_on: Sequence[BlockSet]) -> list[Array]:
        return fits.predict_named(trained_on, names, domain, block)

    return _paired(fits.features.blocks, domain, halvings, set(fits.models), predict)


def paired_values(
    blocks: Blocks, domain: Domain, halvings: int, values: Mapping[BlockSet, Array]
) -> list[tuple[Array, Array]]:
    """Block-sorted arrays, one per training set, picked as `twins` picks predictions."""

    def predict(block: int, trained_on: Sequence[BlockSet]) -> list[Array]:
        return [values[t][blocks.rows(domain, block)] for t in trained_on]

    return _paired(blocks, domain, halvings, set(values), predict)


def twin_values(
    blocks: Blocks, halvings: int, values: Mapping[BlockSet, ByDomain[Array]]
) -> ByDomain[list[tuple[Array, Array]]]:
    """The same for both domains."""
    return ByDomain(
        *(
            paired_values(blocks, d, halvings, {half: both[d] for half, both in values.items()})
            for d in DOMAINS
        )
    )


def _paired(
    blocks: Blocks,
    domain: Domain,
    halvings: int,
    trained: set[BlockSet],
    predict: Callable[[int, Sequence[BlockSet]], list[Array]],
) -> list[tuple[Array, Array]]:
    back = blocks.back()[domain]
    if trained == set(blocks.complements()):
        plain = [predict(k, [blocks.complement(k)]) for k in blocks.evaluated]
        return [(one, one) for one in _joined(plain, back)]
    found: list[list[Array]] = []
    for k in blocks.evaluated:
        pairs = blocks.halvings(k, halvings)
        found.append(predict(k, [half for pair in pairs for half in pair]))
    flat = _joined(found, back)
    return [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]


def _joined(by_block: Sequence[Sequence[Array]], back: IntArray) -> list[Array]:
    """Each model's pieces below each other, in the original row order."""
    return [np.concatenate(pieces)[back] for pieces in zip(*by_block, strict=True)]


def everywhere(fits: Fits, view: View) -> dict[BlockSet, Array]:
    """Every model at all rows of a domain (mostly the one it was not trained on), block-sorted."""
    found: dict[BlockSet, list[Array]] = {t: [] for t in fits.models}
    for block in range(fits.features.blocks.count):
        rows = fits.inputs(view, block)
        for trained_on, model in fits.models.items():
            found[trained_on].append(model.predict(rows))
    return {trained_on: np.concatenate(pieces) for trained_on, pieces in found.items()}
