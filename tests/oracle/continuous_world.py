"""A continuous world on the unit cube, by quadrature, in which the source risk can be moved.

Coordinates (z1, v, z3), z1 known to the subset. The source risk q depends on z1 and v and rises
in v; it is moved to q + epsilon * bump, where the bump vanishes at v = 0 and v = 1, so that the
range of q stays the same.
"""

from dataclasses import dataclass

import numpy as np
from oracle_inputs import doubled
from scipy.special import expit

from whygap.domains import Array, ByDomain
from whygap.equations import binning, outcome_value
from whygap.equations.outcome_value import (
    OutcomeValues,
    Reduced,
    RiskSlope,
    binned_slope,
)
from whygap.estimate import Estimate, Sample


def legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(order)
    return (x + 1) / 2, w / 2


def q(z1: Array, v: Array) -> Array:
    return expit(-2.2 + 0.8 * z1 + 3.4 * v)


def dq_dv(z1: Array, v: Array) -> Array:
    return 3.4 * q(z1, v) * (1 - q(z1, v))


def bump(z1: Array, v: Array, z3: Array) -> Array:
    return v**2 * (1 - v) ** 2 * (1 + np.sin(2 * z1 + z3) + 2 * v * z3)


def p_1(z1: Array, v: Array, z3: Array) -> Array:
    return expit(1 - 2 * z1 + 2.5 * np.sin(2 * v) * z3 - z3)


def target_density(z1: Array, v: Array, z3: Array) -> Array:
    return 1 + 0.8 * (z1 - 0.5) * (v - 0.5) + 0.6 * (v - 0.5) * (z3 - 0.5)


def source_density(z1: Array, v: Array, z3: Array) -> Array:
    return 1 + 0.9 * (v - 0.5) - 0.5 * (z1 - 0.5) * (z3 - 0.5)


@dataclass(frozen=True)
class Continuous:
    """Quadrature nodes of the world with q moved by epsilon; `slope` is b(x)."""

    constant_slope: bool
    epsilon: float = 0.0

    def slope(self, z1: Array, v: Array, z3: Array) -> Array:
        if self.constant_slope:
            return np.where(v > 0.4, 1.0, -1.0) * np.ones_like(z1 + v + z3)
        return 1 + 0.5 * z1 - 1.2 * v + 0.8 * z3

    def moved(self, z1: Array, v: Array, z3: Array) -> Array:
        return q(z1, v) + self.epsilon * bump(z1, v, z3)

    def rise(self, z1: Array, v: Array, z3: Array, step: float = 1e-6) -> Array:
        """Of the moved risk with v."""
        above, below = self.moved(z1, v + step, z3), self.moved(z1, v - step, z3)
        return (above - below) / (2 * step)

    def level(self, z1: Array, z3: Array, risk: Array) -> Array:
        """The v at which the moved risk takes a value, by bisection."""
        low = np.zeros(np.broadcast_shapes(z1.shape, z3.shape, np.shape(risk)))
        high = np.ones_like(low)
        for _ in range(54):
            middle = (low + high) / 2
            below = self.moved(z1, middle, z3) < risk
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


@dataclass(frozen=True)
class Nodes:
    """Points (z1, v, z3), their volume, and the bin of the moved risk."""

    z1: Array
    v: Array
    z3: Array
    volume: Array
    bin: Array

    @property
    def point(self) -> tuple[Array, Array, Array]:
        return self.z1, self.v, self.z3


