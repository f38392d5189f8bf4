"""Region (Liu et al. 2023): where does Y given X differ most?

A small regression tree on `|p_1(Y=1|X) - p_0(Y=1|X)|` over rows of both domains, weighted to their
shared ground, names one box of X. The tree is grown on one half of the rows and its best leaf is
measured on the other half, so that size and risks carry honest intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from experiments.rivals.disde import domain_probability, shared_weights
from experiments.rivals.importances import Importances, Method, random_stream
from experiments.rivals.learner import cross_fitted, fold_numbers
from experiments.rivals.linear import domain_means
from whygap.domains import Array, ByDomain, Domain
from whygap.errors import FitError
from whygap.estimate import Estimate
from whygap.settings import Settings
from whygap.tables.design import Column, Design

METHOD = Method(
    name="region",
    part="outcome",
    unit="share of the tree's gain",
    assumptions="The two outcome laws differ most in a box with few sides.",
    misleads="It shows where the outcome differs, not where the loss does; diffuse shifts have no "
    "box, and noise of the two risk models looks like one.",
)


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The box, measured on rows that did not shape it."""

    rule: tuple[str, ...]  # sides of the box, in words; empty when nothing was worth a split
    size: Estimate  # share of target rows inside
    source_risk: Estimate  # mean outcome inside, source
    target_risk: Estimate  # mean outcome inside, target
    split_shares: Array  # per column of the design, its share of the tree's gain

    @property
    def difference(self) -> Estimate:
        """Change of the mean outcome inside the box."""
        return self.target_risk - self.source_risk


def importance(design: Design, settings: Settings) -> Importances:
    """Share of the tree's gain, per player."""
    shares = find_region(design, settings).split_shares
    return METHOD.importances(
        {player.name: shares[list(player.columns)].sum() for player in design.players}
    )


def find_region(
    design: Design, settings: Settings, depth: int = 3, smallest: float = 0.05
) -> Region:
    """Grow the tree on one half, measure its most different leaf on the other.

    Boxes of at most three sides can be said in words; a leaf of 5% of the shared ground has rows
    enough to measure its risks.
    """
    rng = random_stream(settings, "region")
    growing = design.sample().units.map(lambda units: fold_numbers(units, 2, rng) == 0)
    tree = _grown_tree(design.take(growing), settings, rng, depth, smallest)
    columns = list(design.baseline + design.covariates)
    leaf = _largest_leaf(tree)
    inside = design.features.map(lambda block: tree.apply(block[:, columns]) == leaf)
    rule = tuple(_sides(tree, leaf, [design.columns[j] for j in columns]))
    shares = np.zeros(len(design.columns))
    shares[columns] = tree.feature_importances_
    return _measured(design, inside, growing.map(np.logical_not), rule, shares)


def _grown_tree(
    design: Design, settings: Settings, rng: np.random.Generator, depth: int, smallest: float
) -> Any:
    """A tree of |p_1 - p_0| on shared ground, each domain weighing one half."""
    columns = list(design.baseline + design.covariates)
    ground = shared_weights(domain_probability(design, settings), design.rows)
    distance = _risk_distance(design, settings, rng)
    seed = int(rng.integers(2**31))
    tree = DecisionTreeRegressor(
        max_depth=depth, min_weight_fraction_leaf=smallest, random_state=seed
    )
    return tree.fit(
        np.vstack(list(design.features))[:, columns],
        np.concatenate(list(distance)),
        sample_weight=np.concatenate([weights / weights.sum() for weights in ground]),
    )


def _risk_distance(design: Design, settings: Settings, rng: np.random.Generator) -> ByDomain[Array]:
    """|p_1 - p_0| at every row; a row's own domain is predicted out of fold."""
    columns = list(design.baseline + design.covariates)
    inputs = design.features.map(lambda block: block[:, columns])
    sample = design.sample()
    seed = int(rng.integers(2**31))

    def risks(here: Domain, there: Domain) -> tuple[Array, Array]:
        fold = fold_numbers(sample.units[here], settings.folds, rng)
        risk = cross_fitted(inputs[here], design.outcome[here], sample.weights[here], fold, seed)
        return risk.fitted, risk.elsewhere(inputs[there])

    p_0_source, p_0_target = risks("source", "target")
    p_1_target, p_1_source = risks("target", "source")
    return ByDomain(np.abs(p_1_source - p_0_source), np.abs(p_1_target - p_0_target))


def _largest_leaf(tree: Any) -> int:
    nodes = tree.tree_
    leaves = np.flatnonzero(nodes.children_left < 0)
    return int(leaves[np.argmax(nodes.value[leaves, 0, 0])])


def _sides(tree: Any, leaf: int, columns: list[Column]) -> list[str]:
    """The path from the root to the leaf, root first."""
    nodes = tree.tree_
    sides: list[str] = []
    node = leaf
    while node != 0:
        below = (nodes.children_left == node) | (nodes.children_right == node)
        parent = int(np.flatnonzero(below)[0])
        sign = "<=" if nodes.children_left[parent] == node else ">"
        name = columns[int(nodes.feature[parent])].name
        sides.append(f"{name} {sign} {nodes.threshold[parent]:.4g}")
        node = parent
    return sides[::-1]


def _measured(
    design: Design,
    inside: ByDomain[Array],
    measure: ByDomain[Array],
    rule: tuple[str, ...],
    shares: Array,
) -> Region:
    sample = design.sample()

    def mean(domain: Domain, values: Array, among: Array) -> Estimate:
        """Mean of the values over the rows marked by `among`."""
        top, bottom = domain_means(sample, domain, np.column_stack([values * among, among]))
        return top / bottom

    both = inside.zip(measure, np.logical_and)
    if not all(rows.any() for rows in both):
        raise FitError(
            "The region holds no row of one domain in the half it is measured on",
            hint="Give more rows, or ask find_region for larger leaves (smallest=0.2).",
        )
    return Region(
        rule=rule,
        size=mean("target", inside.target.astype(float), measure.target),
        source_risk=mean("source", design.outcome.source, both.source),
        target_risk=mean("target", design.outcome.target, both.target),
        split_shares=shares,
    )
