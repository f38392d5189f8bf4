"""THE MAIN PATH: two tables in, an explanation of the gap out (paper: Algorithms 1 and 4)."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

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
from whygap.settings import Settings, details_named
from whygap.study import Study
from whygap.tables.design import Design

PARTS: tuple[PartName, ...] = ("covariate", "outcome")


class _Unset:
    """Mark an argument that was left out: what a Study or Settings says then holds."""

    def __repr__(self) -> str:
        return "unset"


_UNSET: Any = _Unset()


def explain(  # noqa: D417 -- roles and settings are documented where they belong
    study_or_source: Any,
    target: Any = None,
    *,
    detail: Sequence[str] | str = "all",
    settings: Settings | None = None,
    outcome: str = _UNSET,
    baseline: Sequence[str] = _UNSET,
    covariates: Sequence[str] | None = _UNSET,
    prediction: str | Mapping[Any, str] | None = _UNSET,
    model: Any = _UNSET,
    metric: Any = _UNSET,
    order: Literal["covariates first", "outcome first"] = _UNSET,
    task: Literal["auto", "binary", "multiclass", "regression"] = _UNSET,
    threshold: float = _UNSET,
    quantile: float | None = _UNSET,
    groups: Mapping[str, Sequence[str]] | None = _UNSET,
    weights: str | None = _UNSET,
    clusters: str | None = _UNSET,
    source_risk: str | None = _UNSET,
    positive: Any = _UNSET,
    source_name: str = _UNSET,
    target_name: str = _UNSET,
    unsafe_pickle: bool = _UNSET,
    sample: int | None = _UNSET,
    learner: Any = _UNSET,
    folds: int = _UNSET,
    repeats: int = _UNSET,
    subsets: int | Literal["auto", "all"] = _UNSET,
    sampling_error: float | None = _UNSET,
    time_budget: float | None = _UNSET,
    support: Literal["auto", "all", "common"] = _UNSET,
    clip: float | None = _UNSET,
    level: float = _UNSET,
    checkpoint: str | None = _UNSET,
    n_jobs: int = _UNSET,
    backend: Literal["local", "ray", "dask"] = _UNSET,
    address: str | None = _UNSET,
    seed: int = _UNSET,
    progress: bool | None = _UNSET,
) -> Gap:
    """Explain the performance gap of a study, or of two tables: `explain(a, b, outcome="y", ...)`.

    Args:
        study_or_source: the two tables and their roles; or the source table.
        target: the target table; None with a Study.
        detail: what is computed beyond the parts: "points" (what each variable costs), "affected"
            (groups of rows), "recoverable" (what a better model could win back), and "shares"
            (the paper's shares of both parts); "all" is all of them, () none.
        settings: how to run; `Settings()` if None.
        outcome: column of outcomes. `outcome` to `sample` are the roles of a `Study`, for two
            tables only.
        learner: "auto", "fast", ... `learner` to `progress` are those of `Settings`, and override
            `settings`.

    Returns:
        The gap, its parts, the requested details, and how far to trust them.
    """
    values = {name: value for name, value in locals().items() if value is not _UNSET}
    roles = {field.name: values[field.name] for field in fields(Study) if field.name in values}
    changes = {f.name: values[f.name] for f in fields(Settings) if f.name in values}
    study = _study(study_or_source, target, roles)
    settings = Settings.resolve(settings)
    settings = replace(settings, **changes) if changes else settings
    return explain_with(study, detail, settings, Menu(settings))


def _study(study_or_source: Any, target: Any, roles: Mapping[str, Any]) -> Study:
    """Return the study that the arguments of `explain` describe."""
    names = [name for name in roles if name != "target" or target is not None]
    if isinstance(study_or_source, Study):
        if names:
            raise InputError(
                "Roles and target are named in the Study, not beside it",
                got=", ".join(names),
                hint="explain(study, detail=..., settings=...) explains it; for two tables write "
                "explain(source, target, outcome=...).",
            )
        return study_or_source
    is_name = isinstance(target, str) and not Path(target).suffix and not Path(target).exists()
    if is_name and "outcome" not in roles:
        hint = f"The column of outcomes is named by outcome={target!r}."
        raise InputError("target= is the second table, not a column", got=repr(target), hint=hint)
    if target is None or "outcome" not in roles:
        raise InputError(
            "explain needs a Study, or two tables and the outcome's column",
            got="no target" if target is None else "no outcome",
            hint='wg.explain(source, target, outcome="readmitted", prediction="risk").',
        )
    return Study(study_or_source, **roles)


def explain_with(study: Study, detail: Sequence[str] | str, settings: Settings, menu: Menu) -> Gap:
    """Explain a study with a menu of learners, in which some choices may be made already.

    Args:
        study: the question.
        detail: "all", a name or names of details.
        settings: of the analysis.
        menu: learners to select from.
    """
    names = details_named(detail)
    with reporter(settings.progress) as report:
        design = study.read(report)
        caption = Caption.of(study)
        gap = explain_design(design, names, settings, caption=caption, report=report, menu=menu)
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
    """Explain the gap of encoded tables, for `explain`, experiments and rehearsals.

    Args:
        design: the encoded tables.
        detail: what is computed beyond the parts.
        settings: how to run.
        caption: what the study's tables and columns are called.
        report: shows progress.
        menu: learners, some of them perhaps chosen already.
    """
    analysis = Analysis.begin(design, settings, report or Silent(), menu)
    analysis.look()
    parts = analysis.decomposition()
    details = analysis.details((detail,) if isinstance(detail, str) else detail)
    return analysis.gap(caption or Caption(), parts, details)


def subset_values(
    study: Study, part: str, subsets: Sequence[Sequence[str]], settings: Settings | None = None
) -> list[Estimate]:
    """Estimate the explained share v(s) of each named subset, without Shapley shares.

    Args:
        study: the question.
        part: "covariate" or "outcome".
        subsets: names of variables, for each subset.
        settings: how to run; `Settings()` if None.
    """
    study = Study.require(study, "subset_values")
    settings = Settings.resolve(settings)
    parts = _parts_named(part)
    if len(parts) != 1:
        raise SettingsError("part= names one part: 'covariate' or 'outcome'", got=repr(part))
    name = parts[0]
    with reporter(settings.progress) as report:
        design = study.read(report)
        positions = _positions(design, subsets)
        values = Analysis.begin(design, settings, report).values(name, positions)
    low, high = values.denominator.interval(settings.level)
    if low <= 0:
        span = f"{100 * settings.level:g}%: {low:.3g} to {high:.3g}"
        raise InputError(
            f"The {name} values are undefined: their denominator is not distinguishable from 0",
            got=f"{values.denominator.value:.3g} ({span})",
            hint="There is no shift of this kind to explain, or too few rows to see it.",
        )
    return [1 - numerator / values.denominator for numerator in values.numerators]


def _parts_named(part: Sequence[str] | str) -> tuple[PartName, ...]:
    """Return the named parts that have shares, checked, in the order of computation."""
    names = name_list(() if part is None else part, "The detailed parts", SettingsError)
    for name in names:
        if name not in PARTS:
            hint = did_you_mean(str(name), PARTS) or "Parts are 'covariate' and 'outcome'."
            raise SettingsError(f"There is no detailed part '{name}'", hint=hint)
    return tuple(name for name in PARTS if name in names)


def was_interrupted(gap: Gap) -> bool:
    """Return whether Ctrl-C ended the analysis early.

    Args:
        gap: the result.
    """
    return any(note.kind == "interrupted" for note in gap.notes)


def _positions(design: Design, subsets: Any) -> list[tuple[int, ...]]:
    """Return each subset's variables by number."""
    if not isinstance(subsets, Iterable):
        actual = f"an object of type {type(subsets).__name__}"
        raise InputError("The subsets must be lists of players", got=actual, hint='[["a"], ["b"]].')
    players = [player.name for player in design.players]
    positions = []
    for subset in subsets:
        names = name_list(subset, "A subset")
        for name in names:
            require_known(name, players, f"There is no player named '{name}'", "Players")
        positions.append(tuple(sorted({players.index(name) for name in names})))
    return positions
