"""Truths of the latent world: sums over a fine grid of (t, y*).

Followed are the metric T of each distribution, and derivatives of T along lines between corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from experiments.worlds.answers import Above, GroupTruth, PointsTruth, own_players, points_from
from experiments.worlds.latent import (
    BASELINE,
    COEFFICIENTS,
    CUTS,
    LAWS,
    MODEL,
    NAMES,
    LatentWorld,
    Law,
    moved,
)
from whygap._metrics.pairs import pair_means
from whygap.domains import Array, Domain
from whygap.tables.design import Column

__all__ = ["LatentAnswers", "normal_cells"]

NODES = 561  # of t and of y* each: halving their number moves no truth by more than a few 1e-5
REACH = 6.5  # standard deviations of the widest distribution, to either side


@dataclass(frozen=True)
class LatentAnswers:
    """Truths of the latent world, on a grid of (t, y*)."""

    world: LatentWorld

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Nodes of t and of y*; cuts of the outcome lie halfway between two nodes."""
        laws = [
            _of_pair(LAWS[d], risk) for d in ("source", "target") for risk in ("source", "target")
        ]
        low = np.min([m - REACH * np.sqrt(np.diag(v)) for m, v in laws], axis=0)
        high = np.max([m + REACH * np.sqrt(np.diag(v)) for m, v in laws], axis=0)
        t, y = (np.linspace(a, b, NODES) for a, b in zip(low, high, strict=True))
        cuts = CUTS[self.world.task]
        if len(cuts) == 2:  # as wide as makes both cuts fall between nodes
            step = (cuts[1] - cuts[0]) / max(round((cuts[1] - cuts[0]) / (y[1] - y[0])), 1)
            y = y[0] + step * np.arange(NODES)
        if cuts:
            step = y[1] - y[0]
            y = y + (cuts[0] - y[0]) % step - step / 2
            step = t[1] - t[0]  # the label of two values changes there, too
            t = t + (cuts[0] - t[0]) % step - step / 2
        return t, y

    @cached_property
    def terms(self) -> Array:
        """The metric's terms at every cell, (K, cells of t, cells of y*)."""
        t, y = self.axes
        shown, outcome = self.world.shown(t), self.world.outcome(y)
        metric = self.world.given_metric
        rows = [metric.per_row(shown, np.full(len(t), value)) for value in np.unique(outcome)]
        at = np.unique(outcome, return_inverse=True)[1]
        return np.stack([rows[k] for k in at], axis=2)

    def mass(self, law: Law, risk: Domain, above: Above | None = None) -> Array:
        """Of every cell, (t, y*); of the rows above a cut, where one is given."""
        mean, cov = _of_pair(law, risk)
        t, y = self.axes
        mass = normal_cells(t, y, mean, cov)
        if above is None:
            return mass
        if above.column is None:
            score = special.ndtr(t - CUTS["binary"][0]) if self.world.task == "binary" else t
            return mass * (score > above.cut)[:, None]
        cells = _cells(t, y) - mean
        with_pair = _covariance_with_pair(law, risk)[above.column] @ np.linalg.inv(cov)
        left = law.cov[above.column, above.column] - with_pair @ cov @ with_pair
        inside = (law.mean[above.column] + cells @ with_pair - above.cut) / np.sqrt(left)
        return np.asarray(mass * special.ndtr(inside))

    def corner(self, name: str) -> Array:
        """The distribution of (t, y*) at a corner."""
        if name == "110" and self.reversed:
            return self.after(BASELINE)
        columns = {"000": (), "100": BASELINE}.get(name, tuple(range(5)))
        return self.mass(moved(columns), "target" if name == "111" else "source")

    @property
    def reversed(self) -> bool:
        """Whether the outcome comes before the covariates."""
        return self.world.order == "outcome first"

    def after(self, columns: Sequence[int]) -> Array:
        """The distribution of (t, y*) when these columns have moved; the outcome, where first."""
        if not self.reversed:
            return self.mass(moved(columns), "source")
        from experiments.worlds.latent_reversed import reversed_mass

        return reversed_mass(self, columns)

    def means(self, mass: Array) -> Array:
        """What the metric is a function of."""
        metric = self.world.given_metric
        terms = self.terms.reshape(len(self.terms), -1)
        if metric.pairs:
            return pair_means(terms, mass.ravel())
        return np.asarray(terms @ mass.ravel())

    def value(self, mass: Array) -> float:
        """The metric of a distribution."""
        return float(self.world.given_metric.of(self.means(mass)))

    def along(self, start: str, end: str, difference: Array) -> float:
        """The mean of a step's l under a difference of distributions."""
        first, last = self.corner(start), self.corner(end)
        nodes, weights = np.polynomial.legendre.leggauss(5)
        metric, total, step = self.world.given_metric, 0.0, 0.05
        for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            here = (1 - node) * first + node * last
            at = self.means(here)
            # Means are at most quadratic in the distribution: central differences are exact.
            up, down = (self._unscaled(here + s * difference) for s in (step, -step))
            total += float(weight * metric.gradient(at) @ (up - down) / (2 * step))
        return total

    def _unscaled(self, mass: Array) -> Array:
        """`means` of a mass that need not sum to 1, as polynomials of the mass."""
        if not self.world.given_metric.pairs:
            return self.means(mass)
        (label, score), rows = self.terms.reshape(2, -1), mass.ravel()
        place = np.unique(score, return_inverse=True)[1]
        here, positive = np.bincount(place, rows), np.bincount(place, rows * label)
        return np.array([positive.sum(), positive @ (np.cumsum(here) - here / 2)])

    def transported_mean(self, columns: Sequence[int]) -> float:
        """The metric after these columns moved, by the line of the step they belong to."""
        chosen = tuple(sorted(columns))
        if not set(chosen) > set(BASELINE):
            return self._by_line("000", "100", self.mass(moved(chosen), "source"))
        return self._by_line(*self.covariate_step, self.after(chosen))

    @property
    def covariate_step(self) -> tuple[str, str]:
        """The corners between which the covariates move."""
        return ("110", "111") if self.reversed else ("100", "110")

    def _by_line(self, start: str, end: str, reached: Array) -> float:
        first = self.corner(start)
        return self.value(first) + self.along(start, end, reached - first)

    def points(self) -> PointsTruth:
        """Shapley points of both games."""
        columns = tuple(Column(name, "numeric") for name in NAMES)
        baseline = own_players(columns, BASELINE)
        covariate = own_players(columns, range(len(BASELINE), 5))
        start = self.value(self.corner(self.covariate_step[0]))
        return PointsTruth(
            points_from(self.transported_mean, baseline, ()).baseline,
            points_from(
                lambda chosen: self.transported_mean((*BASELINE, *chosen)) if chosen else start,
                covariate,
                (),
            ).baseline,
        )

    def group(self, group: Above) -> GroupTruth:
        """What a group contributes to the outcome part."""
        law = LAWS.target
        after, before = (self.mass(law, risk, group) for risk in ("target", "source"))
        share = float(after.sum())
        return GroupTruth(self.along("110", "111", after - before), share)


def _cells(t: Array, y: Array) -> Array:
    return np.stack(np.meshgrid(t, y, indexing="ij"), axis=-1)


def normal_cells(t: Array, y: Array, mean: Array, cov: Array) -> Array:
    """Mass of every cell of a normal pair."""
    cells = _cells(t, y) - mean
    density = np.exp(-0.5 * np.einsum("...i,ij,...j->...", cells, np.linalg.inv(cov), cells))
    return np.asarray(density / density.sum())


def _of_pair(law: Law, risk: Domain) -> tuple[Array, Array]:
    """Mean and covariance of (t, y*)."""
    rows = np.stack([MODEL, COEFFICIENTS[risk]])
    return rows @ law.mean, rows @ law.cov @ rows.T + np.diag([0.0, 1.0])


def _covariance_with_pair(law: Law, risk: Domain) -> Array:
    rows = np.stack([MODEL, COEFFICIENTS[risk]])
    return np.asarray(law.cov @ rows.T)
