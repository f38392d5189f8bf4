"""THE MAIN PATH: two tables in, an explanation of the gap out (paper: Algorithms 1 and 4)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from whygap.errors import (
    InputError,
    SettingsError,
    WhygapWarning,
    did_you_mean,
    name_list,
    require_known,
)
from whygap.estimate import Estimate
from whygap.learning.menu import Menu
from whygap.progress import Reporter, Silent, reporter
from whygap.results import Gap
from whygap.running.about import Caption
from whygap.running.analysis import Analysis
from whygap.running.shares import PartName
from whygap.settings import DETAILS, Settings, details_named
from whygap.splits import SPLITS, from_splits
from whygap.study import Study
from whygap.tables.design import Design

PARTS: tuple[PartName, ...] = ("covariate", "outcome")


def explain(
    study: Any = None,
    *more: Any,
    detail: Sequence[str] | str = DETAILS,
    settings: Settings | None = None,
    **roles: Any,
) -> Gap:
    """Explain the performance gap of a study, or of two tables: `explain(a, b, outcome="y", ...)`.

    Features and outcomes may also come apart, as for `from_splits`: `explain(X_source=...,
    y_source=..., X_target=..., y_target=..., model=...)`.

    Args:
        study: the two tables and their roles; or the source table.
        more: with a study, `detail` and `settings`; else the target table.
        detail: what is asked beyond the parts: "points" (what each variable costs), "where" (who
            is hit), "recoverable" (what a better model could win back), and the paper's shares of
            the "covariate" and the "outcome" part; "all" is all of them, () none.
        settings: how to run; `Settings()` unless given.
        roles: of the columns, as `Study` takes them.

    Returns:
        The gap, its parts, the details asked for, and how far to trust them.
    """
    if not isinstance(study, Study):
        study = _study_of(study, more, roles)
    elif roles:
        raise InputError(
            "Roles are named in the study, not beside it",
            got=", ".join(roles),
            hint="Make another Study, or give two tables: explain(source, target, outcome=...).",
        )
    elif len(more) > 2:
        got = f"{1 + len(more)} arguments"
        raise InputError("explain takes a study, detail and settings", got=got)
    elif more:
        detail, settings = more[0], more[1] if len(more) > 1 else settings
    settings = Settings.given(settings)
    return explain_with(study, detail, settings, Menu(settings))


def _study_of(source: Any, more: tuple[Any, ...], roles: dict[str, Any]) -> Study:
    """The short ways: splits, or two tables, and the roles of their columns."""
    if set(SPLITS) <= set(roles) and source is None:
        return from_splits(**roles)
    tables = (source is not None) + len(more)
    if tables != 2 or "outcome" not in roles:
        raise InputError(
            "explain needs a Study, or two tables and the outcome's column",
            got=f"{tables} tables, {'no' if 'outcome' not in roles else 'an'} outcome",
            hint='wg.explain(source, target, outcome="readmitted", prediction="risk").',
        )
    for name in roles:
        known = [field.name for field in fields(Study)]
        require_known(name, known, f"There is no role '{name}'", "Roles")
    return Study(source, more[0], **roles)


def explain_with(study: Study, detail: Sequence[str] | str, settings: Settings, menu: Menu) -> Gap:
    """Explain a study with a menu of learners that may already have chosen some of them."""
    wanted = details_named(detail)
    with reporter(settings.progress) as report:
        design = study.read(report)
        caption = Caption.of(study)
        gap = explain_design(design, wanted, settings, caption=caption, report=report, menu=menu)
    for problem in gap.problems():
        warnings.warn(problem, WhygapWarning, stacklevel=3)
    return gap


def explain_design(
    design: Design,
    detail: Sequence[str] | str,
    settings: Settings,
    *,
    caption: Caption | None = None,
    report: Reporter | None = None,
    menu: Menu | None = None,
) -> Gap:
    """From encoded tables to the result: `explain`, the experiments and rehearsals all go here."""
    analysis = Analysis.begin(design, settings, report or Silent(), menu)
    analysis.look()
    aggregate = analysis.aggregate()
    details = analysis.details(details_named(detail))
    return analysis.gap(caption or Caption(), aggregate, details)


def subset_values(
    study: Study, part: str, subsets: Sequence[Sequence[str]], settings: Settings | None = None
) -> list[Estimate]:
    """Explained shares v(s) of the subsets you name, without Shapley shares."""
    study, settings = Study.given(study, "subset_values"), Settings.given(settings)
    asked = parts_named(part)
    if len(asked) != 1:
        raise SettingsError("part= names one part: 'covariate' or 'outcome'", got=repr(part))
    name = asked[0]
    with reporter(settings.progress) as report:
        design = study.read(report)
        positions = _positions(design, subsets)
        found = Analysis.begin(design, settings, report).values(name, positions)
    low, high = found.denominator.interval(settings.level)
    if low <= 0:
        span = f"{100 * settings.level:g}%: {low:.3g} to {high:.3g}"
        raise InputError(
            f"The {name} values are undefined: their denominator is not distinguishable from 0",
            got=f"{found.denominator.value:.3g} ({span})",
            hint="There is no shift of this kind to explain, or too few rows to see it.",
        )
    return [1 - top / found.denominator for top in found.numerators]


def parts_named(part: Sequence[str] | str) -> tuple[PartName, ...]:
    """Parts that have shares, checked, in the order they are computed."""
    names = name_list(() if part is None else part, "The detailed parts", SettingsError)
    for name in names:
        if name not in PARTS:
            raise SettingsError(
                f"There is no detailed part '{name}'",
                hint=did_you_mean(str(name), PARTS) or "Parts are 'covariate' and 'outcome'.",
            )
    return tuple(one for one in PARTS if one in names)


def was_interrupted(gap: Gap) -> bool:
    """Whether Ctrl-C ended the analysis early."""
    return any(note.kind == "interrupted" for note in gap.diagnostics.notes)


def _positions(design: Design, subsets: Any) -> list[tuple[int, ...]]:
    """Players by number, for each subset."""
    if not isinstance(subsets, Iterable):
        got = f"an object of type {type(subsets).__name__}"
        raise InputError("The subsets must be lists of players", got=got, hint='[["a"], ["b"]].')
    names, found = [p.name for p in design.players], []
    for subset in subsets:
        wanted = name_list(subset, "A subset")
        for name in wanted:
            require_known(name, names, f"There is no player named '{name}'", "Players")
        found.append(tuple(sorted({names.index(name) for name in wanted})))
    return found
