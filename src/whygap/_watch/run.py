"""Watching: which targets there are, what is missing, what the rules say of everything."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime, time
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw

from whygap._explain import explain_with, was_interrupted
from whygap._explain_many import in_memory, needed_columns, require_targets
from whygap._version import ENGINE
from whygap._watch.alarms import alarms_of
from whygap._watch.folder import Folder, digest_of, digest_of_rows, locked_folder
from whygap._watch.result import Watch
from whygap._watch.rules import Rules, read_rules
from whygap.errors import FitError, InputError, TableError, WhygapWarning, listed
from whygap.learning.menu import Menu
from whygap.learning.source_fits import SourceFits
from whygap.results import Gaps
from whygap.results.files import load, to_text
from whygap.results.redaction import require_rows
from whygap.settings import Settings, details_named
from whygap.study import Study
from whygap.study_file import hiding
from whygap.tables import TablePart, files
from whygap.tables.open import open_table

__all__ = ["files_in", "watch"]

# Fields that say how a run goes and not what it finds, or that have digests of their own.
_RUN_ONLY = {"n_jobs", "progress", "checkpoint", "backend", "address"}
_NOT_ASKED = _RUN_ONLY | {"source", "target", "target_name", "model"}


def watch(
    study: Study,
    targets: Any = None,
    *,
    state: str | Path = "watch",
    rules: Any = None,
    by: str | None = None,
    detail: Sequence[str] | str = ("points", "affected"),
    settings: Settings | None = None,
    redact: int | None = None,
) -> Watch:
    """Explain a stream of targets against a source, each once, and raise alarms.

    A folder keeps the results: a target whose rows and question did not change is not explained
    again, and a run that was killed goes on where it was. Each target chooses its own learners, so
    that results depend neither on the order of the targets nor on when a run was killed.

    Args:
        study: the source, the roles and the metric.
        targets: name -> table (or path); a folder of files; or the table that `by` splits; None is
            the study's own target.
        state: the folder.
        rules: when to raise an alarm: a TOML file, or a mapping of the same form.
        by: column whose values name the targets, such as the month.
        detail: what is asked beyond the parts, as for `explain`.
        settings: how to run; `Settings()` unless named.
        redact: name no level of fewer rows than this in anything that is kept or returned.
    """
    study = Study.require(study, "watch")
    settings = Settings.resolve(settings)
    details = details_named(detail)
    checked = read_rules(rules, details)
    if redact is not None:
        require_rows(redact)
    study, tables = _split(study, targets, by) if by else (study, _by_name(study, targets))
    source = in_memory(open_table(study.source, "source"), needed_columns(study))
    study = replace(study, source=source)
    settings = replace(settings, checkpoint=None)
    question = _question(study, settings, (details, redact))
    fits = SourceFits()
    is_new: dict[str, bool] = {}
    with locked_folder(state) as path:
        folder = Folder.read(path)
        for name, table in tables.items():
            rows = ""  # of a table that cannot be read: the answer says why
            with suppress(InputError):
                rows = digest_of_rows(open_table(table, "target"), needed_columns(study))
            is_new[name] = not rows or not folder.is_done(name, question, rows)
            if is_new[name]:
                against = partial(study.with_target, table, name)
                answer = _explained(against, details, settings, fits, redact)
                folder.keep(name, question, rows, *answer)
        return _judged(folder, question, checked, is_new)


def _judged(folder: Folder, question: str, rules: Rules, is_new: Mapping[str, bool]) -> Watch:
    """Compare the rules with everything that the folder has on a question."""
    answers = folder.answers(question)
    failed = {name: problem for name, (_, problem) in answers.items() if problem}
    gaps = {n: load(folder.gap_file(n)) for n in answers if n not in failed}
    alarms = [
        a for name, gap in gaps.items() for a in alarms_of(rules, name, gap, answers[name][0])
    ]
    explained = tuple(name for name, new in is_new.items() if new and name in gaps)
    unchanged = tuple(name for name, new in is_new.items() if not new)
    return Watch(Gaps(gaps), tuple(alarms), explained, unchanged, failed, rules.acknowledged)


def _explained(
    against: Callable[[], Study],
    details: Sequence[Any],
    settings: Settings,
    fits: SourceFits,
    redact: int | None,
) -> tuple[str, str]:
    """Return a target's result as JSON, without hour and seconds, or the reason for having none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WhygapWarning)  # the result says so
            menu = Menu(settings, source_fits=fits)
            gap = explain_with(against(), details, settings, menu)
    except (InputError, FitError) as error:
        if redact is None:
            return "", str(error)
        kind = type(error).__name__  # a message may quote values of rows
        return "", f"Its table cannot be explained ({kind}). Without redact it says why."
    if was_interrupted(gap):
        raise KeyboardInterrupt
    gap = gap if redact is None else gap.redacted(redact)
    return to_text(replace(gap, about=replace(gap.about, seconds={}, created=""))), ""


def _question(study: Study, settings: Settings, request: Any) -> str:
    """Return a digest of everything but the target that decides what is kept."""
    values = [(f.name, getattr(v, f.name)) for v in (study, settings) for f in fields(v)]
    parts = [digest_of(pair) for pair in values if pair[0] not in _NOT_ASKED]
    model = study.model
    if isinstance(model, str | Path) and Path(model).is_file():
        model = Path(model).read_bytes()
    rows = digest_of_rows(open_table(study.source, "source"), needed_columns(study))
    return digest_of([*parts, digest_of(model), rows, request, ENGINE])


def _by_name(study: Study, targets: Any) -> Mapping[str, Any]:
    if targets is None:
        return {study.target_name: study.target}
    if isinstance(targets, str | Path):
        return files_in(targets)
    require_targets(targets, "watch", "targets={'site B': table}, targets='folder', or by='month'.")
    return dict(targets)


def files_in(folder: str | Path) -> dict[str, Path]:
    """Return the tables in a folder by the first word of the file names.

    Args:
        folder: the folder; files whose names begin with . or _ are skipped.
    """
    inside = sorted(Path(folder).expanduser().glob("[!._]*"))
    tables = [(p.name.partition(".")[0], p) for p in inside if files.kind_of(p) is not None]
    if not tables or len(dict(tables)) < len(tables):
        names = listed([path.name for _, path in tables]) or "no table"
        message = f"The folder '{folder}' must hold one table for each target"
        raise TableError(message, got=names, hint=f"Use {files.READABLE}, each of another name.")
    return dict(tables)


def _split(study: Study, table: Any, by: str) -> tuple[Study, dict[str, Any]]:
    """Return the study without a column, and the rows of each value of the column, sorted."""
    table = study.target if table is None else table
    if isinstance(table, TablePart):  # a study file hides the column from the roles
        table = replace(table, drop=tuple(name for name in table.drop if name != by))
    opened = open_table(table, "target")
    opened.require(by, "by")
    source = hiding(study.source, "source", [by])
    study = replace(study, source=source, target=TablePart(table, {}, (by,)))
    columns = needed_columns(study)
    frame = nw.from_native(opened.read((*columns, by)).native, eager_only=True)
    if n_missing := int(frame[by].is_null().sum()):
        message = f"Column '{by}' (by) is missing in {n_missing} rows of the target table"
        raise TableError(message, hint="Leave them out: every row belongs to one target.")
    rows: dict[str, list[int]] = {}
    for number, value in enumerate(frame[by].to_list()):
        rows.setdefault(_text(value), []).append(number)
    features = frame.select(list(columns))
    return study, {name: features[rows[name], :].to_native() for name in sorted(rows)}


def _text(value: Any) -> str:
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
