"""A causal graph: the parents of each variable, checked before anything is estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from whygap.errors import SettingsError, name_list, require_known
from whygap.tables.design import Design

Parents = Mapping[str, Iterable[str]]
OUTCOME = "(outcome)"
"""The name of the outcome's mechanism in the result."""


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
    given = {node: _names(node, listed) for node, listed in parents.items()}
    for node in given:
        if node not in (OUTCOME, outcome):
            _check_name(node, "a node", variables)
        for parent in given[node]:
            _check_parent(parent, node, variables, outcome)
    complete = {name: given.get(name, ()) for name in variables}
    order = _causal_order(complete)
    complete[OUTCOME] = given.get(OUTCOME, given.get(outcome, variables))
    return Graph(nodes=(*order, OUTCOME), parents=complete)


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
