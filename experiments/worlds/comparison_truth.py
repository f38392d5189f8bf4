"""Truths of the two comparison worlds.

(a) Given W and the coin, everything is normal: sums of one-dimensional integrals.
(b) Both logits are sums of uniforms along three directions (columns whose two coefficients are
proportional share one), so the six columns reduce to three known and three unknown sums, each put
on equally probable nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from experiments.worlds import quadrature
from experiments.worlds.quadrature import LogitLoss
from experiments.worlds.world import Corners, Subset, SubsetTruth
from whygap._metrics import metric_of
from whygap.domains import Array
from whygap.errors import InputError

if TYPE_CHECKING:
    from experiments.worlds.comparison import CovariateComparison, OutcomeComparison

__all__ = ["corners_a", "corners_b", "covariate_truth_a", "outcome_truth_b"]

SIGNS = (-0.5, 0.5)
VAR_Z2 = 1.25  # of Z2 given W and the coin: 1 from Z1, 0.25 of its own


def _w_nodes() -> tuple[Array, Array]:
    nodes, weights = quadrature.normal_rule()
    return 1 + nodes, weights


def _mean_given_w(world: CovariateComparison, w: Array, shift: float) -> Array:
    """E[l | W] when Z1 has this shift."""
    c_w, c_1, c_2 = world.logit
    z1 = w + shift
    sd = float(np.sqrt((c_1 - c_2) ** 2 + (0.5 * c_2) ** 2))
    loss = LogitLoss(world.metric)
    halves = [
        loss.smoothed_mean(c_w * w + (c_1 - c_2) * z1 + c_2 * (1 + sign), sd) for sign in SIGNS
    ]
    return np.asarray(sum(halves)) / 2


def corners_a(world: CovariateComparison) -> Corners:
    """True corner means: W and the risk are the same in both domains."""
    w, weights = _w_nodes()
    before, after = (
        float(weights @ _mean_given_w(world, w, shift))
        for shift in (world.shift.source, world.shift.target)
    )
    return Corners(before, before, after, after)


def covariate_truth_a(world: CovariateComparison, subset: Subset) -> SubsetTruth:
    """True v_Z: {Z1} explains everything, since Z2 given Z1 does not change."""
    w, weights = _w_nodes()
    mu_00_w = _mean_given_w(world, w, world.shift.source)
    mu_10_w = _mean_given_w(world, w, world.shift.target)
    known = {(): mu_00_w, (1,): None}
    mu_s0_w = known.get(subset, mu_10_w)
    if mu_s0_w is None:
        mu_s0_w = _only_z2_shifted(world, w)
    return SubsetTruth(
        numerator=float(weights @ (mu_s0_w - mu_10_w) ** 2),
        denominator=float(weights @ (mu_10_w - mu_00_w) ** 2),
    )


def _only_z2_shifted(world: CovariateComparison, w: Array) -> Array:
    """E over target Z2 given W of the source mean loss given (W, Z2)."""
    nodes, weights = quadrature.normal_rule(0.15)
    total = np.zeros_like(w)
    for sign in SIGNS:
        centre = -(w + world.shift.target) + 1 + sign
        z2 = centre[:, None] + np.sqrt(VAR_Z2) * nodes
        rows = _source_mean_given_z2(world, np.repeat(w, len(nodes)), z2.ravel())
        total += rows.reshape(z2.shape) @ weights / 2
    return total


def _source_mean_given_z2(world: CovariateComparison, w: Array, z2: Array) -> Array:
    """E_0[l | W, Z2]: given the coin, Z1 is normal; the coin has its posterior."""
    c_w, c_1, c_2 = world.logit
    sd = abs(c_1) * float(np.sqrt(1 - 1 / VAR_Z2))
    loss = LogitLoss(world.metric)
    likelihood, value = [], []
    for sign in SIGNS:
        away = z2 - (1 + sign - (w + world.shift.source))
        z1 = w + world.shift.source - away / VAR_Z2
        likelihood.append(-(away**2) / (2 * VAR_Z2))
        value.append(loss.smoothed_mean(c_w * w + c_1 * z1 + c_2 * z2, sd))
    up = special.expit(likelihood[1] - likelihood[0])
    return np.asarray((1 - up) * value[0] + up * value[1])


def corners_b(world: OutcomeComparison) -> Corners:
    """True corner means: W and Z are the same in both domains."""
    t, u = _everything(world)
    prediction = special.expit(t)
    intercept, slope = metric_of(world.metric).coefficients(prediction, 0.5)
    before = float(np.mean(intercept + slope * prediction))
    after = float(np.mean(intercept + slope * special.expit(u)))
    return Corners(before, before, before, after)


def _everything(world: OutcomeComparison) -> tuple[Array, Array]:
    return _sums(world, range(len(world.logits.source)), 30, least=24)


def _denominator_b(world: OutcomeComparison) -> float:
    t, u = _everything(world)
    slope = metric_of(world.metric).coefficients(special.expit(t), 0.5)[1]
    return float(np.mean((slope * (special.expit(u) - special.expit(t))) ** 2))


@lru_cache(maxsize=256)
def outcome_truth_b(world: OutcomeComparison, subset: Subset, bins: int | None) -> SubsetTruth:
    """True v_Y(s)."""
    if bins is None:
        raise InputError(
            "The comparison world has no smooth outcome values", hint="Ask for bins=20."
        )
    if len(subset) == len(world.players):
        return SubsetTruth(0.0, _denominator_b(world))
    total, count = 0.0, 0
    for t, u, squared_slope in _blocks(world, subset):
        q, p_1 = special.expit(t), special.expit(u)
        index = np.floor(q * bins) if world.equal_bins else np.floor(q * bins + 0.5)
        m = _row_bin_means(p_1, index.astype(np.int64), bins + 1)
        total += float(np.sum(squared_slope * (p_1 - m) ** 2))
        count += t.size
    return SubsetTruth(total / count, _denominator_b(world))


def _row_bin_means(values: Array, index: Array, bins: int) -> Array:
    """Mean of `values` over the entries of the same row and bin, at every entry."""
    code = (np.arange(len(values))[:, None] * bins + index).ravel()
    total = np.bincount(code, weights=values.ravel())
    count = np.bincount(code)
    return np.asarray((total[code] / count[code]).reshape(values.shape))


def _blocks(world: OutcomeComparison, subset: Subset) -> Iterator[tuple[Array, Array, Array]]:
    """Blocks (known nodes, unknown nodes) of t, u and b^2, all nodes equally probable."""
    known = (0, *(p + 1 for p in subset))
    unknown = [j for j in range(len(world.logits.source)) if j not in known]
    base_t, base_u = _sums(world, known, 5, least=6)
    rest_t, rest_u = _sums(world, unknown, 14, least=14)
    step = max(1, 2_000_000 // len(rest_t))
    for start in range(0, len(base_t), step):
        t = base_t[start : start + step, None] + rest_t
        u = base_u[start : start + step, None] + rest_u
        slope = metric_of(world.metric).coefficients(special.expit(t.ravel()), 0.5)[1]
        yield t, u, slope.reshape(t.shape) ** 2


def _sums(
    world: OutcomeComparison, columns: Sequence[int], density: float, *, least: int
) -> tuple[Array, Array]:
    """What these columns add to (t, u): a tensor of nodes over the directions they span.

    `density` is the number of nodes per unit of t or u, `least` per direction.
    """
    t, u = np.zeros(1), np.zeros(1)
    for scales, (along_t, along_u) in _directions(world, columns):
        reach = world.half_width * sum(scales) * max(abs(along_t), abs(along_u))
        count = int(np.clip(np.ceil(density * reach), least, 120))
        nodes = world.half_width * _sum_of_uniforms(scales, count)
        t = (t[:, None] + along_t * nodes).ravel()
        u = (u[:, None] + along_u * nodes).ravel()
    return t, u


def _directions(
    world: OutcomeComparison, columns: Sequence[int]
) -> list[tuple[list[float], tuple[float, float]]]:
    """Columns grouped by the direction of (source, target) coefficients: scales and direction."""
    found: dict[tuple[float, float], list[float]] = {}
    for j in columns:
        pair = np.array([world.logits.source[j], world.logits.target[j]])
        length = float(np.hypot(*pair))
        unit = pair / length
        key = next((k for k in found if abs(k[0] * unit[1] - k[1] * unit[0]) < 1e-9), None)
        found.setdefault(key or (float(unit[0]), float(unit[1])), []).append(length)
    return [(scales, unit) for unit, scales in found.items()]


def _sum_of_uniforms(scales: Sequence[float], count: int) -> Array:
    """Equally probable nodes of sum_j scale_j U_j, U_j uniform on [-1, 1)."""
    size = count if len(scales) == 1 else 60
    middle = (np.arange(size) + 0.5) / size * 2 - 1
    total = np.zeros(1)
    for scale in scales:
        total = (total[:, None] + scale * middle).ravel()
    return np.array([part.mean() for part in np.array_split(np.sort(total), count)])
