"""Results as plain values (what JSON can hold) and back, driven by the fields of the dataclasses.

A new result class costs no code here: it is written field by field and read back by its type
hints. A field with a default may be missing, as it is in files written before there was one, and
a field that is known no more is passed over.
Numbers that JSON cannot hold become the words "nan", "inf" and "-inf". Influence values, when
asked for, are little-endian float64 in base64; rows of the tables are never part of it.
"""

from __future__ import annotations

import base64
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from whygap.domains import Array
from whygap.errors import require_flag
from whygap.estimate import Estimate
from whygap.estimate.influence import Influence
from whygap.results import Aggregate, Gap

VERSION = 2  # of the file format; goes up when a file could be misread by an older whygap
SCHEMA = f"whygap/{VERSION}"

T = TypeVar("T")


def to_mapping(gap: Gap, influence: bool = False) -> dict[str, Any]:
    """A whole result, ready for JSON."""
    require_flag(influence, "influence")
    said = {"schema": SCHEMA, "problems": list(gap.problems())}
    return said | cast(dict[str, Any], _Writer(influence).plain(gap))


def plain(value: Any, not_finite: Callable[[float], Any] = lambda _: None) -> Any:
    """Nothing but what strict JSON holds; numbers it cannot hold are None unless said otherwise."""
    return _Writer(not_finite=not_finite).plain(value)


@dataclass
class _Writer:
    influence: bool = False
    not_finite: Callable[[float], Any] = str
    origins: list[str] = field(default_factory=list)

    def plain(self, value: Any) -> Any:
        if isinstance(value, Influence):
            return {f.name: _packed(getattr(value, f.name)) for f in fields(value)}
        if is_dataclass(value) and not isinstance(value, type):
            return self._fields(value)
        if isinstance(value, Mapping):
            return {str(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, np.ndarray | list | tuple):
            return [self.plain(item) for item in value]
        if isinstance(value, set | frozenset):
            return sorted(map(self.plain, value))
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return self.not_finite(value)
        return value if value is None or isinstance(value, str | int | float) else str(value)

    def _fields(self, value: Any) -> dict[str, Any]:
        """By name; of an estimate, what it does not have is left out."""
        if isinstance(value, Estimate) and not self.influence:
            value = replace(value, influence=None)
        if isinstance(value, Aggregate):
            value = replace(value, covariance=value.corner_covariance())
        found = {f.name: getattr(value, f.name) for f in fields(value)}
        if isinstance(value, Estimate):
            found["origin"] = None if value.influence is None else self._number(value.origin)
            found = {name: item for name, item in found.items() if item is not None}
        return {name: self.plain(item) for name, item in found.items()}

    def _number(self, origin: str) -> str:
        if origin not in self.origins:
            self.origins.append(origin)
        return str(self.origins.index(origin))


def _packed(values: Array) -> str:
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode("ascii")


def from_mapping(mapping: Mapping[str, Any]) -> Gap:
    """The result that `to_mapping` took apart; its estimates combine with each other alone."""
    return cast(Gap, restored(Gap, mapping, uuid.uuid4().hex))


def restored(hint: Any, value: Any, file: str = "") -> Any:
    """A plain value as what the type hint says; `file` tells estimates of one file from others."""
    origin, arms = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        others = [arm for arm in arms if arm is not NoneType]
        return value if value is None or len(others) > 1 else restored(others[0], value, file)
    if origin is np.ndarray:
        return _unpacked(value) if isinstance(value, str) else np.array(value, dtype=float)
    if is_dataclass(origin):
        return _read_fields(cast(type[Any], origin), arms, value, file)
    if origin is tuple:
        each = [arms[0]] * len(value) if arms[-1] is ... else arms
        return tuple(restored(arm, item, file) for arm, item in zip(each, value, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: restored(arms[1], item, file) for key, item in value.items()}
    return origin(value) if origin in (int, float) else value


def _read_fields(made: type[T], arms: tuple[Any, ...], value: Any, file: str) -> T:
    """A dataclass; a missing field takes its default, or is an error that names it."""
    concrete = dict(zip(getattr(made, "__parameters__", ()), arms, strict=True))
    hints, found = _hints(cast(Any, made)), {}
    for one in fields(cast(Any, made)):
        if one.name not in value and (one.default, one.default_factory) != (MISSING, MISSING):
            continue
        hint = hints[one.name]
        found[one.name] = restored(concrete.get(hint, hint), value[one.name], file)
    if made is Estimate and found.get("influence") is not None:
        found["origin"] = f"{file}-{value.get('origin', 0)}"
    return made(**found)


_hints = cache(get_type_hints)


def _unpacked(text: str) -> Array:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(float)
