"""Evaluating fits only at rows they were not trained on, back in the original row order."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, Domain
from whygap.learning.conditional_mean import Fits
from whygap.learning.density_ratio import RatioFits
from whygap.learning.features import View

__all__ = ["everywhere", "out_of_fold", "ratio_out_of_fold", "twins"]


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
    blocks = fits.features.blocks
    if set(fits.models) == set(blocks.complements()):
        plain = out_of_fold(fits, view)
        return [(plain, plain)]
    pieces: list[list[tuple[Array, Array]]] = []
    for k in blocks.evaluated:
        rows = fits.inputs(view, k)
        pairs = blocks.halvings(k, halvings)
        pieces.append([(fits.models[a].predict(rows), fits.models[b].predict(rows)) for a, b in pairs])
    back = blocks.back()[view.domain]
    return [
        (
            np.concatenate([block[h][0] for block in pieces])[back],
            np.concatenate([block[h][1] for block in pieces])[back],
        )
        for h in range(len(pieces[0]))
    ]


def everywhere(fits: Fits, trained_on: frozenset[int], view: View) -> Array:
    """At all rows of a domain the model was not trained on (its other domain), block-sorted."""
    blocks = fits.features.blocks
    return np.concatenate([fits.predict(trained_on, view, k) for k in range(blocks.count)])
