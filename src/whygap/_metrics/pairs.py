"""Metrics that compare pairs of rows: the area under the ROC curve, by mid-ranks."""

import numpy as np

from whygap.domains import Array

__all__ = ["auc_of", "mid_ranks", "pair_influence", "pair_means"]


def mid_ranks(points: Array, scores: Array, weights: Array | None = None) -> Array:
    """Compute R(t) = E k(t, f) with k(u, v) = 1{u > v} + 1/2 1{u = v}, from 0 to 1.

    Args:
        points: the points t, (points,).
        scores: the scores f, (rows,).
        weights: of the scores, (rows,); equal if left out.
    """
    order = np.argsort(scores, kind="stable")
    mass = np.ones(len(scores)) if weights is None else weights[order]
    below = np.concatenate([[0.0], np.cumsum(mass)])
    place = [np.searchsorted(scores[order], points, side=side) for side in ("left", "right")]
    return np.asarray((below[place[0]] + below[place[1]]) / (2 * below[-1]))


def pair_means(terms: Array, weights: Array | None = None) -> Array:
    """Compute (rho_1..rho_C, kappa_1..kappa_C), rho = E y, kappa = E[y R(f)]: see `Metric.pairs`.

    Args:
        terms: C indicators of classes, then C scores, (2 C, rows).
        weights: of the rows, (rows,); equal if left out.
    """
    indicators, scores = np.split(terms, 2)
    ranks = np.stack([mid_ranks(f, f, weights) for f in scores])
    return np.average(np.concatenate([indicators, indicators * ranks]), 1, weights)


def pair_influence(terms: Array, weights: Array | None = None) -> Array:
    """Compute what each row adds to rho and to kappa, y R(f) + U(f), centred, (2 C, rows).

    U(t) = E[Y k(f, t)] is what a row with score t adds to the ranks of all rows.
    """
    indicators, scores = np.split(terms, 2)
    mass = np.ones(terms.shape[1]) if weights is None else weights
    kappas = []
    for y, f in zip(indicators, scores, strict=True):
        share = np.average(y, weights=mass)
        lends = share * (1 - mid_ranks(f, f, mass * y)) if share else np.zeros(len(y))
        kappas.append(y * mid_ranks(f, f, mass) + lends)
    added = np.concatenate([indicators, np.stack(kappas)])
    return np.asarray(added - np.average(added, 1, mass)[:, None])


def auc_of(means: Array) -> float:
    """Average the areas (kappa - rho^2 / 2) / (rho (1 - rho)) over classes, given (rho, kappa)."""
    rho, kappa = np.reshape(means, (2, -1))
    return float(np.mean((kappa - rho**2 / 2) / (rho * (1 - rho))))
