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
    columns = _single(dict(single) | ({"prediction": None} if by_class else {}))
    w_names = _names("baseline", baseline)
    z_names = None if covariates is None else _names("covariates", covariates)
    pairs = [(role, name) for role, name in columns.items() if name is not None]
    pairs += [("prediction", name) for name in by_class.values()]
    pairs += [("baseline", n) for n in w_names] + [("covariates", n) for n in z_names or ()]
    _require(pairs, tables)
    notes: tuple[Note, ...] = ()
    if z_names is None:
        taken = {name for _, name in pairs}
        z_names = _remaining(tables, taken)
        notes = tuple(
            Note("saved_index", "info", {"column": name, "table": table.label})
            for table in tables
            for name in saved_index(table.names)
            if name not in taken
        )
    return Roles(
        baseline=w_names,
        covariates=z_names,
        class_columns=by_class,
        groups=_groups(groups, z_names, w_names),
        named=frozenset(w_names) | (frozenset() if covariates is None else frozenset(z_names)),
        notes=notes,
        **columns,
    )


def _single(columns: dict[str, Any]) -> dict[str, Any]:
    for role, name in columns.items():
        is_name = isinstance(name, str) and name
        if not is_name and (name is not None or role == "outcome"):
            raise ColumnError(f"The '{role}' argument must be one column name", got=repr(name))
    return columns


def _class_columns(prediction: Any) -> dict[str, str]:
    """Read a prediction that maps classes to columns; else empty."""
    if not isinstance(prediction, Mapping):
        return {}
    columns = {str(label): name for label, name in prediction.items()}
    if len(columns) < 2 or not all(isinstance(name, str) and name for name in columns.values()):
        raise ColumnError(
            "prediction= by class must map at least two classes to their columns",
            got=repr(dict(prediction)),
            hint="For example prediction={'car': 'p_car', 'bus': 'p_bus', 'foot': 'p_foot'}.",
        )
    return columns


def _names(role: str, names: Any) -> tuple[str, ...]:
    """Read a list of column names; a single name is a list too."""
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    is_list = isinstance(names, Iterable) and not isinstance(names, Mapping)
    columns = tuple(names) if is_list else ()
    wrong = [name for name in columns if not isinstance(name, str)]
    if not is_list or wrong:
        got = f"{wrong[0]!r} ({type(wrong[0]).__name__}) in it" if wrong else repr(names)
        raise ColumnError(f"The '{role}' argument must be a list of column names", got=got)
    return columns


def _require(pairs: Sequence[tuple[str, str]], tables: ByDomain[OpenedTable]) -> None:
    """Refuse columns that a table lacks, and columns with two roles."""
    for role, name in pairs:
        for table in tables:
            table.require(name, role)
    taken: dict[str, str] = {}
    for role, name in pairs:
        if taken.get(name) == role:
            raise ColumnError(f"Column '{name}' is named twice in {role}", hint="Name it once.")
        if name in taken:
            raise ColumnError(
                f"Column '{name}' has two roles: {taken[name]} and {role}",
                hint="Each column has one role.",
            )
        taken[name] = role


def _remaining(tables: ByDomain[OpenedTable], taken: set[str]) -> tuple[str, ...]:
    """Return the columns not otherwise named, in the source's order; both tables must agree."""
    source, target = tables.map(
        lambda t: tuple(n for n in t.names if n not in taken and n not in saved_index(t.names))
    )
    alone = {
        "source": [name for name in source if name not in target],
        "target": [name for name in target if name not in source],
    }
    if any(alone.values()):
        parts = [f"only in {label}: {listed(names)}" for label, names in alone.items() if names]
        raise TableError(
            "The two tables have different columns",
            got="; ".join(parts),
            hint="Drop these columns, or say which ones to use with covariates=[...].",
        )
    return source


def saved_index(names: Sequence[str]) -> tuple[str, ...]:
    """Find the row numbers that pandas and R write in front of a table, by their names."""
    return tuple(itertools.takewhile(INDEX_NAME.fullmatch, names))


def _groups(
    groups: Any, covariates: Sequence[str], baseline: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Check that groups hold covariates only, each in one group, under a name of their own."""
    if not covariates:
        raise ColumnError(
            "No column is left to be a covariate",
            hint="Every column has another role; name at least one covariate.",
        )
    if groups and not isinstance(groups, Mapping):
        raise ColumnError(
            "The 'groups' argument must map a name to a list of covariates",
            got=type(groups).__name__,
        )
    checked = {str(n): _names(f"groups['{n}']", columns) for n, columns in (groups or {}).items()}
    owner: dict[str, str] = {}
    for group, columns in checked.items():
        if not columns:
            raise ColumnError(f"Group '{group}' is empty", hint="Name its covariates.")
        for column in columns:
            if column not in covariates:
                raise ColumnError(
                    f"Column '{column}' (group '{group}') is not a covariate",
                    hint=did_you_mean(column, covariates),
                )
            if column in owner:
                raise ColumnError(
                    f"Column '{column}' is in two groups: '{owner[column]}' and '{group}'",
                    hint="Each covariate belongs to one group.",
                )
            owner[column] = group
        stranger = group in covariates and group not in columns
        if stranger or group in baseline:
            what = "covariate that is not in it" if stranger else "baseline column"
            raise ColumnError(
                f"Group '{group}' has the name of a {what}", hint="Give the group another name."
            )
    return checked
