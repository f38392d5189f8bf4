"""The latent world with the outcome first: W and the outcome as in the target, then columns of Z.

Wanted is the law of (t, outcome) when some columns v and the outcome come from the target and the
other columns follow given both as in the source. A real outcome is normal with the columns, and so
is the answer. An outcome of classes c reweights: rows with v as in the target and all else as in
the source get weight P_1(c | v) / P_0(c | v). The probabilities depend on v by three linear indices
that are normal given t: the source's mean of t and both domains' means of y*.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy import special

from experiments.worlds.latent import COEFFICIENTS, CUTS, LAWS, MODEL, Law, moved
from experiments.worlds.latent_answers import LatentAnswers, normal_cells
from whygap.domains import Array, ByDomain, Domain

__all__ = ["reversed_mass"]

ORDER = 10  # Gauss-Hermite nodes of each index: with 16, no truth moves by 1e-9


def reversed_mass(answers: LatentAnswers, columns: Sequence[int]) -> Array:
    """Of every cell of (t, y*), where these columns and the outcome are the target's."""
    if len(columns) == len(MODEL):
        return answers.corner("111")
    if answers.world.task == "regression":
        law = moved((*columns, len(MODEL)), _WITH_OUTCOME)
        rows = np.array([[*MODEL, 0.0], [0.0] * len(MODEL) + [1.0]])
        return normal_cells(*answers.axes, rows @ law.mean, rows @ law.cov @ rows.T)
    return _of_classes(answers, list(columns))


def _with_outcome(domain: Domain) -> Law:
    """The columns and the latent outcome together."""
    law, beta = LAWS[domain], COEFFICIENTS[domain]
    rows = np.vstack([np.eye(len(beta)), beta])
    cov = rows @ law.cov @ rows.T
    cov[-1, -1] += 1.0
    return Law(rows @ law.mean, cov)


_WITH_OUTCOME = ByDomain(_with_outcome("source"), _with_outcome("target"))


def _of_classes(answers: LatentAnswers, v: list[int]) -> Array:
    """All mass of a class in its first cell of y*: no metric of classes can tell."""
    t, y = answers.axes
    cuts = np.array([-np.inf, *CUTS[answers.world.task], np.inf])
    at = np.digitize(y, cuts[1:-1])
    mass = np.zeros((len(t), len(y)))
    here, left = _indices(v)
    # t = its index + an independent error, so that the indices are normal given t.
    spread = here.cov[0, 0] + left[0, 0]
    log_density = -0.5 * (t - here.mean[0]) ** 2 / spread
    along = here.cov[:, 0] / spread
    root = _root(here.cov - np.outer(along, here.cov[0]))
    for node, weight in _nodes(root.shape[1]):
        t_0, y_0, y_1 = (here.mean + root @ node)[:, None] + np.outer(along, t - here.mean[0])
        sharper = y_0 + left[0, 1] / left[0, 0] * (t - t_0)
        noise = np.sqrt(left[1, 1] - left[0, 1] ** 2 / left[0, 0])
        for c in range(len(cuts) - 1):
            ends = cuts[c : c + 2]
            log_mass = (
                log_density
                + _log_between(ends, sharper, noise)
                + _log_between(ends, y_1, _noise("target", v))
                - _log_between(ends, y_0, np.sqrt(left[1, 1]))
            )
            mass[:, np.argmax(at == c)] += weight * np.exp(log_mass)
    return mass / mass.sum()


def _indices(v: list[int]) -> tuple[Law, Array]:
    """E_0[t | v], E_0[y* | v], E_1[y* | v] in the target; the covariance of (t, y*) left, E_0."""
    source, target = (_given(d, v) for d in ("source", "target"))
    slopes = np.vstack([source[0], target[0][1:]])
    shift = np.append(source[1], target[1][1:])
    law = LAWS.target
    return Law(shift + slopes @ law.mean[v], slopes @ law.cov[np.ix_(v, v)] @ slopes.T), source[2]


def _given(domain: Domain, v: list[int]) -> tuple[Array, Array, Array]:
    """Slopes and intercepts of (t, y*) on v, and the covariance that is left."""
    law, rows = LAWS[domain], np.stack([MODEL, COEFFICIENTS[domain]])
    with_v = rows @ law.cov[:, v]
    slopes = with_v @ np.linalg.inv(law.cov[np.ix_(v, v)])
    left = rows @ law.cov @ rows.T + np.diag([0.0, 1.0]) - slopes @ with_v.T
    return slopes, rows @ law.mean - slopes @ law.mean[v], left


def _noise(domain: Domain, v: list[int]) -> float:
    return float(np.sqrt(_given(domain, v)[2][1, 1]))


def _log_between(ends: Array, mean: Array, spread: float) -> Array:
    """Log probability between two ends; above the mean by upper tails, else all would cancel."""
    low, high = (ends[0] - mean) / spread, (ends[1] - mean) / spread
    low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    outer, inner = special.log_ndtr(high), special.log_ndtr(low)
    return np.asarray(outer + np.log1p(-np.exp(inner - outer)))


def _root(cov: Array) -> Array:
    """A square root without the directions in which nothing varies."""
    values, vectors = np.linalg.eigh(cov)
    kept = values > 1e-12 * values.max()
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _nodes(dimensions: int) -> list[tuple[Array, float]]:
    """Nodes and weights of a standard normal vector."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(ORDER)
    places = product(range(ORDER), repeat=dimensions)
    return [(nodes[list(k)], float(np.prod(weights[list(k)] / weights.sum()))) for k in places]
