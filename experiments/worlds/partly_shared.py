"""Tables that share only a region, truth known: some rows of either have nothing like them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from whygap._metrics import metric_of
from whygap.domains import Array, ByDomain, Domain, Subset
from whygap.errors import InputError
from whygap.simulate.world import Corners, SubsetTruth, drawn_outcomes, model_design
from whygap.tables.design import Column, Design

__all__ = ["ALONE", "PartlySharedWorld", "RegionCorners"]

ALONE = ByDomain(0.15, 0.25)  # shares of the rows that the other table has nothing like
FAR = 8.0  # standard deviations between the shared region and what lies beside it
ENOUGH = 2_000_000  # rows behind the truth, whose error is then a fiftieth of a standard error's
NAMES = ("W", "Z1", "Z2", "place")


@dataclass(frozen=True, slots=True)
class RegionCorners(Corners):
    """True corner means of the region, and those of the whole tables."""

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
    """

    metric: str = "accuracy"

    @property
    def players(self) -> tuple[str, ...]:
        """The covariates; the last says where a row lies."""
        return NAMES[1:]

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features, risks = [], []
        sides: tuple[tuple[Domain, int], ...] = (("source", -1), ("target", 1))
        for domain, side in sides:
            count = rows[domain]
            shared = _covariates(_baseline(count, domain, rng), domain, rng)
            outside = rng.random(count) < ALONE[domain]
            place = rng.normal(side * FAR * outside)
            features.append(np.column_stack([shared, place]))
            risks.append(np.where(outside, 0.5, _risk(shared, domain)))
        outcome = drawn_outcomes(ByDomain(*risks), rng)
        columns = tuple(Column(name, "numeric") for name in NAMES)
        return model_design(ByDomain(*features), outcome, columns, _model, self.metric)

    def corners(self) -> RegionCorners:
        """True means: of the region, and of the whole tables."""
        return _corners(self.metric)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """Not worked out."""
        raise InputError("The shares of this world are not known", got=subset)

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """Not worked out."""
        raise InputError("The shares of this world are not known", got=(subset, bins))


def _baseline(rows: int, domain: Domain, rng: np.random.Generator) -> Array:
    return rng.normal(0.4 * (domain == "target"), 1, rows)


def _covariates(w: Array, domain: Domain, rng: np.random.Generator) -> Array:
    """W, Z1 and Z2, given W."""
    moved = domain == "target"
    z1 = rng.normal(0.3 * w - 0.5 * moved, 1)
    z2 = rng.normal(0.3 * moved, 1, len(w))
    return np.column_stack([w, z1, z2])


def _model(x: Array) -> Array:
    return 1 / (1 + np.exp(-(0.8 * x[:, 0] + 1.2 * x[:, 1] - 0.6 * x[:, 2] + 0.8)))


def _risk(x: Array, domain: Domain) -> Array:
    """The model is right in the source; in the target Z2 no longer matters, and Z1 less."""
    if domain == "source":
        return _model(x)
    return 1 / (1 + np.exp(-(0.8 * x[:, 0] + 0.5 * x[:, 1] + 0.4)))


@cache
def _corners(metric: str) -> RegionCorners:
    """By drawing from each corner; of the outcome only its mean is needed, and that is known."""

    def mean(of_w: Domain, of_z: Domain, risk: Domain | float) -> float:
        rng = np.random.default_rng([ENOUGH, of_w == "target", of_z == "target"])
        x = _covariates(_baseline(ENOUGH, of_w, rng), of_z, rng)
        intercept, slope = metric_of(metric).coefficients(_model(x), 0.5)
        chance = risk if isinstance(risk, float) else _risk(x, risk)
        return float(np.mean(intercept + slope * chance))

    inner = (
        mean("source", "source", "source"),
        mean("target", "source", "source"),
        mean("target", "target", "source"),
        mean("target", "target", "target"),
    )
    left, new = mean("source", "source", 0.5), mean("target", "target", 0.5)
    return RegionCorners(
        *inner,
        source_mean=(1 - ALONE.source) * inner[0] + ALONE.source * left,
        target_mean=(1 - ALONE.target) * inner[3] + ALONE.target * new,
    )
