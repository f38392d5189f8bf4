"""Several targets against one source: one analysis each, one table, one report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whygap._explain import explain_with, was_interrupted
from whygap.errors import InputError, SettingsError, WhygapError
from whygap.learning.menu import Menu
from whygap.progress import Reporter, Silent, reporter
from whygap.results import Gap, Gaps
from whygap.settings import DETAILS, Settings
from whygap.study import Study
from whygap.tables import Design
from whygap.tables.open import OpenedTable, open_table

# Nuisances fitted on source rows alone: which learner serves them is decided once.
SOURCE_ONLY = ("p_0", "p_0 (twins)", "mu_00_w", "mu_00_wzs", "mu_ws", "mu_wzs", "m_s, source")


def explain_many(
    study: Study,
    targets: Mapping[str, Any],
    detail: Sequence[str] | str = DETAILS,
    settings: Settings | None = None,
) -> Gaps:
    """Explain the gap between one source and each of several targets.

    Every target is encoded together with the source, exactly as `explain` would do it, so each
    gap answers the question of its own two tables. Shared between the targets are:

    - the source table, which is read once;
    - the choice of learners for everything that is fitted on source rows alone, made on the first
      target's encoding;
    - the cut of the source rows into blocks (the same seed gives the same blocks).

    The fits themselves are not shared: levels, rare levels and spline knots depend on both tables.
    All tables are read and checked before the first analysis starts.

    Args:
        study: the source, the roles and the metric; its own target is not analysed.
        targets: name -> table (or path), each with the columns of the study.
        detail: what is asked beyond the parts, as for `explain`.
        settings: how to run; `Settings()` unless given. With `checkpoint`, every target has a
            folder of its own inside it.

    Returns:
        One `Gap` per target.
    """
    study, settings = Study.given(study, "explain_many"), Settings.given(settings)
    studies = _studies(study, targets, settings)
    folders = _folders(tuple(studies), settings)
    found: dict[str, Gap] = {}
    first = Menu(settings)
    try:
        for name, one in studies.items():
            chosen = replace(settings, checkpoint=folders[name])
            menu = first if not found else _menu(first, chosen, studies, one)
            found[name] = explain_with(one, detail, chosen, menu)
            if was_interrupted(found[name]):
                break
    except KeyboardInterrupt:
        if not found:
            raise
    return Gaps(found, tuple(name for name in studies if name not in found))


def _studies(study: Study, targets: Mapping[str, Any], settings: Settings) -> dict[str, Study]:
    """One study per target, every table read and checked, the source read once."""
    require_targets(targets, "explain_many", "targets={'site B': table, 'site C': table}")
    opened = {name: _checked(study, name, table) for name, table in targets.items()}
    source = _source(tuple(opened.values()))
    alike = {name: replace(one, source=source) for name, one in opened.items()}
    with reporter(settings.progress) as report:
        return {name: _checked(one, name, report=report) for name, one in alike.items()}


def require_targets(targets: Any, asking: str, hint: str) -> None:
    """Refuse what is not a table for every name."""
    if not isinstance(targets, Mapping) or not targets:
        got = "none" if isinstance(targets, Mapping) else type(targets).__name__
        raise InputError(f"{asking} needs targets by name", got=got, hint=hint)
    for name in targets:
        if not isinstance(name, str) or not name.strip():
            raise InputError("The name of a target must be text", got=repr(name))


def _checked(study: Study, name: str, table: Any = None, report: Reporter | None = None) -> Study:
    """The study against one target; without a table, its rows are read and checked."""
    try:
        if table is not None:
            return study.with_target(table, name)
        study.read(report or Silent())
    except WhygapError as error:
        raise type(error)(
            f"Target '{name}': {error.what}", got=error.got, hint=error.hint
        ) from error
    return study


def _source(studies: Sequence[Study]) -> Any:
    """The source table in memory, with every column that some study needs."""
    needed = dict.fromkeys(name for study in studies for name in needed_columns(study))
    return in_memory(studies[0].tables.source, tuple(needed))


def needed_columns(study: Study) -> tuple[str, ...]:
    """What is read of a table: the roles' columns, and those that a model asks for."""
    asked = () if study.model_scoring is None else tuple(study.model_scoring.columns)
    return tuple(dict.fromkeys(study.roles.columns + asked))


def in_memory(source: OpenedTable, columns: Sequence[str]) -> OpenedTable:
    """The source with these columns, read once for all targets."""
    held = open_table(source.read(tuple(columns)).native, "source")
    return replace(held, notes=source.notes)


def _menu(first: Menu, settings: Settings, studies: Mapping[str, Study], study: Study) -> Menu:
    """A menu that knows the first target's choices, where the encoded columns are the same."""
    menu = Menu(settings)
    if encoded(next(iter(studies.values())).design) == encoded(study.design):
        known = [kind for kind in SOURCE_ONLY if kind in first.choices]
        menu.choices.update({kind: first.choices[kind] for kind in known})
        menu.records.extend(record for record in first.records if record.name in known)
    return menu


def encoded(design: Design) -> list[Any]:
    """Columns and players of a design, as far as source fits depend on them; plain values."""
    columns = [[column.name, column.kind] for column in design.columns]
    return [columns, list(design.baseline), [[p.name, *p.columns] for p in design.players]]


def _folders(names: Sequence[str], settings: Settings) -> dict[str, str | None]:
    if settings.checkpoint is None:
        return dict.fromkeys(names)
    plain = {name: re.sub(r"[^\w.-]+", "_", name) for name in names}
    if len(set(plain.values())) < len(plain):
        raise SettingsError(
            "Two targets would share a checkpoint folder",
            got=", ".join(names),
            hint="Name them so that they differ in letters or digits.",
        )
    return {name: str(Path(settings.checkpoint) / folder) for name, folder in plain.items()}
