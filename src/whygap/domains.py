"""The pair (source, target) that every quantity of the method comes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

# Spelled out, because saved results are read back by it: since numpy 2.5 NDArray hides the class.
Array = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
IntArray = NDArray[np.int64]
Subset = tuple[int, ...]  # of players, by number
Domain = Literal["source", "target"]
DOMAINS: tuple[Domain, Domain] = ("source", "target")

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class ByDomain(Generic[T]):
    """Hold a value for the source domain (D=0) and a value for the target domain (D=1)."""

    source: T
    target: T

    def __getitem__(self, domain: Domain) -> T:
        return self.source if domain == "source" else self.target

    def __iter__(self) -> Iterator[T]:
        yield self.source
        yield self.target

    def items(self) -> Iterator[tuple[Domain, T]]:
        """Iterate over pairs of a domain's name and value."""
        yield "source", self.source
        yield "target", self.target

    def map(self, function: Callable[[T], U]) -> ByDomain[U]:
        """Apply a function to the two values."""
        return ByDomain(function(self.source), function(self.target))

    def zip(self, other: ByDomain[Any], function: Callable[[T, Any], U]) -> ByDomain[U]:
        """Apply a function of two arguments to the values of two pairs, domain by domain."""
        return ByDomain(function(self.source, other.source), function(self.target, other.target))
