"""Graph Shapley (Zhang et al. 2023): which mechanism of a known causal graph moved the metric?

The user gives the causal graph. Each mechanism `p(node | parents)` is one player; a coalition's
value is the mean loss when its mechanisms are the target's and all others the source's, obtained
by weighting source rows with products of density ratios. The outcome's mechanism is swapped inside
the loss, `l + b (p_1 - p_0)`, rather than by a ratio: the estimand is the same, and no division by
a small probability makes wrong predictions look more frequent than they are. Shapley shares add
up to the gap as the weights see it.

Assumes: the graph is right and complete (no hidden common causes), and the target lies inside the
source's support, mechanism by mechanism.
Misleads: under a wrong graph credit goes to the wrong mechanism without a warning; products of
many ratios have few effective rows (reported). It cannot split the outcome's mechanism among
variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array
from whygap.errors import SettingsError
from whygap.rivals.graph import OUTCOME, Graph, graph_of
from whygap.rivals.importances import Importances, random_stream
from whygap.rivals.learner import cross_fitted, fold_numbers
from whygap.settings import Settings
from whygap.shapley import Subset, SubsetPlan, linear_weights
from whygap.tables.design import Design

__all__ = ["GraphShares", "attribute", "checked_graph", "importance"]

ASSUMPTIONS = "The causal graph is right and complete; the source covers the target."
MISLEADS = (
    "Under a wrong graph credit goes to the wrong mechanism without a warning; products of many "
    "ratios leave few effective rows; the outcome's mechanism is not split among variables."
)
LARGEST_GRAPH = 16


@dataclass(frozen=True, slots=True, eq=False)
class GraphShares:
    """Shares of the mechanisms.

    Attributes:
        graph: the checked graph.
        shares: one per node of the graph, in its order.
        gap: their sum: the gap as the weights see it.
        observed_gap: target mean minus source mean of the metric.
        effective_rows: Kish's effective number of source rows under all ratios at once.
    """

    graph: Graph
    shares: Array
    gap: float
    observed_gap: float
    effective_rows: float


def importance(
    design: Design,
    settings: Settings,
    graph: Mapping[str, Iterable[str]],
    outcome: str = OUTCOME,
) -> Importances:
    """One share per mechanism; baseline columns and the outcome are mechanisms too."""
    found = attribute(design, settings, graph, outcome)
    return Importances(
        method="graph_shapley",
        part="aggregate",
        names=found.graph.nodes,
        values=found.shares,
        unit="change of the metric",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def checked_graph(
    design: Design, graph: Mapping[str, Iterable[str]], outcome: str = OUTCOME
) -> Graph:
    """The graph in causal order; unknown names, cycles and too many mechanisms are refused."""
    checked = graph_of(design, graph, outcome)
    if len(checked.nodes) > LARGEST_GRAPH:
        raise SettingsError(
            f"The causal graph may have at most {LARGEST_GRAPH} mechanisms",
            got=len(checked.nodes),
            hint="Group variables with groups={...}; a group is one mechanism.",
        )
    return checked


def attribute(
    design: Design,
    settings: Settings,
    graph: Mapping[str, Iterable[str]],
    outcome: str = OUTCOME,
) -> GraphShares:
    """Fit one ratio per mechanism and share the gap among them."""
    checked = checked_graph(design, graph, outcome)
    ratios = [_mechanism_ratio(design, settings, checked, node) for node in checked.nodes[:-1]]
    swapped = design.loss.source + _outcome_change(design, settings, checked)
    weights, loss = design.sample().weights, design.loss
    players = len(checked.nodes)
    coalitions = SubsetPlan(players).take(2**players)
    values = _coalition_values(coalitions, loss.source, swapped, weights.source, ratios)
    shares = np.asarray(linear_weights(coalitions, players) @ values)
    means = loss.zip(weights, lambda v, w: float(np.average(v, weights=w)))
    full = weights.source * np.prod(ratios, axis=0)
    return GraphShares(
        graph=checked,
        shares=shares,
        gap=float(shares.sum()),
        observed_gap=means.target - means.source,
        effective_rows=float(full.sum() ** 2 / (full**2).sum()),
    )


def _coalition_values(
    coalitions: Sequence[Subset],
    loss: Array,
    swapped: Array,
    weights: Array,
    ratios: list[Array],
) -> Array:
    """Mean loss per coalition; the outcome is the last player."""
    outcome = len(ratios)
    values = []
    for coalition in coalitions:
        product = weights * np.prod([ratios[i] for i in coalition if i != outcome], axis=0)
        shown = swapped if outcome in coalition else loss
        values.append(float(np.average(shown, weights=product)))
    return np.array(values)


def _mechanism_ratio(design: Design, settings: Settings, graph: Graph, node: str) -> Array:
    """p_1(node | parents) / p_0(node | parents) at source rows: joint ratio over parents' ratio."""
    given = _columns(design, graph.parents[node])
    joint = _density_ratio(design, settings, given + _columns(design, (node,)))
    return joint / _density_ratio(design, settings, given)


def _columns(design: Design, names: tuple[str, ...]) -> tuple[int, ...]:
    players = {player.name: player.columns for player in design.players}
    baseline = {design.columns[j].name: (j,) for j in design.baseline}
    return tuple(j for name in names for j in {**baseline, **players}[name])


def _density_ratio(design: Design, settings: Settings, columns: tuple[int, ...]) -> Array:
    """p_1 / p_0 of some columns at source rows: odds of a cross-fitted domain classifier."""
    rows, sample = design.rows, design.sample()
    if not columns:
        return np.ones(rows.source)
    rng = random_stream(settings, f"graph_shapley {columns}")
    features = np.vstack(list(design.features))[:, list(columns)]
    domain = np.repeat([0.0, 1.0], list(rows))
    fold = np.concatenate([fold_numbers(units, settings.folds, rng) for units in sample.units])
    weights = np.concatenate(list(sample.weights))
    fitted, _ = cross_fitted(features, domain, weights, fold, int(rng.integers(2**31)))
    at_source = fitted[: rows.source]
    return np.asarray(at_source / (1 - at_source) * rows.source / rows.target)


def _outcome_change(design: Design, settings: Settings, graph: Graph) -> Array:
    """At source rows, b (p_1 - p_0): what the target's outcome mechanism adds to the loss."""
    rng = random_stream(settings, "graph_shapley outcome")
    columns = list(_columns(design, graph.parents[OUTCOME]))
    inputs, sample = design.features.map(lambda block: block[:, columns]), design.sample()
    folds = sample.units.map(lambda units: fold_numbers(units, settings.folds, rng))
    seed = int(rng.integers(2**31))
    p_0, _ = cross_fitted(
        inputs.source, design.outcome.source, sample.weights.source, folds.source, seed
    )
    _, predictors = cross_fitted(
        inputs.target, design.outcome.target, sample.weights.target, folds.target, seed
    )
    p_1 = np.mean([predict(inputs.source) for predict in predictors], axis=0)
    return np.asarray(design.slope.source * (p_1 - p_0))
