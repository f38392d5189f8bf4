"""All rivals' importances beside ours, in one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from whygap.errors import (
    FitError,
    ModelError,
    SettingsError,
    name_list,
    require_flag,
    require_known,
)
from whygap.results import Gap
from whygap.rivals import auc_regression, disde, graph_shapley, oaxaca_blinder, region
from whygap.rivals.covariate_rivals import mean_change, wu_shift
from whygap.rivals.graph import OUTCOME, Parents
from whygap.rivals.importances import Importances, Method
from whygap.rivals.outcome_rivals import parametric_acc, parametric_change, random_forest_acc
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables import Design, native_table
from whygap.tables.design import require_plain

if TYPE_CHECKING:
    from whygap.results import Shares

Rival = Callable[[Design, Settings], Importances]
OURS = "whygap"
COLUMNS = ("part", "method", "term", "importance", "low", "high", "rank", "unit")

METHODS: dict[str, tuple[Rival, ...]] = {
    "mean_change": (mean_change,),
    "oaxaca_blinder": (oaxaca_blinder.covariate_importance, oaxaca_blinder.outcome_importance),
    "wu_shift": (wu_shift,),
    "parametric_change": (parametric_change,),
    "parametric_acc": (parametric_acc,),
    "random_forest_acc": (random_forest_acc,),
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
    graph: Parents | None = None,
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
    study, chosen = Study.given(study, "compare"), Settings.given(settings)
    gap = Gap.given(gap)
    require_flag(others_only, "others_only")
    asked = None if methods is None else name_list(methods, "The methods", SettingsError)
    rivals = None if asked is None else [name for name in asked if name != OURS]
    found = comparison(_comparable(study.design), rivals, chosen, graph, study.outcome)
    if not others_only and (asked is None or OURS in asked or gap is not None):
        found = [*ours(gap or _explained(study, chosen), chosen.level), *found]
    return _table(found, study.table_kind)


def _comparable(design: Design) -> Design:
    """What the rivals can work with: right or wrong in the place of several classes."""
    if design.task == "multiclass" and design.metric.name in ("accuracy", "zero_one"):
        return design.as_binary()
    instead = "The points of explain have no rival for it; for several classes use accuracy."
    require_plain(design, "A comparison with other methods", instead)
    return design


def _explained(study: Any, settings: Settings) -> Gap:
    from whygap._explain import explain

    return explain(study, settings=settings)


def comparison(
    design: Design,
    methods: Sequence[str] | None = None,
    settings: Settings | None = None,
    graph: Parents | None = None,
    outcome: str = OUTCOME,
) -> list[Importances]:
    """Every asked-for rival on one design; names and the graph are checked before any is run.

    Without `methods`, a rival that cannot answer here keeps its place with one term, `(no answer)`,
    whose importance is NaN and whose unit is the reason; a rival asked for by name raises.
    """
    chosen = Settings.given(settings)
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
    return [shares_of(detail, level) for detail in gap.shares.values() if detail.defined]


def shares_of(detail: Shares, level: float) -> Importances:
    """Our shares of one part, where they are defined."""
    method = Method(
        name=OURS,
        part=detail.part,
        unit="share of the explained variation",
        assumptions="Overlap of the domains; nuisance models that converge.",
        misleads="Shares of a gap that varies little across strata are hard to measure.",
    )
    return method.from_estimates({name: detail.values[name] for name in detail.players}, level)


def _checked(methods: Sequence[str], known: Mapping[str, object]) -> list[str]:
    asked = [methods] if isinstance(methods, str) else list(methods)
    for name in asked:
        if name == "graph_shapley" and name not in known:
            raise SettingsError(
                "The method 'graph_shapley' needs a causal graph",
                hint="Give graph={'z2': ['z1'], ...} (command line: --graph FILE), each variable "
                "with its parents.",
            )
        require_known(name, known, f"There is no method '{name}'", "Methods", SettingsError)
    return asked


def _table(found: Sequence[Importances], kind: str) -> Any:
    lines: list[tuple[Any, ...]] = []
    for item in found:
        blank = np.full(len(item.names), np.nan)
        low, high = (blank if ends is None else ends for ends in (item.low, item.high))
        ranks = item.ranks()
        for name, value, bottom, top in zip(item.names, item.values, low, high, strict=True):
            ends = float(value), float(bottom), float(top)
            lines.append((item.part, item.method, name, *ends, ranks[name], item.unit))
    return native_table({name: [line[k] for line in lines] for k, name in enumerate(COLUMNS)}, kind)