def binned_nodes(world: Continuous, bins: int, order: int = 6) -> Nodes:
    """Axes (z1, z3, cell, node): cells end at bin edges and bin centres of the moved risk."""
    x, w = legendre(order)
    x1, w1 = legendre(10)
    z1, z3 = x1[:, None, None], x1[None, :, None]
    cuts = world.level(z1, z3, np.arange(1, 2 * bins) / (2 * bins))
    shape = cuts.shape[:2]
    ends = np.concatenate([np.zeros((*shape, 1)), cuts, np.ones((*shape, 1))], axis=-1)
    length = np.diff(ends)[..., None]
    v = ends[..., :-1, None] + length * x
    volume = w1[:, None, None, None] * w1[None, :, None, None] * length * w
    bin_number = ((np.arange(2 * bins) + 1) // 2)[:, None] * np.ones_like(v)
    ones = np.ones_like(v)
    return Nodes(z1[..., None] * ones, v, z3[..., None] * ones, volume, bin_number.astype(int))


def bin_average(nodes: Nodes, values: Array, bins: int) -> Array:
    """(z1, bins + 1): target mean given (z1, bin); bins out of reach repeat the nearest one."""
    weight = nodes.volume * target_density(*nodes.point)
    table = np.zeros((len(values), bins + 1))
    for row in range(len(values)):
        total, sums = (
            np.bincount(nodes.bin[row].ravel(), w[row].ravel(), bins + 1)
            for w in (weight, weight * values)
        )
        reached = np.flatnonzero(total > 1e-14)
        table[row, reached] = sums[reached] / total[reached]
        table[row, : reached[0]] = table[row, reached[0]]
        table[row, reached[-1] + 1 :] = table[row, reached[-1]]
    return table


def at(table: Array, number: Array) -> Array:
    """Look up (z1, bin) for nodes with axes (z1, ...)."""
    rows = np.arange(len(table)).reshape(-1, 1, 1, 1)
    return table[rows, number]


def binned_numerator(world: Continuous, bins: int) -> float:
    """E_1[b^2 (p_1 - m)^2] with bins of the moved risk."""
    nodes = binned_nodes(world, bins)
    p = p_1(*nodes.point)
    m = at(bin_average(nodes, p, bins), nodes.bin)
    weight = nodes.volume * target_density(*nodes.point)
    return float(np.sum(weight * world.slope(*nodes.point) ** 2 * (p - m) ** 2))


def edge_derivative(world: Continuous, m: Array, h: Array, bins: int) -> float:
    """Exact: sum over edges of density at the edge, change of value across it, and the bump."""
    x, w = legendre(10)
    z1, z3 = x[:, None, None], x[None, :, None]
    v = world.level(z1, z3, (np.arange(bins) + 0.5) / bins)
    point = (z1 * np.ones_like(v), v, z3 * np.ones_like(v))
    inside = (v > 1e-9) & (v < 1 - 1e-9)
    density = inside * target_density(*point) / dq_dv(point[0], v)
    gap_up, gap_down = p_1(*point) - m[:, None, 1:], p_1(*point) - m[:, None, :-1]
    jump = world.slope(*point) ** 2 * (gap_up**2 - gap_down**2)
    jump -= 2 * (h[:, None, 1:] * gap_up - h[:, None, :-1] * gap_down)
    volume = w[:, None, None] * w[None, :, None]
    return float(np.sum(volume * density * jump * bump(*point)))


def equation(world: Continuous, nodes: Nodes, residual: Array, *reduced: Reduced) -> Estimate:
    """`outcome_value.numerator` on the nodes; outcomes are replaced by their means.

    The residual of the source risk may be that of both twins, (2, nodes).
    """
    flat = ByDomain(nodes.volume * source_density(*nodes.point), nodes.volume)
    weights = ByDomain(flat.source.ravel(), (flat.target * target_density(*nodes.point)).ravel())
    p = p_1(*nodes.point).ravel()
    slope = world.slope(*nodes.point).ravel()
    ratio = target_density(*nodes.point) / source_density(*nodes.point)
    values = OutcomeValues(
        sample=Sample.of(weights.map(len), weights),
        outcome=ByDomain(p, p),
        slope=ByDomain(slope, slope),
        pi_wz=ratio.ravel(),
        p_0=ByDomain(doubled(p) - residual.reshape(-1, len(p)), doubled(p)),
        p_1=ByDomain(doubled(p), doubled(p)),
    )
    return outcome_value.numerator(values, *reduced)


def binned_reduced(
    tables: tuple[Array, Array], nodes: Nodes, risk: Array, bins: int, *, term: bool
) -> Reduced:
    """m and h at the nodes' bins, and on both sides of the nearest edge."""
    m, h = tables
    down = binning.edge_index(risk, bins).astype(int)
    sides = [doubled(at(table, down + k).ravel()) for table in (m, h) for k in (1, 0)]
    return Reduced(
        m=doubled(at(m, nodes.bin).ravel()),
        h=doubled(at(h, nodes.bin).ravel()),
        risk=binned_slope(bins, *sides) if term else None,
    )


def smooth_nodes(world: Continuous) -> tuple[Nodes, Array]:
    """Axes (z1, level, z3): levels c of the moved risk; volume has 1 / (dq/dv). And the levels."""
    x1, w1 = legendre(10)
    x, w = legendre(40)
    z1, z3 = x1[:, None, None], x1[None, None, :]
    low, high = q(z1, np.zeros(1)), q(z1, np.ones(1))
    level = low + (high - low) * x[None, :, None]
    v = world.level(z1, z3, level)
    volume = w1[:, None, None] * w1[None, None, :] * (high - low) * w[None, :, None]
    volume = volume / world.rise(z1, v, z3)
    ones = np.ones_like(v)
    return Nodes(z1 * ones, v, z3 * ones, volume, np.zeros(v.shape, dtype=int)), level * ones


def level_average(nodes: Nodes, values: Array) -> Array:
    """Target mean given (z1, level), at the nodes."""
    weight = nodes.volume * target_density(*nodes.point)
    mean = (weight * values).sum(-1, keepdims=True) / weight.sum(-1, keepdims=True)
    return mean * np.ones_like(values)


def smooth_functions(world: Continuous, z1: Array, level: Array) -> tuple[Array, Array]:
    """m and h as functions of z1 and the moved risk."""
    x, w = legendre(10)
    v, z3 = world.level(z1[..., None], x, level[..., None]), x
    point = (z1[..., None] * np.ones_like(v), v, z3 * np.ones_like(v))
    weight = w * target_density(*point) / world.rise(*point)
    total = weight.sum(-1)
    m = (weight * p_1(*point)).sum(-1) / total
    residual = world.slope(*point) ** 2 * (p_1(*point) - m[..., None])
    return m, (weight * residual).sum(-1) / total


def smooth_numerator(world: Continuous) -> float:
    """E_1[b^2 (p_1 - m)^2] with m = E_1[p_1 | z1, moved risk]."""
    nodes, _ = smooth_nodes(world)
    p = p_1(*nodes.point)
    weight = nodes.volume * target_density(*nodes.point)
    spread = world.slope(*nodes.point) ** 2 * (p - level_average(nodes, p)) ** 2
    return float(np.sum(weight * spread))


def smooth_reduced(world: Continuous, nodes: Nodes, level: Array) -> Reduced:
    """m, h and their derivatives in q at the nodes."""
    step = 1e-4
    m, h = smooth_functions(world, nodes.z1, level)
    above, below = (smooth_functions(world, nodes.z1, level + s) for s in (step, -step))
    dm, dh = (doubled((a - b).ravel() / (2 * step)) for a, b in zip(above, below, strict=True))
    m, h = doubled(m.ravel()), doubled(h.ravel())
    return Reduced(m, h, RiskSlope(m, h, dm, dh))


def smooth_twins(worlds: tuple[Continuous, Continuous], nodes: Nodes, seen: Continuous) -> Reduced:
    """Twins of m and h, each with its own moved risk, at the risk of one of them."""
    risk, step = seen.moved(*nodes.point), 1e-4
    at_risk = [
        [smooth_functions(world, nodes.z1, risk + k * step) for world in worlds] for k in (-1, 0, 1)
    ]
    below, here, above = np.array(at_risk).reshape(3, 2, 2, -1).swapaxes(1, 2)
    m, h = here[:, None]
    slope = (above - below)[:, None] / (2 * step)
    return Reduced(m, h, RiskSlope(m, h, *slope))
