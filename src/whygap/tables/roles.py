"""Which column plays which role; every name checked against both tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whygap.domains import ByDomain
from whygap.errors import ColumnError, TableError, did_you_mean, listed
from whygap.notes import Note
from whygap.tables.frames import OpenedTable

__all__ = ["ONE_COLUMN", "Roles", "resolve_roles", "saved_index"]

INDEX_NAME = re.compile(r"|Unnamed: \d+(\.\d+)*")
ONE_COLUMN = ("outcome", "prediction", "weights", "clusters", "source_risk")


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a study by role; `covariates` is the full list, whether named or not.

    Attributes:
        class_columns: class -> column of its probabilities, where there are several; else empty.
        source_risk: column of a known p_0(Y=1 | W, Z).
        groups: player -> columns of Z.
        named: columns of W and Z that the caller named one by one.
        notes: columns that were given no role, and why.
    """

    outcome: str
    baseline: tuple[str, ...]
    covariates: tuple[str, ...]
    prediction: str | None = None
    class_columns: Mapping[str, str] = field(default_factory=dict)
    weights: str | None = None
    clusters: str | None = None
    source_risk: str | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """Columns of W, then of Z."""
        return self.baseline + self.covariates

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is needed."""
        single = (getattr(self, role) for role in ONE_COLUMN)
        named = tuple(column for column in single if column is not None)
        return self.features + named + tuple(self.class_columns.values())


def resolve_roles(
    tables: ByDomain[OpenedTable],
    *,
    single: Mapping[str, Any],
    baseline: Any,
    covariates: Any,
    groups: Any,
) -> Roles:
    """Check every column the caller named; without covariates, all others are covariates.

    Args:
        tables: both tables, opened.
        single: role of `ONE_COLUMN` -> the caller's column, or None; a prediction may map classes
            to columns.
        baseline: the columns of W.
        covariates: the columns of Z, or None.
        groups: name -> covariates that act as one variable.
    """
    by_class = _class_columns(single.get("prediction"))
    one = dict(single) | ({"prediction": None} if by_class else {})
    ones: dict[str, Any] = {role: _one_name(role, name) for role, name in one.items()}
    w_names = _many_names("baseline", baseline)
    z_names = None if covariates is None else _many_names("covariates", covariates)
    pairs = [(role, name) for role, name in ones.items() if name is not None]
    pairs += [("prediction", name) for name in by_class.values()]
    pairs += [("baseline", name) for name in w_names]
    pairs += [("covariates", name) for name in z_names or ()]
    _check_pairs(pairs, tables)
    notes: tuple[Note, ...] = ()
    if z_names is None:
        taken = {name for _, name in pairs}
        z_names = _remaining(tables, taken)
        notes = _index_notes(tables, taken)
    if not z_names:
        raise ColumnError(
            "No column is left to be a covariate",
            hint="Every column has another role; name at least one covariate.",
        )
    named = frozenset(w_names) | (frozenset() if covariates is None else frozenset(z_names))
    grouped = _checked_groups(groups, z_names, w_names)
    more: dict[str, Any] = {"groups": grouped, "named": named, "notes": notes, **ones}
    return Roles(baseline=w_names, covariates=z_names, class_columns=by_class, **more)


def _class_columns(prediction: Any) -> dict[str, str]:
    """Class -> column, of a prediction that names one column per class; else empty."""
    if not isinstance(prediction, Mapping):
        return {}
    given = {str(label): name for label, name in prediction.items()}
    if len(given) < 2 or not all(isinstance(name, str) and name for name in given.values()):
        raise ColumnError(
            "prediction= by class must map at least two classes to their columns",
            got=repr(dict(prediction)),
            hint="For example prediction={'car': 'p_car', 'bus': 'p_bus', 'foot': 'p_foot'}.",
        )
    return given


def _one_name(role: str, name: Any) -> str | None:
    if name is None and role != "outcome":
        return None
    if not isinstance(name, str) or not name:
        raise ColumnError(f"The '{role}' argument must be one column name", got=repr(name))
    return name


def _many_names(role: str, names: Any) -> tuple[str, ...]:
    """A role that is a list of column names; one name alone is a list of one."""
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    what = f"The '{role}' argument must be a list of column names"
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise ColumnError(what, got=repr(names))
    given = tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise ColumnError(what, got=f"{name!r} ({type(name).__name__}) in it")
    return given


def _check_pairs(pairs: Sequence[tuple[str, str]], tables: ByDomain[OpenedTable]) -> None:
    for role, name in pairs:
        for table in tables:
            table.require(name, role)
    taken: dict[str, str] = {}
    for role, name in pairs:
        other = taken.get(name)
        if other == role:
            raise ColumnError(f"Column '{name}' is named twice in {role}", hint="Name it once.")
        if other is not None:
            raise ColumnError(
                f"Column '{name}' has two roles: {other} and {role}",
                hint="Each column has one role.",
            )
        taken[name] = role


def _remaining(tables: ByDomain[OpenedTable], taken: set[str]) -> tuple[str, ...]:
    """Every column not otherwise named, in the source's order; both tables must agree."""
    source, target = tables.map(
        lambda t: tuple(n for n in t.names if n not in taken and n not in saved_index(t.names))
    )
    only = {
        "source": [name for name in source if name not in target],
        "target": [name for name in target if name not in source],
    }
    if any(only.values()):
        parts = [f"only in {label}: {listed(names)}" for label, names in only.items() if names]
        raise TableError(
            "The two tables have different columns",
            got="; ".join(parts),
            hint="Drop these columns, or say which ones to use with covariates=[...].",
        )
    return source


def saved_index(names: Sequence[str]) -> tuple[str, ...]:
    """The row numbers that pandas and R write in front of a table, known by their names."""
    return tuple(itertools.takewhile(INDEX_NAME.fullmatch, names))


def _index_notes(tables: ByDomain[OpenedTable], taken: set[str]) -> tuple[Note, ...]:
    found = [(t.label, n) for t in tables for n in saved_index(t.names) if n not in taken]
    return tuple(
        Note("saved_index", "info", {"column": name, "table": label}) for label, name in found
    )


def _checked_groups(
    groups: Any, covariates: Sequence[str], baseline: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Groups hold covariates only, each in one group, under a name of their own."""
    if not groups:
        return {}
    if not isinstance(groups, Mapping):
        raise ColumnError(
            "The 'groups' argument must map a name to a list of covariates",
            got=type(groups).__name__,
        )
    found = {str(name): _many_names(f"groups['{name}']", cols) for name, cols in groups.items()}
    owner: dict[str, str] = {}
    for group, columns in found.items():
        if not columns:
            raise ColumnError(f"Group '{group}' is empty", hint="Name its covariates.")
        for column in columns:
            if column not in covariates:
                raise ColumnError(
                    f"Column '{column}' (group '{group}') is not a covariate",
                    hint=did_you_mean(column, covariates),
                )
            if owner.get(column) == group:
                raise ColumnError(
                    f"Column '{column}' is named twice in group '{group}'", hint="Name it once."
                )
            if column in owner:
                raise ColumnError(
                    f"Column '{column}' is in two groups: '{owner[column]}' and '{group}'",
                    hint="Each covariate belongs to one group.",
                )
            owner[column] = group
    for group in found:
        strange = group in covariates and owner.get(group) != group
        if strange or group in baseline:
            other = "covariate that is not in it" if strange else "baseline column"
            raise ColumnError(
                f"Group '{group}' has the name of a {other}", hint="Give the group another name."
            )
    return found
