"""Metrics that compare pairs of rows: the area under the ROC curve, by mid-ranks."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array

__all__ = [
    "auc_of",
    "auc_slopes",
    "auc_terms",
    "macro_auc_terms",
    "mid_ranks",
    "pair_influence",
    "pair_means",
]


def mid_ranks(at: Array, scores: Array, weights: Array | None = None) -> Array:
    """R(t) = E k(t, f) with k(u, v) = 1{u > v} + 1/2 1{u = v}, f the (weighted) scores."""
    order = np.argsort(scores, kind="stable")
    mass = np.ones(len(scores)) if weights is None else weights[order]
    below = np.concatenate([[0.0], np.cumsum(mass)])
    place = [np.searchsorted(scores[order], at, side=side) for side in ("left", "right")]
    return np.asarray((below[place[0]] + below[place[1]]) / (2 * below[-1]))


def pair_means(terms: Array, weights: Array | None = None) -> Array:
    """(rho_1..rho_C, kappa_1..kappa_C): rho = E y, kappa = E[y R(f)]."""
    classes = len(terms) // 2
    indicators, scores = terms[:classes], terms[classes:]
    ranks = np.stack([mid_ranks(f, f, weights) for f in scores])
    return np.average(np.concatenate([indicators, indicators * ranks]), 1, weights)


def pair_influence(terms: Array, weights: Array | None = None) -> Array:
    """(2 C, rows): what each row adds to rho and to kappa, y R(f) + U(f), centred.

    U(t) = E[Y k(f, t)]: what a row with score t adds to the ranks of the others.
    """
    classes = len(terms) // 2
    indicators, scores = terms[:classes], terms[classes:]
    mass = np.ones(terms.shape[1]) if weights is None else weights
    both = []
    for y, f in zip(indicators, scores, strict=True):
        share = np.average(y, weights=mass)
        lends = share * (1 - mid_ranks(f, f, mass * y)) if share else np.zeros(len(y))
        both.append(y * mid_ranks(f, f, mass) + lends)
    added = np.concatenate([indicators, np.stack(both)])
    return np.asarray(added - np.average(added, 1, mass)[:, None])


def auc_terms(prediction: Array, outcome: Array) -> Array:
    """(2, rows): the outcome and the score."""
    return np.stack([outcome, prediction])


def macro_auc_terms(prediction: Array, outcome: Array, *, classes: int) -> Array:
    """(2 C, rows): each class's indicator, each class's score."""
    return np.concatenate([np.equal(outcome, np.arange(classes)[:, None]), prediction.T])


def auc_of(means: Array) -> float:
    """The mean of the areas (kappa - rho^2 / 2) / (rho (1 - rho)), one per class."""
    rho, kappa = np.reshape(means, (2, -1))
    return float(np.mean((kappa - rho**2 / 2) / (rho * (1 - rho))))


def auc_slopes(means: Array) -> Array:
    """g_rho = -(rho + (1 - 2 rho) AUC) / (rho (1 - rho)), g_kappa = 1 / (rho (1 - rho))."""
    rho, kappa = np.reshape(means, (2, -1))
    spread = rho * (1 - rho)
    auc = (kappa - rho**2 / 2) / spread
    both = np.concatenate([-(rho + (1 - 2 * rho) * auc), np.ones(len(rho))])
    return np.asarray(both / np.tile(spread, 2) / len(rho))
