"""Which pairs of columns get product terms in the dictionary: found once, for all column sets.

With few columns all pairs do. Otherwise those of the baseline columns, and those on which shallow
trees split one after the other when they are grown on top of an additive fit: what is left for them
to find is not additive. Outcomes decide about pairs only, never about coefficients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.learning.boosted import Boosted, BoostedModel, OnTop
from whygap.learning.dictionary import ALL_PAIRS_UP_TO, build_dictionary
from whygap.learning.inputs import Inputs
from whygap.learning.models import Fast
from whygap.tables.design import Column

__all__ = ["Pair", "choose"]

Pair = tuple[int, int]

_TREES = 40
_LEAVES = 4
_MOST_PAIRS = 12
_ROWS = 10_000


def choose(
    raw: ByDomain[Array],
    outcome: ByDomain[Array],
    weights: ByDomain[Array],
    columns: Sequence[Column],
    baseline: Sequence[int],
) -> list[Pair]:
    """Pairs that matter for the outcome in either domain, or for telling the domains apart."""
    if len(columns) <= ALL_PAIRS_UP_TO:
        return []
    some = raw.map(lambda x: np.linspace(0, len(x) - 1, min(len(x), _ROWS)).astype(np.int64))
    table = np.vstack([raw[d][some[d]] for d in ("source", "target")])
    weight = np.concatenate([weights[d][some[d]] for d in ("source", "target")])
    label = np.concatenate([outcome[d][some[d]] for d in ("source", "target")])
    in_target = np.repeat([0.0, 1.0], [len(some.source), len(some.target)])
    additive = build_dictionary(table, columns)
    categorical = tuple(j for j, c in enumerate(columns) if c.kind == "category")
    inputs = Inputs(table, additive.transform(table), additive.simple, categorical)
    pairs = list(combinations(sorted(baseline), 2)) if _few(baseline) else []
    for domain in (0, 1):
        rows = np.flatnonzero(in_target == domain)
        pairs += _found(inputs.rows(rows), label[rows], weight[rows])
    pairs += _found(inputs, in_target, weight)
    return list(dict.fromkeys(pairs))


def _few(columns: Sequence[int]) -> bool:
    return len(columns) <= ALL_PAIRS_UP_TO


def _found(inputs: Inputs, target: Array, weight: Array) -> list[Pair]:
    """Pairs of raw columns whose splits follow each other, the greatest gain first."""
    learner = OnTop(Fast(), Boosted(rounds=_TREES, leaves=_LEAVES))
    model = learner.fit(inputs, target, weight, "probability")
    if not isinstance(model, BoostedModel):
        return []
    gains: Counter[Pair] = Counter()
    for tree in model.booster.dump_model()["tree_info"]:
        _collect(tree["tree_structure"], gains)
    return [pair for pair, _ in gains.most_common(_MOST_PAIRS)]


def _collect(node: dict[str, Any], gains: Counter[Pair]) -> None:
    """Gains of splits that follow a split on another column."""
    for side in ("left_child", "right_child"):
        child = node.get(side, {})
        if "split_feature" not in child:
            continue
        first, second = sorted((child["split_feature"], node["split_feature"]))
        if first != second:
            gains[first, second] += child["split_gain"]
        _collect(child, gains)
