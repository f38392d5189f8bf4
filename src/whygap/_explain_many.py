"""Several targets against one source: an analysis for each target."""

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
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables import Design
from whygap.tables.open import OpenedTable, open_table

# Nuisances fitted on source rows alone: which learner serves them is decided once.
SOURCE_ONLY = ("p_0", "p_0 (twins)", "mu_00_w", "mu_00_wzs", "mu_ws", "mu_wzs", "m_s, source")


def explain_many(
    study: Study,
    targets: Mapping[str, Any],
    *,
    detail: Sequence[str] | str = "all",
    settings: Settings | None = None,
) -> Gaps:
    """Explain the gap between a source and each of several targets.

    Every target is encoded together with the source, exactly as `explain` would do, so each
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
        detail: what is computed beyond the parts, as for `explain`.
        settings: how to run; `Settings()` if None. With `checkpoint`, every target has a folder of
            its own inside it.

    Returns:
        One `Gap` per target, with a combined table and report.
    """
    study = Study.require(study, "explain_many")
    settings = Settings.resolve(settings)
    studies = _studies(study, targets, settings)
    folders = _folders(tuple(studies), settings)
    gaps: dict[str, Gap] = {}
    first = Menu(settings)
    try:
        for name, item in studies.items():
            of_target = replace(settings, checkpoint=folders[name])
            menu = _menu(first, of_target, studies, item) if gaps else first
            gaps[name] = explain_with(item, detail, of_target, menu)
            if was_interrupted(gaps[name]):
                break
    except KeyboardInterrupt:
        if not gaps:
            raise
    return Gaps(gaps, tuple(name for name in studies if name not in gaps))


def require_targets(targets: Any, caller: str, hint: str) -> None:
    """Refuse anything but a table for every name.

    Args:
        targets: what the user gave.
        caller: the function that needs targets.
        hint: how to write them.
    """
    if not isinstance(targets, Mapping) or not targets:
        actual = "none" if isinstance(targets, Mapping) else type(targets).__name__
        raise InputError(f"{caller} needs targets by name", got=actual, hint=hint)
    for name in targets:
        if not isinstance(name, str) or not name.strip():
            raise InputError("The name of a target must be text", got=repr(name))


def needed_columns(study: Study) -> tuple[str, ...]:
    """Return the columns that are read of a table, for roles and for the model.

    Args:
        study: the question.
    """
    scoring = () if study.model_scoring is None else tuple(study.model_scoring.columns)
    return tuple(dict.fromkeys(study.roles.columns + scoring))


def in_memory(source: OpenedTable, columns: Sequence[str]) -> OpenedTable:
    """Read columns of the source once, for all targets.

    Args:
        source: the opened table.
        columns: names to read.
    """
    opened = open_table(source.read(tuple(columns)).native, "source")
    return replace(opened, notes=source.notes)


def encoded(design: Design) -> list[Any]:
    """Return as plain values the columns and players on which source fits depend.

    Args:
        design: the rows of the study.
    """
    columns = [[column.name, column.kind] for column in design.columns]
    return [columns, list(design.baseline), [[p.name, *p.columns] for p in design.players]]


def _studies(study: Study, targets: Mapping[str, Any], settings: Settings) -> dict[str, Study]:
    """Make a study for each target, with all tables read and checked, the source read once."""
    require_targets(targets, "explain_many", "targets={'site B': table, 'site C': table}")
    opened = {name: _checked(study, name, table) for name, table in targets.items()}
    needed = dict.fromkeys(name for item in opened.values() for name in needed_columns(item))
    first = next(iter(opened.values()))
    source = in_memory(first.tables.source, tuple(needed))
    with_source = {name: replace(item, source=source) for name, item in opened.items()}
    with reporter(settings.progress) as report:
        return {name: _checked(item, name, report=report) for name, item in with_source.items()}


def _checked(study: Study, name: str, table: Any = None, report: Reporter | None = None) -> Study:
    """Return the study against a target; without a table, read and check the study's rows."""
    try:
        if table is not None:
            return study.with_target(table, name)
        study.read(report or Silent())
    except WhygapError as error:
        message = f"Target '{name}': {error.what}"
        raise type(error)(message, got=error.got, hint=error.hint) from error
    return study


def _menu(first: Menu, settings: Settings, studies: Mapping[str, Study], study: Study) -> Menu:
    """Make a menu with the first target's choices, where the encoded columns are equal."""
    menu = Menu(settings)
    if encoded(next(iter(studies.values())).design) == encoded(study.design):
        shared = [kind for kind in SOURCE_ONLY if kind in first.choices]
        menu.choices.update({kind: first.choices[kind] for kind in shared})
        menu.records.extend(record for record in first.records if record.name in shared)
    return menu


def _folders(names: Sequence[str], settings: Settings) -> dict[str, str | None]:
    """Name a checkpoint folder for each target."""
    if settings.checkpoint is None:
        return dict.fromkeys(names)
    plain = {name: re.sub(r"[^\w.-]+", "_", name) for name in names}
    if len(set(plain.values())) < len(plain):
        hint = "Name them so that they differ in letters or digits."
        message = "Two targets would share a checkpoint folder"
        raise SettingsError(message, got=", ".join(names), hint=hint)
    return {name: str(Path(settings.checkpoint) / folder) for name, folder in plain.items()}
