"""Graph Shapley (Zhang et al. 2023): which mechanism of a known causal graph moved the metric?

The user gives the causal graph. Each mechanism `p(node | parents)` is one player; a coalition's
value is the mean loss when its mechanisms are the target's and all others the source's, obtained
by weighting source rows with products of density ratios. The outcome's mechanism is swapped inside
the loss, `l + b (p_1 - p_0)`, rather than by a ratio: the estimand is the same, and no division by
a small probability makes wrong predictions look more frequent than they are. Shapley shares add
up to the gap as the weights see it.
"""

from __future__ import annotations

import numpy as np

from experiments.rivals.disde import domain_probability
from experiments.rivals.graph import OUTCOME, Graph, Parents, graph_of
from experiments.rivals.importances import Importances, Method, random_stream
from experiments.rivals.learner import cross_fitted, fold_numbers
from whygap.domains import DOMAINS, Array
from whygap.errors import SettingsError
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights
from whygap.tables.design import Design

METHOD = Method(
    name="graph_shapley",
    part="aggregate",
    unit="change of the metric",
    assumptions="The causal graph is right and complete; the source covers the target.",
    misleads="Under a wrong graph credit goes to the wrong mechanism without a warning; products "
    "of many ratios leave few effective rows; the outcome's mechanism is not split among "
    "variables.",
)
LARGEST_GRAPH = 16  # all coalitions are valued: 65,536 weighted means


def importance(
    design: Design, settings: Settings, graph: Parents, outcome: str = OUTCOME
) -> Importances:
    """One share per mechanism; baseline columns and the outcome are mechanisms too."""
    checked = checked_graph(design, graph, outcome)
    ratios = [_mechanism_ratio(design, settings, checked, node) for node in checked.nodes[:-1]]
    loss = design.loss.source
    swapped = loss + _outcome_change(design, settings, checked)
    weights = design.sample().weights.source
    players = len(checked.nodes)
    coalitions = SubsetPlan(players).take(2**players)
    values = [
        np.average(
            swapped if players - 1 in coalition else loss,
            weights=weights * np.prod([ratios[i] for i in coalition if i < players - 1], axis=0),
        )
        for coalition in coalitions
    ]
    shares = linear_weights(coalitions, players) @ np.array(values)
    return METHOD.importances(dict(zip(checked.nodes, shares, strict=True)))


def checked_graph(design: Design, graph: Parents, outcome: str = OUTCOME) -> Graph:
    """The graph in causal order; unknown names, cycles and too many mechanisms are refused."""
    checked = graph_of(design, graph, outcome)
    if len(checked.nodes) > LARGEST_GRAPH:
        raise SettingsError(
            f"The causal graph may have at most {LARGEST_GRAPH} mechanisms",
            got=len(checked.nodes),
            hint="Group variables with groups={...}; a group is one mechanism.",
        )
    return checked


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
    rows = design.rows
    if not columns:
        return np.ones(rows.source)
    e = domain_probability(design, settings, columns, f"graph_shapley {columns}").source
    return np.asarray(e / (1 - e) * rows.source / rows.target)


def _outcome_change(design: Design, settings: Settings, graph: Graph) -> Array:
    """At source rows, b (p_1 - p_0): what the target's outcome mechanism adds to the loss."""
    rng = random_stream(settings, "graph_shapley outcome")
    columns = list(_columns(design, graph.parents[OUTCOME]))
    inputs, sample = design.features.map(lambda block: block[:, columns]), design.sample()
    folds = sample.units.map(lambda units: fold_numbers(units, settings.folds, rng))
    seed = int(rng.integers(2**31))
    p_0, p_1 = (
        cross_fitted(inputs[d], design.outcome[d], sample.weights[d], folds[d], seed)
        for d in DOMAINS
    )
    return np.asarray(design.slope.source * (p_1.elsewhere(inputs.source) - p_0.fitted))
