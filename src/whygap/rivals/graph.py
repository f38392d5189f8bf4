"""A user's causal graph: who listens to whom, checked before anything is estimated."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from whygap.errors import InputError, SettingsError, name_list, require_known
from whygap.tables.design import Design

Parents = Mapping[str, Iterable[str]]
OUTCOME = "(outcome)"
"""The name of the outcome's mechanism in the result."""
READERS: Mapping[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": json.loads}
EXAMPLE = {
    ".toml": "Write one line per variable with its parents: z2 = ['z1'].",
    ".json": 'Write one entry per variable with its parents: {"z2": ["z1"]}.',
}


@dataclass(frozen=True, slots=True)
class Graph:
    """Mechanisms in causal order."""

    nodes: tuple[str, ...]  # every baseline column, every player and the outcome (last)
    parents: Mapping[str, tuple[str, ...]]  # for each node the names it depends on


def graph_of(design: Design, parents: Parents, outcome: str = OUTCOME) -> Graph:
    """Check a mapping node -> parents: unknown names, the outcome as a parent, cycles are refused.

    A variable that is not named has no parents; the outcome, when not named, depends on all.
    """
    baseline = tuple(design.columns[j].name for j in design.baseline)
    variables = baseline + tuple(player.name for player in design.players)
    given = _parents(parents)
    for node in given:
        if node not in (OUTCOME, outcome):
            _check_name(node, "a node", variables)
        for parent in given[node]:
            _check_parent(parent, node, variables, outcome)
    complete = {name: given.get(name, ()) for name in variables}
    order = _causal_order(complete)
    complete[OUTCOME] = given.get(OUTCOME, given.get(outcome, variables))
    return Graph(nodes=(*order, OUTCOME), parents=complete)


def _parents(graph: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(graph, Mapping):
        got = f"an object of type {type(graph).__name__}"
        raise SettingsError("The graph must map each variable to its parents", got=got)
    return {node: _names(node, listed) for node, listed in graph.items()}


def _names(node: str, listed: Iterable[str]) -> tuple[str, ...]:
    if isinstance(listed, str):
        raise SettingsError(
            f"The parents of '{node}' must be a list of names",
            got=repr(listed),
            hint=f"Write ['{listed}'].",
        )
    return tuple(dict.fromkeys(name_list(listed, f"The parents of '{node}'", SettingsError)))


def _check_parent(parent: str, node: str, variables: tuple[str, ...], outcome: str) -> None:
    if parent in (OUTCOME, outcome):
        raise SettingsError(
            f"The outcome cannot be a parent of '{node}' in the causal graph",
            hint="Importance weighting goes from the variables to the outcome.",
        )
    _check_name(parent, f"a parent of '{node}'", variables)


def _check_name(name: str, role: str, variables: tuple[str, ...]) -> None:
    what = f"The causal graph names '{name}' ({role}), which is no variable of the study"
    require_known(name, variables, what, "Variables", SettingsError)


def _causal_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        raise SettingsError(
            "The causal graph has a cycle",
            got=" -> ".join(error.args[1]),
            hint="Remove one of these edges; mechanisms need a causal order.",
        ) from error


def read_graph(path: str | Path) -> dict[str, list[str]]:
    """The mapping node -> parents of a TOML or JSON file; `graph_of` checks it against a study."""
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in READERS:
        raise InputError(
            f"The causal graph '{file}' must be a .toml or .json file", hint=EXAMPLE[".toml"]
        )
    try:
        values = READERS[kind](file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"The causal graph '{file}' cannot be read", got=error.strerror or type(error).__name__
        ) from error
    except ValueError as error:
        raise _no_graph(file, str(error)) from error
    if not isinstance(values, dict):
        raise _no_graph(file, f"a {type(values).__name__}, not a mapping")
    for node, listed in values.items():
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise _no_graph(file, f"{listed!r} as the parents of '{node}'")
    return values


def _no_graph(file: Path, got: str) -> InputError:
    return InputError(
        f"The file '{file}' is no causal graph: a list of parents is wanted for each variable",
        got=got,
        hint=EXAMPLE[file.suffix.lower()],
    )
