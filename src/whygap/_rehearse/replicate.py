"""One replicate: draw tables from the world, analyse them, write down what was estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygap._explain import Analysis, PartName
from whygap.domains import ByDomain
from whygap.errors import WhygapError
from whygap.estimate import Estimate, median_of
from whygap.progress import Silent
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.simulate import World

__all__ = ["BASE", "Measured", "Replicate", "Script", "Where", "truths"]

BASE = "(base)"
Where = tuple[str, str]
Subset = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """One estimate of one replicate."""

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate, level: float) -> Measured:
        """With its interval."""
        low, high = estimate.interval(level)
        return cls(estimate.value, estimate.standard_error, low, high)


@dataclass(frozen=True, slots=True)
class Replicate:
    """What one replicate found: estimates by (part, term); parts without shares; or a failure."""

    found: Mapping[Where, Measured]
    undefined: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """What every replicate does: called with a replicate's number."""

    world: World
    rows: ByDomain[int]
    settings: Settings
    parts: tuple[PartName, ...]
    variables: tuple[int, ...]

    def __call__(self, number: int) -> Replicate:
        """Draw and analyse; an analysis that cannot be run is a result, too."""
        rng = np.random.default_rng([self.settings.seed, number])
        seed = int(rng.integers(2**31))
        settings = replace(
            self.settings, seed=seed, n_jobs=1, backend="local", checkpoint=None, progress=False
        )
        try:
            design = self.world.draw(self.rows, rng)
            return self._analyse(Analysis.begin(design, settings, Silent()))
        except WhygapError as error:
            return Replicate({}, failure=str(error))

    def _analyse(self, analysis: Analysis) -> Replicate:
        level = self.settings.level
        aggregate = analysis.aggregate()
        estimates: dict[Where, Estimate] = {("aggregate", "gap"): aggregate.gap}
        estimates |= {("aggregate", name): part for name, part in aggregate.parts().items()}
        undefined = []
        for part in self.parts:
            values = self._values(analysis, part)
            estimates |= values
            if not values:
                undefined.append(part)
        found = {where: Measured.of(e, level) for where, e in estimates.items()}
        return Replicate(found, tuple(undefined))

    def _values(self, analysis: Analysis, name: PartName) -> dict[Where, Estimate]:
        """Values v(s) of the base and of single variables; none without a denominator."""
        parts = analysis.parts(name)
        bottom = median_of([part.denominator() for part in parts])
        if bottom.interval(self.settings.level)[0] <= 0:
            return {}
        with one_thread():
            return {
                where: 1 - median_of([part.numerator(subset) for part in parts]) / bottom
                for where, subset in _terms(self.world, name, self.variables)
            }


def _terms(world: World, part: PartName, variables: Iterable[int]) -> list[tuple[Where, Subset]]:
    """The subsets that are valued: single variables, and for outcomes the empty set."""
    singles = [((part, world.players[k]), (k,)) for k in variables]
    base: list[tuple[Where, Subset]] = [((part, BASE), ())] if part == "outcome" else []
    return [*base, *singles]


def truths(
    world: World, parts: Iterable[PartName], variables: Iterable[int], bins: int
) -> dict[Where, float]:
    """What the estimates should be."""
    corners = world.corners()
    names = ("gap", "baseline", "covariate", "outcome")
    found: dict[Where, float] = {("aggregate", n): getattr(corners, n) for n in names}
    chosen = tuple(variables)
    for part in parts:
        for where, subset in _terms(world, part, chosen):
            found[where] = _truth(world, part, subset, bins)
    return found


def _truth(world: World, part: PartName, subset: Subset, bins: int) -> Any:
    if part == "covariate":
        return world.covariate_truth(subset).value
    return world.outcome_truth(subset, bins).value
