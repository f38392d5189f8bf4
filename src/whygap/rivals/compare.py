"""All rivals' importances beside ours, in one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.errors import FitError, ModelError, SettingsError, did_you_mean
from whygap.rivals import (
    auc_regression,
    disde,
    graph_shapley,
    mean_change,
    oaxaca_blinder,
    parametric_acc,
    parametric_change,
    random_forest_acc,
    region,
    wu_shift,
)
from whygap.rivals.graph import OUTCOME
from whygap.rivals.importances import Importances
from whygap.settings import Settings
from whygap.tables import Design, native_table

if TYPE_CHECKING:
    from whygap.results import Detailed, Gap

__all__ = ["METHODS", "compare", "comparison", "ours", "shares_of"]

Rival = Callable[[Design, Settings], Importances]
Graph = Mapping[str, Iterable[str]]
OURS = "whygap"

METHODS: dict[str, tuple[Rival, ...]] = {
    "mean_change": (mean_change.importance,),
    "oaxaca_blinder": (oaxaca_blinder.covariate_importance, oaxaca_blinder.outcome_importance),
    "wu_shift": (wu_shift.importance,),
    "parametric_change": (parametric_change.importance,),
    "parametric_acc": (parametric_acc.importance,),
    "random_forest_acc": (random_forest_acc.importance,),
    "disde": (disde.importance,),
    "region": (region.importance,),
    "auc_regression": (auc_regression.importance,),
}
"""Rivals by name. `graph_shapley` joins them when a causal graph is given."""


def compare(
    study: Any,
    methods: Sequence[str] | None = None,
    settings: Settings | None = None,
    gap: Gap | None = None,
    graph: Graph | None = None,
    others_only: bool = False,
) -> Any:
    """A tidy table of the rivals' importances beside our shares.

    Columns: `part`, `method`, `term`, `importance`, `low`, `high`, `rank`, `unit`. Importances of
    different methods have different units; compare ranks across methods, values within one.

    Args:
        study: a `whygap.Study`.
        methods: names of rivals, and "whygap" for ours; None for all that apply.
        settings: seed, folds, level.
        gap: our result for the same study; computed when it is wanted and not given.
        graph: causal graph (node -> parents) for `graph_shapley`; the outcome goes by its column.
        others_only: leave our shares out.

    Returns:
        The kind of table the study came in.
    """
    chosen = settings or Settings()
    asked = [methods] if isinstance(methods, str) else methods
    rivals = None if asked is None else [name for name in asked if name != OURS]
    found = comparison(study.design, rivals, chosen, graph, study.outcome)
    if not others_only and (asked is None or OURS in asked or gap is not None):
        found = [*ours(gap or _explained(study, chosen), chosen.level), *found]
    return native_table(_columns(found), study.table_kind)


def _explained(study: Any, settings: Settings) -> Gap:
    from whygap._explain import explain

    return explain(study, settings=settings)


def comparison(
    design: Design,
    methods: Sequence[str] | None = None,
    settings: Settings | None = None,
    graph: Graph | None = None,
    outcome: str = OUTCOME,
) -> list[Importances]:
    """Every asked-for rival on one design; names and the graph are checked before any is run.

    Without `methods`, a rival that cannot answer here keeps its place with one term, `(no answer)`,
    whose importance is NaN and whose unit is the reason; a rival asked for by name raises.
    """
    chosen = settings or Settings()
    known = dict(METHODS)
    if graph is not None:
        graph_shapley.checked_graph(design, graph, outcome)
        known["graph_shapley"] = (partial(graph_shapley.importance, graph=graph, outcome=outcome),)
    names = list(known) if methods is None else _checked(methods, known)
    found: list[Importances] = []
    for name in names:
        for rival in known[name]:
            try:
                found.append(rival(design, chosen))
            except (ModelError, FitError) as error:
                if methods is not None:
                    raise
                found.append(_no_answer(name, str(error)))
    return found


def _no_answer(method: str, reason: str) -> Importances:
    nothing = np.array([np.nan])
    return Importances(method, "aggregate", ("(no answer)",), nothing, reason, "", reason)


def ours(gap: Gap, level: float) -> list[Importances]:
    """Our shares in the rivals' form."""
    return [shares_of(detail, level) for detail in gap.details().values() if detail.defined]


def shares_of(detail: Detailed, level: float) -> Importances:
    """Our shares of one part, where they are defined."""
    intervals = [detail.shares[name].interval(level) for name in detail.players]
    return Importances(
        method=OURS,
        part=detail.part,
        names=tuple(detail.players),
        values=np.array([detail.shares[name].value for name in detail.players]),
        unit="share of the explained variation",
        assumptions="Overlap of the domains; nuisance models that converge.",
        misleads="Shares of a gap that varies little across strata are hard to measure.",
        low=np.array([low for low, _ in intervals]),
        high=np.array([high for _, high in intervals]),
    )


def _checked(methods: Sequence[str], known: Mapping[str, object]) -> list[str]:
    asked = [methods] if isinstance(methods, str) else list(methods)
    for name in asked:
        if name == "graph_shapley" and name not in known:
            raise SettingsError(
                "The method 'graph_shapley' needs a causal graph",
                hint="Give graph={'z2': ['z1'], ...} (command line: --graph FILE), each variable "
                "with its parents.",
            )
        if name not in known:
            raise SettingsError(
                f"There is no method '{name}'",
                hint=did_you_mean(name, known) or f"Methods are: {', '.join(known)}.",
            )
    return asked


def _columns(found: Sequence[Importances]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {
        name: [] for name in ("part", "method", "term", "importance", "low", "high", "rank", "unit")
    }
    for item in found:
        ranks = item.ranks()
        blank = np.full(len(item.names), np.nan)
        low = blank if item.low is None else item.low
        high = blank if item.high is None else item.high
        for i, name in enumerate(item.names):
            rows["part"].append(item.part)
            rows["method"].append(item.method)
            rows["term"].append(name)
            rows["importance"].append(float(item.values[i]))
            rows["low"].append(float(low[i]))
            rows["high"].append(float(high[i]))
            rows["rank"].append(ranks[name])
            rows["unit"].append(item.unit)
    return rows
