"""Results as versioned JSON: written whole or not at all, read back equal, no pickle.

A result is saved field by field as its dataclasses say, and read back by pydantic. Numbers that
JSON cannot hold become the words "nan", "inf" and "-inf". Influence values, when asked for, are
little-endian float64 in base64; rows of the tables are never saved.
"""

from __future__ import annotations

import base64
import importlib
import json
import math
import os
import stat
import tempfile
import uuid
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.errors import ResultError, path_of, require_flag
from whygap.estimate import Estimate
from whygap.estimate.influence import Influence

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 3  # of the file format; goes up when a file could be misread by an older whygap
SCHEMA = f"whygap/{VERSION}"
# Classes of results, by the kind that their files name.
KINDS = {
    "gap": "whygap.results:Gap",
    "gaps": "whygap.results:Gaps",
    "check": "whygap.checks.result:Check",
    "rehearsal": "whygap._rehearse.rehearsal:Rehearsal",
}


# -- results as plain values -----------------------------------------------------------------------


def to_dict(result: Any, *, influence: bool = False) -> dict[str, Any]:
    """Return what `save` writes, as plain values.

    Args:
        result: of a class in `KINDS`.
        influence: keep influence values, so that arithmetic works on what is read back.
    """
    require_flag(influence, "influence")
    kind = next(kind for kind in KINDS if isinstance(result, _class(kind)))
    head: dict[str, Any] = {"schema": SCHEMA, "kind": kind}
    writer = _Writer(influence)
    if kind in ("gap", "check"):  # readers of the file need not know how these follow
        head["problems"] = list(result.problems())
    if kind == "rehearsal":
        head["coverage"] = writer.plain(result.records())
    values: dict[str, Any] = writer.plain(result)
    return head | values


