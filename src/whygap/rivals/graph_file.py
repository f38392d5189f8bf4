"""A causal graph in a file: TOML or JSON, each variable with the list of its parents."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from whygap.errors import InputError

__all__ = ["read_graph"]

READERS: Mapping[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": json.loads}
EXAMPLE = {
    ".toml": "Write one line per variable with its parents: z2 = ['z1'].",
    ".json": 'Write one entry per variable with its parents: {"z2": ["z1"]}.',
}


def read_graph(path: str | Path) -> dict[str, list[str]]:
    """The mapping node -> parents of a file; `graph_of` checks it against a study.

    Raises:
        InputError: the file is missing, of another kind, broken, or holds no such mapping.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in READERS:
        raise InputError(
            f"The causal graph '{file}' must be a .toml or .json file", hint=EXAMPLE[".toml"]
        )
    values = _parsed(file, kind)
    if not isinstance(values, dict):
        raise _wrong(file, kind, f"a {type(values).__name__}, not a mapping")
    for node, listed in values.items():
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise _wrong(file, kind, f"{listed!r} as the parents of '{node}'")
    return values


def _parsed(file: Path, kind: str) -> Any:
    try:
        return READERS[kind](file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"The causal graph '{file}' cannot be read", got=error.strerror or type(error).__name__
        ) from error
    except ValueError as error:
        raise _wrong(file, kind, str(error)) from error


def _wrong(file: Path, kind: str, got: str) -> InputError:
    return InputError(
        f"The file '{file}' is no causal graph: a list of parents is wanted for each variable",
        got=got,
        hint=EXAMPLE[kind],
    )
