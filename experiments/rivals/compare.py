"""Run every comparator on one design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.rivals import auc_regression, disde, graph_shapley, oaxaca_blinder, region
from experiments.rivals.covariate_rivals import mean_change, wu_shift
from experiments.rivals.graph import OUTCOME, Parents
from experiments.rivals.importances import Importances, Method
from experiments.rivals.outcome_rivals import (
    parametric_acc,
    parametric_change,
    random_forest_acc,
)
from whygap.errors import FitError, ModelError, SettingsError, require_known
from whygap.settings import Settings
from whygap.tables.design import Design

if TYPE_CHECKING:
    from whygap.results import Shares

Rival = Callable[[Design, Settings], Importances]
OURS = "whygap"

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
"""Comparators by name. `graph_shapley` joins them when a causal graph is passed."""


def comparison(
    design: Design,
    methods: Sequence[str] | None = None,
    settings: Settings | None = None,
    graph: Parents | None = None,
    outcome: str = OUTCOME,
) -> list[Importances]:
    """Run comparators on one design, after their names and the graph have been checked.

    Without `methods`, a comparator that cannot answer keeps its place with one term,
    `(no answer)`, whose importance is NaN and whose unit is the reason; a comparator requested by
    name raises.

    Args:
        design: encoded rows of both domains.
        methods: names of comparators; None for all.
        settings: seed, folds, level.
        graph: causal graph (node -> parents) for `graph_shapley`.
        outcome: what the outcome is called in the graph.
    """
    settings = settings or Settings()
    available = dict(METHODS)
    if graph is not None:
        graph_shapley.checked_graph(design, graph, outcome)
        available["graph_shapley"] = (
            partial(graph_shapley.importance, graph=graph, outcome=outcome),
        )
    names = list(available) if methods is None else _checked(methods, available)
    results: list[Importances] = []
    for name in names:
        for rival in available[name]:
            try:
                results.append(rival(design, settings))
            except (ModelError, FitError) as error:
                if methods is not None:
                    raise
                results.append(_no_answer(name, str(error)))
    return results


def _no_answer(method: str, reason: str) -> Importances:
    nothing = np.array([np.nan])
    return Importances(method, "aggregate", ("(no answer)",), nothing, reason, "", reason)


def shares_of(detail: Shares, level: float) -> Importances:
    """Return our shares of one part in the comparators' form, where they are defined."""
    method = Method(
        name=OURS,
        part=detail.part,
        unit="share of the explained variation",
        assumptions="Overlap of the domains; nuisance models that converge.",
        misleads="Shares of a gap that varies little across strata are hard to measure.",
    )
    return method.from_estimates({name: detail.values[name] for name in detail.players}, level)


def _checked(methods: Sequence[str], available: Mapping[str, object]) -> Sequence[str]:
    for name in methods:
        if name == "graph_shapley" and name not in available:
            raise SettingsError(
                "The method 'graph_shapley' needs a causal graph",
                hint="Give graph={'z2': ['z1'], ...}, each variable with its parents.",
            )
        require_known(name, available, f"There is no method '{name}'", "Methods", SettingsError)
    return methods
