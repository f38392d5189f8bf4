"""Tables that share only a region, truth known: some rows of either have nothing like them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from experiments.worlds.world import Corners, SubsetTruth, drawn_outcomes, model_design
from whygap._metrics import metric_of
from whygap.domains import DOMAINS, Array, ByDomain, Domain, Subset
from whygap.errors import InputError
from whygap.results.overlap import LIMITS
from whygap.tables.design import Column, Design

__all__ = ["PartlySharedWorld", "RegionCorners"]

SIDE = ByDomain(-1, 1)  # of the shared region, on which the rows of one table alone lie
MANY = 2_000_000  # rows behind the truth, whose error is then a fortieth of a standard error
ENOUGH = 50_000  # rows behind the difference of two regions, which is small
BINS = 200  # of W, for a mean given W
NAMES = ("W", "Z1", "Z2", "place")


@dataclass(frozen=True, slots=True)
class RegionCorners(Corners):
    """True corner means of a region, and those of the whole tables."""

    source_mean: float
    target_mean: float

    @property
    def left_behind(self) -> float:
        """The region's source rows less all source rows."""
        return self.mean_000 - self.source_mean

    @property
    def new_ground(self) -> float:
        """All target rows less the region's."""
        return self.target_mean - self.mean_111

    @property
    def gap(self) -> float:
        """Of the whole tables."""
        return self.target_mean - self.source_mean


@dataclass(frozen=True)
class PartlySharedWorld:
    """Two smooth laws on a shared region, and beside it rows of one table alone.

    W and Z move by half a standard deviation at most, so that every shared row could be of either
    table; beside the region the outcome is a coin.

    Attributes:
        left, new: shares of the source's and of the target's rows that lie beside it.
        far: standard deviations between the region's middle and the middle of what lies beside it.
    """

    metric: str = "accuracy"
    left: float = 0.15
    new: float = 0.25
    far: float = 8.0

    @property
    def players(self) -> tuple[str, ...]:
        """The covariates; the last says where a row lies."""
        return NAMES[1:]

    @property
    def alone(self) -> ByDomain[float]:
        """Shares of rows beside the region."""
        return ByDomain(self.left, self.new)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = ByDomain(*(self.rows(rows[d], d, rng) for d in DOMAINS))
        outcome = drawn_outcomes(ByDomain(*(self.risk(features[d], d) for d in DOMAINS)), rng)
        columns = tuple(Column(name, "numeric") for name in NAMES)
        return model_design(features, outcome, columns, _model, self.metric)

    def rows(self, count: int, domain: Domain, rng: np.random.Generator) -> Array:
        """W, Z1, Z2 and the place."""
        moved = domain == "target"
        w = rng.normal(0.4 * moved, 1, count)
        z1 = rng.normal(0.3 * w - 0.5 * moved, 1)
        z2 = rng.normal(0.3 * moved, 1, count)
        beside = rng.random(count) < self.alone[domain]
        return np.column_stack([w, z1, z2, rng.normal(SIDE[domain] * self.far * beside)])

    def risk(self, x: Array, domain: Domain) -> Array:
        """P(Y = 1 | x): the model is right in the shared source; beside it is a coin."""
        beside = self._beside(x, domain) / self._of_place(x, domain)
        return np.asarray(0.5 * beside + (1 - beside) * _shared_risk(x, domain))

    def _beside(self, x: Array, domain: Domain) -> Array:
        """Density of the place of rows of one table alone, but for a factor."""
        away = x[:, 3] - SIDE[domain] * self.far
        return np.asarray(self.alone[domain] * np.exp(-(away**2) / 2))

    def _of_place(self, x: Array, domain: Domain) -> Array:
        shared = (1 - self.alone[domain]) * np.exp(-(x[:, 3] ** 2) / 2)
        return np.asarray(shared + self._beside(x, domain))

    def shared(self, x: Array) -> NDArray[np.bool_]:
        """Where the true probability of either domain is 5% at least."""
        w, z1, z2 = x.T[:3]
        moved = 0.4 * (w - 0.2) - 0.5 * (z1 - 0.3 * w + 0.25) + 0.3 * (z2 - 0.15)
        ratio = np.exp(moved) * self._of_place(x, "target") / self._of_place(x, "source")
        return np.asarray(np.abs(ratio / (1 + ratio) - 0.5) < 0.5 - LIMITS.probability)

    def corners(self) -> RegionCorners:
        """True means: of the shared region, and of the whole tables."""
        return _true_corners(self)

    def corners_within(self, holds: Callable[[Array], NDArray[np.bool_]]) -> RegionCorners:
        """The same of another region: how it differs is seen on fewer rows."""
        x = ByDomain(*(self.rows(ENOUGH, d, np.random.default_rng(ENOUGH)) for d in DOMAINS))
        other, own = (_means(self, x, x.map(where)) for where in (holds, self.shared))
        known = self.corners()
        inner = (known.mean_000, known.mean_100, known.mean_110, known.mean_111)
        moved = (k + o - s for k, o, s in zip(inner, other[:4], own[:4], strict=True))
        return RegionCorners(*moved, known.source_mean, known.target_mean)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """Not worked out."""
        raise InputError("The shares of this world are not known", got=subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """Not worked out."""
        raise InputError("The shares of this world are not known", got=(subset, bins))


def _model(x: Array) -> Array:
    return 1 / (1 + np.exp(-(0.8 * x[:, 0] + 1.2 * x[:, 1] - 0.6 * x[:, 2] + 0.8)))


def _shared_risk(x: Array, domain: Domain) -> Array:
    """The model is right in the source; in the target Z2 no longer matters, and Z1 less."""
    if domain == "source":
        return _model(x)
    return 1 / (1 + np.exp(-(0.8 * x[:, 0] + 0.5 * x[:, 1] + 0.4)))


@cache
def _true_corners(world: PartlySharedWorld) -> RegionCorners:
    x = ByDomain(*(world.rows(MANY, d, np.random.default_rng(MANY)) for d in DOMAINS))
    return RegionCorners(*_means(world, x, x.map(world.shared)))


def _means(
    world: PartlySharedWorld, x: ByDomain[Array], inside: ByDomain[NDArray[np.bool_]]
) -> tuple[float, ...]:
    """Four corners and two whole means; of the outcome only its mean is needed, and is known."""

    def metric(rows: Array, domain: Domain) -> Array:
        intercept, slope = metric_of(world.metric).coefficients(_model(rows), 0.5)
        return np.asarray(intercept + slope * world.risk(rows, domain))

    plain = ByDomain(*(metric(x[d], d) for d in DOMAINS))
    start, end = (plain[d][inside[d]] for d in DOMAINS)
    inner = x.zip(inside, lambda rows, held: rows[held])
    return (
        float(start.mean()),
        _given_w(start, inner.map(lambda rows: rows[:, 0])),
        float(metric(inner.target, "source").mean()),
        float(end.mean()),
        float(plain.source.mean()),
        float(plain.target.mean()),
    )


def _given_w(values: Array, w: ByDomain[Array]) -> float:
    """Mean over the target's W of the mean given W in the source, in narrow bins of W."""
    cuts = np.quantile(np.concatenate(list(w)), np.linspace(0, 1, BINS + 1)[1:-1])
    place = w.map(lambda one: np.searchsorted(cuts, one))
    total, rows = np.bincount(place.source, values), np.bincount(place.source)
    return float(np.mean((total / rows)[place.target]))
