"""The JSON schema of a saved result, made from the result classes as `mapping` writes them.

python -m whygap.storage.schema > docs/gap.schema.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from whygap.estimate import Estimate
from whygap.estimate.influence import Influence
from whygap.results import Gap
from whygap.storage.mapping import SCHEMA

__all__ = ["schema", "schema_text"]

# What stands for numbers that JSON cannot hold.
NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
PLAIN = {str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"}}


def schema() -> dict[str, Any]:
    """Of what `Gap.save` writes; fields that are not named here may come with later versions."""
    found = _Definitions()
    body = found.of_dataclass(Gap, ())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A result of whygap",
        **body,
        "properties": {
            "schema": {"const": SCHEMA},
            "problems": {"type": "array", "items": {"type": "string"}},
            **body["properties"],
        },
        "required": ["schema", "problems", *body["required"]],
        "$defs": dict(sorted(found.known.items())),
    }


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(schema(), indent=1) + "\n"


class _Definitions:
    """Every class that was met, by name."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def of(self, hint: Any) -> Any:
        """The schema of a type hint."""
        origin, arms = get_origin(hint) or hint, get_args(hint)
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(arm) for arm in arms]}
        if origin is Literal:
            return {"enum": list(arms)}
        if origin is NoneType:
            return {"type": "null"}
        if origin is float:
            return NUMBER
        if origin in PLAIN:
            return PLAIN[origin]
        if origin is np.ndarray:
            return {"$ref": "#/$defs/array"} if self.known.setdefault("array", ARRAY) else {}
        if is_dataclass(origin):
            return self.reference(cast(type[Any], origin), arms)
        if origin is tuple:
            return self.of_tuple(arms)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arms[1])}
        return {}

    def of_tuple(self, arms: tuple[Any, ...]) -> Any:
        if arms[-1] is ...:
            return {"type": "array", "items": self.of(arms[0])}
        size = len(arms)
        each = [self.of(arm) for arm in arms]
        return {"type": "array", "prefixItems": each, "minItems": size, "maxItems": size}

    def reference(self, made: type[Any], arms: tuple[Any, ...]) -> Any:
        """Each class once; of a generic one, once for what it holds."""
        inside = "_of_" + "_".join(getattr(arm, "__name__", "any") for arm in arms) if arms else ""
        name = made.__name__ + inside
        if name not in self.known:
            self.known[name] = {}
            self.known[name] = self.of_dataclass(made, arms)
        return {"$ref": f"#/$defs/{name}"}

    def of_dataclass(self, made: type[Any], arms: tuple[Any, ...]) -> dict[str, Any]:
        if made is Influence:
            packed = {field.name: {"type": "string"} for field in fields(made)}
            return {"type": "object", "properties": packed, "required": list(packed)}
        concrete = dict(zip(getattr(made, "__parameters__", ()), arms, strict=True))
        hints = get_type_hints(made)
        known = {f.name: self.of(_concrete(hints[f.name], concrete)) for f in fields(made)}
        needed = [f.name for f in fields(made) if (f.default, f.default_factory) == (MISSING,) * 2]
        if made is Estimate:  # what an estimate does not have is left out
            needed = ["value"]
        return {"type": "object", "properties": known, "required": needed}


ARRAY = {"anyOf": [{"type": "array"}, {"type": "string"}]}  # packed where influence is saved


def _concrete(hint: Any, known: Mapping[Any, Any]) -> Any:
    return known.get(hint, hint) if isinstance(hint, TypeVar) else hint


if __name__ == "__main__":
    sys.stdout.write(schema_text())
