"""What every rival hands back: one named importance per variable, with what it assumes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate
from whygap.settings import Settings

Part = Literal["aggregate", "covariate", "outcome"]


@dataclass(frozen=True, slots=True, eq=False)
class Importances:
    """Importances of one method for one part of the gap."""

    method: str  # the method's name, as `compare` knows it
    part: Part  # which part of the gap they speak about; "aggregate" for whole systems
    names: tuple[str, ...]  # players, or the terms of a whole system
    values: Array  # one importance per name, signed where the method has a sign
    unit: str  # what one unit of importance means
    assumptions: str  # what must hold for the numbers to mean what they say
    misleads: str  # when they do not
    low: Array | None = None  # lower ends of intervals, or None where the method has none
    high: Array | None = None  # upper ends

    def ranking(self) -> tuple[str, ...]:
        """Names from the largest importance to the smallest, signs ignored."""
        order = np.argsort(-np.abs(self.values), kind="stable")
        return tuple(self.names[i] for i in order)

    def value(self, name: str) -> float:
        """The importance of one name."""
        what = f"The method '{self.method}' has no importance named '{name}'"
        require_known(name, self.names, what, "Names", ResultError)
        return float(self.values[self.names.index(name)])

    def ranks(self) -> dict[str, int]:
        """Rank of every name; 1 is the most important."""
        return {name: place + 1 for place, name in enumerate(self.ranking())}


@dataclass(frozen=True, slots=True)
class Method:
    """What a method says of itself, whatever the data: see `Importances` for the fields."""

    name: str
    part: Part
    unit: str
    assumptions: str
    misleads: str

    def importances(self, values: Mapping[str, float]) -> Importances:
        """Importances without intervals."""
        found = tuple(values), np.array(list(values.values()), dtype=np.float64)
        said = self.unit, self.assumptions, self.misleads
        return Importances(self.name, self.part, *found, *said)

    def from_estimates(self, estimates: Mapping[str, Estimate], level: float) -> Importances:
        """Importances whose intervals come from influence values."""
        ends = np.array([estimate.interval(level) for estimate in estimates.values()])
        low, high = ends.reshape(-1, 2).T
        values = {name: estimate.value for name, estimate in estimates.items()}
        return replace(self.importances(values), low=low, high=high)


def random_stream(settings: Settings, purpose: str) -> np.random.Generator:
    """An independent generator for one purpose: same seed and purpose, same numbers."""
    return np.random.default_rng([settings.seed, zlib.crc32(purpose.encode())])
