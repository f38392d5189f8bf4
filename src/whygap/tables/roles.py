"""Which column plays which role; every name checked against both tables."""

import itertools
import re
from collections.abc import Mapping, Sequence
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
    explicit: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """Columns of W, then of Z."""
        return self.baseline + self.covariates

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is needed."""
        single = (getattr(self, role) for role in ONE_COLUMN)
        used = tuple(column for column in single if column is not None)
        return self.features + used + tuple(self.class_columns.values())


def resolve_roles(
    tables: ByDomain[OpenedTable],
    *,
    single: Mapping[str, Any],
    baseline: Sequence[str],
    covariates: Sequence[str] | None,
    groups: Mapping[str, Sequence[str]] | None,
) -> Roles:
    """Check every column the caller named; without covariates, all further columns are.

    Args:
        tables: both tables, opened.
        single: role of `ONE_COLUMN` -> the caller's column, or None; a prediction may map classes
            to columns.
        baseline: the columns of W.
        covariates: the columns of Z, or None.
        groups: name -> covariates that act as one variable.
    """
    columns, by_class = dict(single), {}
    if isinstance(prediction := columns["prediction"], Mapping):
        columns["prediction"] = None
        by_class = {str(label): name for label, name in prediction.items()}
        if len(by_class) < 2:
            message = "prediction= by class must map at least two classes to their columns"
            hint = "For example prediction={'car': 'p_car', 'bus': 'p_bus', 'foot': 'p_foot'}."
            raise ColumnError(message, got=repr(dict(prediction)), hint=hint)
    explicit = (*baseline, *(covariates or ()))
    pairs = [(role, name) for role, name in columns.items() if name is not None]
    pairs += [("prediction", name) for name in by_class.values()]
    pairs += [("baseline", n) for n in baseline] + [("covariates", n) for n in covariates or ()]
    _require(pairs, tables)
    notes: tuple[Note, ...] = ()
    if covariates is None:
        used = {name for _, name in pairs}
        covariates = _remaining(tables, used)
        notes = tuple(
            Note("saved_index", "info", {"column": name, "table": table.label})
            for table in tables
            for name in saved_index(table.names)
            if name not in used
        )
    return Roles(
        baseline=tuple(baseline),
        covariates=tuple(covariates),
        class_columns=by_class,
        groups=_groups(groups or {}, covariates, baseline),
        explicit=frozenset(explicit),
        notes=notes,
        **columns,
    )


def _require(pairs: Sequence[tuple[str, str]], tables: ByDomain[OpenedTable]) -> None:
    """Refuse columns that a table lacks, and columns with two roles."""
    for role, name in pairs:
        for table in tables:
            table.require(name, role)
    used: dict[str, str] = {}
    for role, name in pairs:
        if used.get(name) == role:
            raise ColumnError(f"Column '{name}' is named twice in {role}", hint="Name it once.")
        if name in used:
            message = f"Column '{name}' has two roles: {used[name]} and {role}"
            raise ColumnError(message, hint="Each column has one role.")
        used[name] = role


def _remaining(tables: ByDomain[OpenedTable], used: set[str]) -> tuple[str, ...]:
    """Return the columns not otherwise named, in the source's order; the tables must agree."""
    source, target = tables.map(
        lambda t: tuple(n for n in t.names if n not in used and n not in saved_index(t.names))
    )
    unshared = {
        "source": [name for name in source if name not in target],
        "target": [name for name in target if name not in source],
    }
    if any(unshared.values()):
        parts = [f"only in {label}: {listed(names)}" for label, names in unshared.items() if names]
        hint = "Drop these columns, or say which ones to use with covariates=[...]."
        raise TableError("The two tables have different columns", got="; ".join(parts), hint=hint)
    return source


def saved_index(names: Sequence[str]) -> tuple[str, ...]:
    """Find the row numbers that pandas and R write in front of a table, by name.

    Args:
        names: all column names, in the table's order.
    """
    return tuple(itertools.takewhile(INDEX_NAME.fullmatch, names))


def _groups(
    groups: Mapping[str, Sequence[str]], covariates: Sequence[str], baseline: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Check that groups hold covariates only, each in a single group, under a new name."""
    if not covariates:
        hint = "Every column has another role; name at least one covariate."
        raise ColumnError("No column is left to be a covariate", hint=hint)
    owner: dict[str, str] = {}
    for group, columns in groups.items():
        if not columns:
            raise ColumnError(f"Group '{group}' is empty", hint="Name its covariates.")
        for column in columns:
            if column not in covariates:
                message = f"Column '{column}' (group '{group}') is not a covariate"
                raise ColumnError(message, hint=did_you_mean(column, covariates))
            if column in owner:
                message = f"Column '{column}' is in two groups: '{owner[column]}' and '{group}'"
                raise ColumnError(message, hint="Each covariate belongs to one group.")
            owner[column] = group
        stranger = group in covariates and group not in columns
        if stranger or group in baseline:
            kind = "covariate that is not in it" if stranger else "baseline column"
            hint = "Give the group another name."
            raise ColumnError(f"Group '{group}' has the name of a {kind}", hint=hint)
    return {group: tuple(columns) for group, columns in groups.items()}
