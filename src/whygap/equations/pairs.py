"""Metrics of pairs of rows: the area under the ROC curve, of one outcome or class by class.

With k(u, v) = 1{u > v} + 1/2 1{u = v}, R(t) = E k(t, f), U(t) = E[y k(f, t)], rho = E y and
kappa = E[y R(f)], AUC = (kappa - rho^2 / 2) / (rho (1 - rho)). kappa is quadratic in the
distribution: its first-order change is the mean of v = y R(f) + U(f). So

    corner    kappa_P = mean_P[v_P] - kappa(fit),  v_P from the corner's own rows;
    line      l = int g_rho dt y + w_P v_P + w_P' v_P',
              w_P = int (1 - t) g_kappa dt,  w_P' = int t g_kappa dt

along the mixture (1 - t) P + t P', where kappa has a third coordinate, the cross term
E_P[v_P']. Ranks are estimated, too; their part of the slack is w_c (mean_c - fit_c)[D[y k(f, .)] +
y D[k(., f)]] for c = P, P'. Not in the paper. Everything is O(n) once scores are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain, IntArray
from whygap.equations.corners import mean_at, plain_means
from whygap.equations.lines import (
    NODES,
    WEIGHTS,
    CornerName,
    Gradient,
    Line,
    Of,
    SlopeSlack,
    Term,
    combined_term,
    jacobian,
    smooth,
    values_of,
)
from whygap.equations.where import Group
from whygap.estimate import Estimate, Sample


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Scores of all rows by their places on one sorted grid."""

    places: ByDomain[IntArray]
    size: int

    @classmethod
    def of(cls, score: ByDomain[Array]) -> Grid:
        """The distinct scores of both tables."""
        levels, place = np.unique(np.concatenate(list(score)), return_inverse=True)
        source, target = np.split(place, [len(score.source)])
        return cls(ByDomain(source, target), len(levels))


