"""The pair (source, target) that every quantity of the method comes in."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray


class _ArrayInFile:
    """Tells pydantic how arrays of saved results are read: lists of numbers, or packed text."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_ArrayInFile._read)

    @staticmethod
    def __get_pydantic_json_schema__(schema: Any, handler: Any) -> Any:
        return {"anyOf": [{"type": "array"}, {"type": "string"}]}

    @staticmethod
    def _read(value: Any) -> np.ndarray[tuple[Any, ...], np.dtype[np.float64]]:
        if not isinstance(value, str):
            return np.array(value, dtype=float)
        packed = base64.b64decode(value, validate=True)
        return np.frombuffer(packed, dtype="<f8").astype(np.float64)


# Spelled out, because saved results are read back by it: since numpy 2.5 NDArray hides the class.
Array = Annotated[np.ndarray[tuple[Any, ...], np.dtype[np.float64]], _ArrayInFile]
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
        """Apply a function to the two values.

        Args:
            function: called with the value of each domain.
        """
        return ByDomain(function(self.source), function(self.target))

    def zip(self, pair: ByDomain[Any], function: Callable[[T, Any], U]) -> ByDomain[U]:
        """Apply a function of two arguments to the values of two pairs, domain by domain.

        Args:
            pair: the second values.
            function: called with the two values of each domain.
        """
        return ByDomain(function(self.source, pair.source), function(self.target, pair.target))