def to_text(result: Any, *, influence: bool = False) -> str:
    """Return the text that `save` writes."""
    mapping = to_dict(result, influence=influence)
    return json.dumps(mapping, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def plain(value: Any, not_finite: Callable[[float], Any] = lambda _: None) -> Any:
    """Return nothing but what strict JSON holds.

    Args:
        value: mappings, sequences, dataclasses and numbers inside one another.
        not_finite: returns what stands for numbers that JSON cannot hold.
    """
    return _Writer(not_finite=not_finite).plain(value)


class _Writer:
    """Turn objects into values of JSON; number the samples that estimates come from."""

    def __init__(self, influence: bool = False, not_finite: Callable[[float], Any] = str) -> None:
        self.influence = influence
        self.not_finite = not_finite
        self.origins: dict[str, str] = {}

    def plain(self, value: Any) -> Any:
        if isinstance(value, Influence):
            arrays = (np.asarray(getattr(value, f.name), dtype="<f8") for f in fields(value))
            texts = (base64.b64encode(array.tobytes()).decode("ascii") for array in arrays)
            return dict(zip((f.name for f in fields(value)), texts, strict=True))
        if is_dataclass(value) and not isinstance(value, type):
            values = {field.name: getattr(value, field.name) for field in fields(value)}
            return self.plain(self._estimate(values) if isinstance(value, Estimate) else values)
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

    def _estimate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Leave out what an estimate does not have, and influence values that nobody asked for."""
        origin = values.pop("origin")
        if self.influence and values["influence"] is not None:
            values["origin"] = self.origins.setdefault(origin, str(len(self.origins)))
        else:
            values["influence"] = None
        return {name: value for name, value in values.items() if value is not None}


def restored(cls: Any, values: Any) -> Any:
    """Return plain values as an object of a result class; refuse what does not fit.

    Args:
        cls: any dataclass of results.
        values: what `plain` or `to_dict` made.
    """
    from pydantic import ValidationError

    try:
        return adapter_of(cls).validate_python(_with_origins(values, uuid.uuid4().hex))
    except ValidationError as err:
        first = err.errors()[0]
        field = ".".join(map(str, first["loc"]))
        is_missing = first["type"] == "missing"
        fault = f"no field '{field}'" if is_missing else f"'{field}': {first['msg']}"
        hint = "It was changed after it was written; run 'whygap explain' again."
        raise ResultError("This is not a whole whygap result", got=fault, hint=hint) from err


def _with_origins(value: Any, file: str) -> Any:
    """Let estimates of a file combine among themselves alone."""
    if isinstance(value, list):
        return [_with_origins(item, file) for item in value]
    if not isinstance(value, dict):
        return value
    if "influence" in value:
        return value | {"origin": f"{file}-{value.get('origin', 0)}"}
    return {key: _with_origins(item, file) for key, item in value.items()}


@cache
def adapter_of(cls: Any) -> TypeAdapter[Any]:
    """Return what reads a result class from plain values."""
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


def _class(kind: str) -> Any:
    module, _, name = KINDS[kind].partition(":")
    return getattr(importlib.import_module(module), name)


# -- files -----------------------------------------------------------------------------------------


def save(result: Any, path: str | Path, *, influence: bool = False) -> Path:
    """Write versioned JSON, whole or not at all.

    Args:
        result: of a class in `KINDS`.
        path: of the file.
        influence: keep influence values, so that arithmetic works on what is read back.
    """
    return write_whole(require_ending(path, ".json"), to_text(result, influence=influence))


def load(path: str | Path) -> Any:
    """Read a result of any kind that `save` wrote.

    Args:
        path: of the file.
    """
    path = path_of(path, "A result file", ResultError)
    broken = f"The file '{path}' is not a whole whygap result"
    try:
        mapping = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ResultError(f"The result file '{path}' cannot be read", got=err.strerror) from err
    except (UnicodeDecodeError, json.JSONDecodeError) as err:
        hint = "It may be half written or of another kind; run 'whygap explain' again."
        raise ResultError(broken, got=str(err), hint=hint) from err
    kind = _kind(mapping, path)
    try:
        return restored(_class(kind), mapping)
    except ResultError as err:
        raise ResultError(broken, got=err.got, hint=err.hint) from err


def _kind(mapping: Any, path: Path) -> str:
    """Return the kind of result in a file, where this version reads the file."""
    schema = mapping.get("schema") if isinstance(mapping, dict) else None
    family, _, version = str(schema).partition("/")
    if family != "whygap" or not version.isdigit():
        raise ResultError(
            f"The file '{path}' is not a whygap result",
            got="no 'schema' field" if schema is None else f"schema {schema!r}",
            hint="Give a file written by 'whygap explain' or gap.save(path).",
        )
    kind = str(mapping.get("kind"))
    if int(version) != VERSION or kind not in KINDS:
        newer = int(version) >= VERSION
        raise ResultError(
            f"The file '{path}' was written by {'a newer' if newer else 'an older'} whygap",
            got=f"schema {schema!r}, kind {kind!r}, while this version reads '{SCHEMA}'",
            hint="Update whygap to read it." if newer else "Run 'whygap explain' again.",
        )
    return kind


# Ending of a file that is of another kind -> what writes it
TABLE = "The table of all estimates is gap.to_frame(), or: whygap show gap.json -o gap.csv."
ENDINGS = {
    ".json": "gap.save(path) writes it.",
    ".html": "gap.report(path) writes it.",
    ".pdf": "Write .html and print it from a browser; gap.plot().savefig(path) draws one figure.",
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".parquet", ".tex", ".md"), TABLE),
    **dict.fromkeys((".png", ".svg", ".jpg"), "gap.plot().savefig(path) draws it."),
    ".toml": "That is the ending of a study file, which is not written over.",
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), "gap.save(path) writes JSON, no pickle."),
}


def require_ending(path: str | Path, ending: str) -> Path:
    """Refuse a file whose name says that the file is of another kind.

    Args:
        path: of the file.
        ending: ".json" or ".html".
    """
    file = path_of(path, "A file", ResultError)
    suffix = file.suffix.lower()
    if suffix in ENDINGS and suffix != ending:
        message = "A result is saved as JSON" if ending == ".json" else "A report is a page of HTML"
        raise ResultError(message, got=f"'{file.name}'", hint=ENDINGS[suffix])
    return file


def write_whole(path: str | Path, text: str) -> Path:
    """Write text so that the file is whole or missing."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write to a temporary file in the folder of the file, then rename: never half a file.

    Args:
        path: of the file; one that is written over keeps its mode.
        content: of the file.
    """
    path = path_of(path, "A file", ResultError)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~mask
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException as err:  # an interrupt leaves no litter either
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if not isinstance(err, OSError):
            raise
        hint = "Check that its folder exists and may be written to."
        message = f"The file '{path}' cannot be written"
        raise ResultError(message, got=err.strerror, hint=hint) from err
    return path