@dataclass(frozen=True, slots=True, eq=False)
class PairValues:
    """One score and one 0/1 label at the evaluated rows; `places` are scores on a common grid.

    `basis` (functions, rows) are functions of W; what is not fitted given W is projected on them.
    """

    sample: Sample
    label: ByDomain[Array]
    # E_0[label | W, Z]; None where W and the outcome have moved at the corner 110: then it is made
    # of source rows weighted by `pi_wz`, which is the ratio of these
    p_0: ByDomain[Array] | None
    places: ByDomain[IntArray]
    size: int  # of the grid
    pi_w: Array
    pi_wz: Array
    basis: ByDomain[Array]
    basis_110: ByDomain[Array] | None = None  # likewise, of W and the outcome, where p_0 is None

    def weights_of(self, corner: CornerName) -> Array | None:
        """Of the source rows, where a corner is made of these with weights."""
        if corner == "110" and self.p_0 is None:
            return self.pi_wz
        return self.pi_w if corner == "100" else None

    def known_p_0(self) -> ByDomain[Array]:
        """Where the outcome comes last."""
        if self.p_0 is None:
            raise TypeError("labels are given at the corner 110")
        return self.p_0


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A corner as masses on the grid: of all rows, and of those with label 1."""

    mass: Array
    positive: Array

    @property
    def rank(self) -> Array:
        """R: the mass below each place, ties half."""
        return below(self.mass)

    @property
    def above(self) -> Array:
        """U: the positive mass above each place, ties half."""
        return np.asarray(self.positive.sum() - below(self.positive))

    def mean(self, intercept: Array, slope: Array) -> float:
        """Of intercept + slope * label, functions on the grid."""
        return float(self.mass @ intercept + self.positive @ slope)

    @property
    def kappa(self) -> float:
        """E[y R(f)]."""
        return float(self.positive @ self.rank)


def below(mass: Array) -> Array:
    """The mass below each place of the grid, ties half."""
    return np.asarray(np.cumsum(mass) - mass / 2)


def fitted(values: PairValues, corner: CornerName) -> Fitted:
    """Source or target rows as they are; target rows with p_0; source rows weighted by pi_w."""
    weights = values.weights_of(corner)
    domain: Domain = "source" if corner == "000" or weights is not None else "target"
    mass = values.sample.weights[domain]
    if weights is not None:
        mass = mass * weights
    mass = mass / mass.sum()
    expected = corner == "110" and weights is None
    label = values.known_p_0().target if expected else values.label[domain]
    place, size = values.places[domain], values.size
    return Fitted(summed(place, mass, size), summed(place, mass * label, size))


def summed(place: IntArray, mass: Array, size: int) -> Array:
    """Masses of rows, on the grid."""
    return np.bincount(place, mass, size).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """What is known of one label and score: y and the v of every corner, as terms."""

    values: PairValues
    fits: Mapping[CornerName, Fitted]
    label: Term
    v: Mapping[CornerName, Term]
    places: ByDomain[IntArray]  # at all rows

    def rho(self, corner: CornerName) -> Estimate:
        """E y at a corner."""
        return mean_at(self.label.values, corner)

    def kappa(self, corner: CornerName) -> Estimate:
        """E[y R(f)] at a corner, debiased."""
        return mean_at(self.v[corner].values, corner) - self.fits[corner].kappa

    def crossed(self, start: CornerName, end: CornerName) -> Estimate:
        """E_P[v_P'] = E_P'[v_P], debiased: the middle coordinate of kappa along the mixture."""
        there = self.fits[end]
        fit = self.fits[start].mean(there.above, there.rank)
        means = mean_at(self.v[end].values, start), mean_at(self.v[start].values, end)
        return means[0] + means[1] - fit


def pair_corner(pairs: Sequence[Pair], corner: CornerName, of: Of, gradient: Gradient) -> Estimate:
    """The metric at a corner: g of all rho, then all kappa."""
    means = [pair.rho(corner) for pair in pairs] + [pair.kappa(corner) for pair in pairs]
    return smooth(means, of, gradient)


def pair_line(
    pairs: Sequence[Pair], start: CornerName, end: CornerName, of: Of, gradient: Gradient
) -> Line:
    """The step between two corners. Terms are, for every pair, y, v_P and v_P'."""
    coordinates = tuple(e for pair in pairs for e in _coordinates(pair, start, end))
    slopes = _slopes(len(pairs), gradient)
    gamma = slopes(values_of(coordinates))
    terms = tuple(one for p in pairs for one in (p.label, p.v[start], p.v[end]))
    term = combined_term(gamma, terms)
    slope = SlopeSlack(terms, coordinates, jacobian(slopes, coordinates))
    ranks = RankSlack(tuple(pairs), (start, end), gamma.reshape(-1, 3)[:, 1:])
    return Line(
        pair_corner(pairs, start, of, gradient),
        pair_corner(pairs, end, of, gradient),
        mean_at(term.values, start),
        term,
        (slope, ranks),
    )


def _coordinates(pair: Pair, start: CornerName, end: CornerName) -> list[Estimate]:
    rho = [pair.rho(start), pair.rho(end)]
    return [*rho, pair.kappa(start), pair.crossed(start, end), pair.kappa(end)]


def _slopes(count: int, gradient: Gradient) -> Callable[[Array], Array]:
    """From five coordinates of every pair to the slopes of its three terms."""

    def slopes(at: Array) -> Array:
        rho_p, rho_q, kappa_p, crossed, kappa_q = at.reshape(count, 5).T
        total = np.zeros((count, 3))
        for t, weight in zip(NODES, WEIGHTS, strict=True):
            rho = (1 - t) * rho_p + t * rho_q
            kappa = (1 - t) ** 2 * kappa_p + t * (1 - t) * crossed + t**2 * kappa_q
            g_rho, g_kappa = np.split(gradient(np.concatenate([rho, kappa])), 2)
            total += weight * np.stack([g_rho, (1 - t) * g_kappa, t * g_kappa], axis=1)
        return total.ravel()

    return slopes


@dataclass(frozen=True, slots=True, eq=False)
class RankSlack:
    """What estimated ranks add to D[l]."""

    pairs: tuple[Pair, ...]
    ends: tuple[CornerName, CornerName]
    weights: Array  # (pairs, 2): w_P and w_P'

    def of_rows(self, weight: Array) -> Estimate:
        """D has these signed weights on the source rows, at their own labels."""
        values = self.pairs[0].values
        rows = weight * values.sample.weights.source / len(weight)
        found = []
        for pair in self.pairs:
            place, size = pair.values.places.source, pair.values.size
            positive = summed(place, rows * pair.values.label.source, size)
            found.append(Fitted(summed(place, rows, size), positive))
        return self._moved(found)

    def of_group(self, group: Group) -> Estimate:
        """D = P_111 - P_110 within a group: it moves labels, not rows."""
        found = []
        for pair in self.pairs:
            values, total = pair.values, np.zeros(pair.values.size)
            residual = values.label.zip(values.known_p_0(), np.subtract).zip(group, np.multiply)
            residual = ByDomain(-values.pi_wz * residual.source, residual.target)
            for d in DOMAINS:
                rows = residual[d] * values.sample.weights[d] / len(residual[d])
                total = total + summed(values.places[d], rows, values.size)
            found.append(Fitted(np.zeros(values.size), total))
        return self._moved(found)

    def of_slope(self, mass: Array) -> Estimate:
        """The slope of l is made of target ranks; of one label and score."""
        (pair,) = self.pairs
        size = pair.values.size
        return self._moved([Fitted(np.zeros(size), summed(pair.places.target, mass, size))])

    def _moved(self, differences: Sequence[Fitted]) -> Estimate:
        parts = [
            corner_error(pair, corner, difference.above, difference.rank) * float(weight)
            for pair, difference, weights in zip(self.pairs, differences, self.weights, strict=True)
            for corner, weight in zip(self.ends, weights, strict=True)
        ]
        return sum(parts[1:], parts[0])


def corner_error(pair: Pair, corner: CornerName, intercept: Array, slope: Array) -> Estimate:
    """(mean_c - fit_c)[intercept + slope * label], functions on the grid; mean_c is debiased."""
    values = pair.values
    a, b = values.places.map(intercept.__getitem__), values.places.map(slope.__getitem__)
    at_label = a.zip(b.zip(values.label, np.multiply), np.add)
    source, target = (np.zeros_like(one) for one in at_label)
    weights = values.weights_of(corner)
    if weights is not None:
        basis = values.basis if corner == "100" else values.basis_110 or values.basis
        given = _projected(values.sample, basis, at_label.source)
        source, target = (at_label.source - given.source) * weights, given.target
    elif corner == "110":
        p_0 = values.known_p_0()
        source = values.pi_wz * b.source * (values.label.source - p_0.source)
        target = a.target + b.target * p_0.target
    elif corner == "000":
        source = at_label.source
    else:
        target = at_label.target
    fit = pair.fits[corner].mean(intercept, slope)
    mean = Estimate.from_contributions(values.sample, source=source, target=target, plugin=fit)
    return mean - fit


def _projected(sample: Sample, basis: ByDomain[Array], per_row: Array) -> ByDomain[Array]:
    """E_0[. | W] within the span of the basis, by least squares over source rows."""
    root = np.sqrt(sample.weights.source)
    factors = np.linalg.lstsq((basis.source * root).T, per_row * root, rcond=None)[0]
    return basis.map(lambda functions: factors @ functions)


def plain_pair_means(sample: Sample, terms: Sequence[ByDomain[Array]]) -> list[ByDomain[Estimate]]:
    """All rho, then all kappa, of each table; terms are labels, then scores."""
    labels, scores = terms[: len(terms) // 2], terms[len(terms) // 2 :]
    kappas = []
    for label, score in zip(labels, scores, strict=True):
        grid = Grid.of(score)
        fits = ByDomain(*(_plain(sample, label, grid, d) for d in DOMAINS))
        v = ByDomain(*(at_rows(fits[d], grid.places[d], label[d]) for d in DOMAINS))
        kappas.append(plain_means(sample, v).zip(fits, lambda mean, fit: mean - fit.kappa))
    return [plain_means(sample, label) for label in labels] + kappas


def _plain(sample: Sample, label: ByDomain[Array], grid: Grid, domain: Domain) -> Fitted:
    mass = sample.weights[domain] / sample.weights[domain].sum()
    place = grid.places[domain]
    return Fitted(summed(place, mass, grid.size), summed(place, mass * label[domain], grid.size))


def at_rows(fit: Fitted, place: IntArray, label: Array) -> Array:
    """V = U(f) + R(f) y at some rows, with a corner's ranks."""
    return fit.above[place] + fit.rank[place] * label
