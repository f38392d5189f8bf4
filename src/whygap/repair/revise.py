"""From explanation to action: revise the model with the variables found, and measure the gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whygap.errors import ResultError, SettingsError, name_list, require_known
from whygap.repair.curve import Bench, check_top, revision_learner
from whygap.repair.model import RevisedModel, SourceRisk
from whygap.repair.revision import Contrast, Revision
from whygap.repair.scores import SCORES
from whygap.results import Gap
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import OUTCOMES, Design

if TYPE_CHECKING:
    from whygap.results import Shares

__all__ = ["contrast_rankings", "revise", "revise_design"]


def revise(
    study: Any,
    gap: Gap | None = None,
    top: int = 3,
    settings: Settings | None = None,
    ranking: Sequence[str] | None = None,
) -> Revision:
    """Revise a study's model with the variables that explain its gap.

    Args:
        study: a `whygap.Study`.
        gap: the explanation that ranks the variables: by what can be won back through them here,
            where that was asked for, else by their shares of the outcome part.
        top: how many variables the revised model may use, beside the source risk and the baseline.
        settings: seed, folds, level.
        ranking: names of players, most important first, in place of the gap's own; no more than
            these are used.

    Returns:
        The revised model and the measured curve.
    """
    design = Study.given(study, "revise").design
    require_two_values(design)
    players = [player.name for player in design.players]
    names = None if ranking is None else name_list(ranking, "The ranking", SettingsError)
    check_top(top, len(players) if names is None else top)
    gap = Gap.given(gap)
    outcome = covariate = _given(names) or _won_back(gap, players) or _by_shares(gap)
    if names is not None:
        top = min(top, len(names))
    elif gap is not None and (shares := gap.shares.get("covariate")) and shares.defined:
        covariate = replace(covariate, names=_largest_first(shares))
    return revise_design(
        study.design,
        outcome.names,
        covariate.names,
        ranked_by=outcome.by,
        top=top,
        settings=settings,
        threshold=study.threshold,
        risk_column=study.source_risk,
        table_kind=study.table_kind,
    )


def require_two_values(design: Design) -> None:
    """Refuse what is no probability of a 1."""
    if design.task != "binary":
        raise SettingsError(
            "revise corrects probabilities of an outcome with two values",
            got=f"an outcome of {OUTCOMES[design.task]}",
            hint="Fit the model again on target rows, with the variables that explain names first.",
        )


def revise_design(
    design: Design,
    ranking: Sequence[str],
    covariate_ranking: Sequence[str] | None = None,
    *,
    ranked_by: str = "",
    top: int = 3,
    settings: Settings | None = None,
    threshold: float = 0.5,
    risk_column: str | None = None,
    table_kind: str = "pyarrow",
) -> Revision:
    """The same on a design; `covariate_ranking` orders the reweighting."""
    chosen = Settings.given(settings)
    check_top(top, len(design.players))
    outcome = _positions(design, ranking, top)
    covariate = _positions(design, covariate_ranking or ranking, top)
    bench = Bench(design, chosen, threshold)
    steps = (
        bench.original(),
        *(bench.targeted(outcome[:k]) for k in range(top + 1)),
        *(bench.reweighted(covariate[:k]) for k in range(top + 1)),
        bench.retrained(),
    )
    return Revision(
        model=_final_model(bench, outcome[:top], risk_column),
        steps=steps,
        ranking=tuple(ranking),
        covariate_ranking=tuple(covariate_ranking or ranking),
        ranked_by=ranked_by,
        level=chosen.level,
        table_kind=table_kind,
    )


def contrast_rankings(
    design: Design,
    first: Sequence[str],
    second: Sequence[str],
    top: int,
    settings: Settings | None = None,
    threshold: float = 0.5,
) -> tuple[Contrast, ...]:
    """Paired differences between targeted revisions by two rankings, k = 1..top.

    Both are measured on the same rows and folds; the same variables give exactly 0.
    """
    check_top(top, len(design.players))
    bench = Bench(design, Settings.given(settings), threshold)
    here, there = _positions(design, first, top), _positions(design, second, top)
    found = []
    for k in range(1, top + 1):
        one, two = bench.targeted(here[:k]), bench.targeted(there[:k])
        scores = {name: one.scores[name] - two.scores[name] for name in SCORES}
        found.append(Contrast(k, one.variables, two.variables, **scores))
    return tuple(found)


def _final_model(bench: Bench, players: tuple[int, ...], risk_column: str | None) -> RevisedModel:
    """The targeted revision with these variables, on all target rows."""
    design = bench.design
    order = design.baseline + design.covariates
    columns = [design.columns[j] for j in order]
    chosen = design.subset_columns(players)
    known = design.source_risk is not None
    model = RevisedModel(
        names=tuple(c.name for c in columns),
        kinds=tuple(c.kind for c in columns),
        levels=tuple(c.levels for c in columns),
        inputs=tuple(order.index(j) for j in chosen),
        risk=SourceRisk(None, risk_column) if known else bench.risk,
        threshold=bench.threshold,
        learner=revision_learner(design, chosen, bench.seed),
    )
    given = None if design.source_risk is None else design.source_risk.target
    rows = design.features.target[:, list(order)]
    return model.fit_encoded(rows, given, design.outcome.target, bench.sample.weights.target)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Players, most important first, and what says so."""

    names: tuple[str, ...]
    by: str


def _given(ranking: Sequence[str] | None) -> Ranking | None:
    return None if ranking is None else Ranking(tuple(ranking), "taken as you ranked them")


def _won_back(gap: Gap | None, players: Sequence[str]) -> Ranking | None:
    here = gap.recoverable.variables if gap is not None and gap.recoverable else None
    if not here:
        return None
    names = sorted((n for n in here if n in players), key=lambda name: -here[name].value)
    return Ranking(tuple(names), "ranked by what can be won back through them")


def _by_shares(gap: Gap | None) -> Ranking:
    detail = None if gap is None else gap.shares.get("outcome")
    if detail is None:
        raise ResultError(
            "Revising needs a gap with its recoverable budget or outcome shares, or a ranking",
            hint="Run explain(study, detail=('recoverable',)), or give ranking=['a', 'b'].",
        )
    if not detail.defined:
        raise ResultError(
            "The outcome shares are undefined, so they rank nothing",
            hint=f"{detail.reason} Run explain(study, detail=('recoverable',)), or give "
            "ranking=['a', 'b'] to choose variables yourself.",
        )
    return Ranking(_largest_first(detail), "ranked by their shares of the outcome part")


def _largest_first(detail: Shares) -> tuple[str, ...]:
    return tuple(sorted(detail.players, key=lambda name: -detail.values[name].value))


def _positions(design: Design, names: Sequence[str], top: int) -> tuple[int, ...]:
    known = [player.name for player in design.players]
    for name in names:
        what = f"The ranking names '{name}', which is no player of the study"
        require_known(name, known, what, "Players", SettingsError)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise SettingsError(f"The ranking names '{twice}' twice")
    if len(names) < top:
        raise SettingsError(
            "The ranking is shorter than top", got=f"{len(names)} names for top={top}"
        )
    return tuple(known.index(name) for name in names[:top])
