"""A user's causal graph: who listens to whom, checked before anything is estimated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whygap.errors import SettingsError, did_you_mean
from whygap.tables.design import Design

__all__ = ["OUTCOME", "Graph", "graph_of"]

OUTCOME = "(outcome)"
"""The name of the outcome's mechanism in the result."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Mechanisms in causal order.

    Attributes:
        nodes: every baseline column, every player and the outcome (last).
        parents: for each node the names it depends on.
    """

    nodes: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]


def graph_of(design: Design, parents: Mapping[str, Iterable[str]], outcome: str = OUTCOME) -> Graph:
    """Check a mapping node -> parents against the study's variables.

    A variable that is not named has no parents; the outcome, when not named, depends on every
    variable.

    Raises:
        SettingsError: an unknown name, the outcome as a parent, or a cycle.
    """
    variables = _variables(design)
    given = {node: _names(node, listed) for node, listed in parents.items()}
    for node in given:
        if node not in variables and node not in (OUTCOME, outcome):
            raise _unknown(node, "a node", variables)
        for parent in given[node]:
            _check_parent(parent, node, variables, outcome)
    complete = {name: given.get(name, ()) for name in variables}
    complete[OUTCOME] = given.get(OUTCOME, given.get(outcome, variables))
    order = [name for name in _causal_order(complete) if name != OUTCOME]
    return Graph(nodes=(*order, OUTCOME), parents=complete)


def _variables(design: Design) -> tuple[str, ...]:
    baseline = tuple(design.columns[j].name for j in design.baseline)
    return baseline + tuple(player.name for player in design.players)


def _names(node: str, listed: Iterable[str]) -> tuple[str, ...]:
    if isinstance(listed, str):
        raise SettingsError(
            f"The parents of '{node}' must be a list of names",
            got=repr(listed),
            hint=f"Write ['{listed}'].",
        )
    return tuple(dict.fromkeys(listed))


def _check_parent(parent: str, node: str, variables: tuple[str, ...], outcome: str) -> None:
    if parent in (OUTCOME, outcome):
        raise SettingsError(
            f"The outcome cannot be a parent of '{node}' in the causal graph",
            hint="Importance weighting goes from the variables to the outcome.",
        )
    if parent not in variables:
        raise _unknown(parent, f"a parent of '{node}'", variables)


def _unknown(name: str, role: str, variables: tuple[str, ...]) -> SettingsError:
    return SettingsError(
        f"The causal graph names '{name}' ({role}), which is no variable of the study",
        hint=did_you_mean(name, variables) or f"Variables are: {', '.join(variables)}.",
    )


def _causal_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Parents before children; a cycle is an error that names its members."""
    order: list[str] = []
    waiting = list(parents)
    while waiting:
        ready = [n for n in waiting if all(p in order for p in parents[n])]
        if not ready:
            raise SettingsError(
                "The causal graph has a cycle",
                got=" -> ".join(_cycle(waiting, parents)),
                hint="Remove one of these edges; mechanisms need a causal order.",
            )
        order.extend(ready)
        waiting = [n for n in waiting if n not in ready]
    return tuple(order)


def _cycle(waiting: list[str], parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Walk from child to parent until a node repeats; return it in causal direction."""
    path = [waiting[0]]
    while True:
        step = next(p for p in parents[path[-1]] if p in waiting)
        if step in path:
            return [step, *path[path.index(step) :][::-1]]
        path.append(step)
