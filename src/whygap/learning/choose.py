"""Choosing a learner for one kind of nuisance: once, by out-of-fold loss, on a few probes.

A probe is a training set and held-out rows. Candidates are grouped in families (the fast learner's
penalties; numbers of trees of each boosted shape, read off one fit). The best of each family are
blended with non-negative weights that minimise the out-of-fold squared error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import optimize

from whygap.domains import Array
from whygap.learning.boosted import Boosted, OnTop
from whygap.learning.forest import Forest
from whygap.learning.growth import Growth, shaped, staged
from whygap.learning.inputs import Inputs
from whygap.learning.models import Blend, Fast, Kind, Learner, is_trivial

__all__ = ["Choice", "Probe", "choose_auto", "choose_boosted", "choose_fast", "grown", "hopeless"]

PENALTIES = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
STAGES = (5, 10, 20, 40, 80)
LEAVES = (4, 12)
_LEAST_WEIGHT = 0.1
# A cheaper blend is taken when its loss is within this share of the best one's.
_GOOD_ENOUGH = 0.003
# Trees are not grown on once their loss exceeds that of fewer trees by this share.
HOPELESS = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """Training rows and held-out rows of one regression."""

    kind: Kind
    train: Inputs
    target: Array
    weight: Array
    held_out: Inputs
    held_out_target: Array
    held_out_weight: Array


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A learner, and the out-of-fold loss of every candidate."""

    learner: Any
    scores: Mapping[str, float]
    score_name: str


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    learner: Any
    predictions: list[Array]
    score: float


def choose_fast(probes: Sequence[Probe]) -> Choice:
    """The best penalty."""
    best, scores = _best_fast(probes)
    return _choice(probes, best.learner, scores)


def choose_boosted(probes: Sequence[Probe], seed: int) -> Choice:
    """The best shape and number of trees."""
    best, scores = _best_boosted(probes, Boosted(seed=seed))
    return _choice(probes, best.learner, scores)


def choose_auto(probes: Sequence[Probe], seed: int) -> Choice:
    """A blend of the fast learner, boosted trees (of two kinds), such on top of it, a forest."""
    fast, scores = _best_fast(probes)
    trees = []
    for start in (
        Boosted(seed=seed),
        Boosted(seed=seed, random_cuts=True, name="boosted, random cuts"),
        OnTop(fast.learner, Boosted(seed=seed)),
    ):
        best, found = _best_boosted(probes, start)
        trees.append(best)
        scores.update(found)
    trees.append(_measured(probes, Forest(seed=seed)))
    scores["forest"] = trees[-1].score
    blends = [_blend(probes, group) for group in _groups(fast, trees)]
    lowest = min(blend.score for blend in blends)
    chosen = next(b for b in blends if b.score <= lowest + _GOOD_ENOUGH * abs(lowest))
    return _choice(probes, chosen.learner, {**scores, "chosen blend": chosen.score})


def _groups(fast: _Candidate, trees: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Groups of candidates, the cheapest to fit first."""
    alone = [group for tree in trees for group in ([tree], [fast, tree])]
    pairs = [list(pair) for pair in combinations(trees, 2)]
    return [[fast], *alone, *pairs, *([fast, *pair] for pair in pairs), [fast, *trees]]


def _blend(probes: Sequence[Probe], group: Sequence[_Candidate]) -> _Candidate:
    """A group's candidates with their best non-negative weights."""
    weights = _blend_weights(probes, group)
    kept = [k for k in range(len(group)) if weights[k] > 0]
    mixed = [sum(weights[k] * group[k].predictions[i] for k in kept) for i in range(len(probes))]
    learner = Blend(tuple(float(weights[k]) for k in kept), tuple(group[k].learner for k in kept))
    return _Candidate(learner, mixed, _score(probes, mixed))


def _choice(probes: Sequence[Probe], learner: Any, scores: Mapping[str, float]) -> Choice:
    name = "log loss" if probes[0].kind == "probability" else "squared error"
    return Choice(learner, scores, name)


def _best_fast(probes: Sequence[Probe]) -> tuple[_Candidate, dict[str, float]]:
    candidates, scores = [], {}
    for penalty in PENALTIES:
        candidates.append(_measured(probes, Fast(penalty=penalty)))
        scores[f"fast, penalty {penalty:g}"] = candidates[-1].score
    return min(candidates, key=lambda c: c.score), scores


def _measured(probes: Sequence[Probe], learner: Learner) -> _Candidate:
    predictions = [
        learner.fit(p.train, p.target, p.weight, p.kind).predict(p.held_out) for p in probes
    ]
    return _Candidate(learner, predictions, _score(probes, predictions))


def _best_boosted(
    probes: Sequence[Probe], start: Boosted | OnTop
) -> tuple[_Candidate, dict[str, float]]:
    candidates, scores = [], {}
    for leaves in LEAVES:
        growing = grown(probes, shaped(start, leaves, 0))

        def measure(stage: int, leaves: int = leaves, growing: Any = growing) -> _Candidate:
            predictions = [g.after(stage) for g in growing]
            return _Candidate(
                shaped(start, leaves, stage), predictions, _score(probes, predictions)
            )

        def is_hopeless(candidate: _Candidate, earlier: Sequence[_Candidate]) -> bool:
            return hopeless(candidate.score, [c.score for c in earlier])

        found = staged(STAGES, measure, is_hopeless)
        candidates += found
        for stage, candidate in zip(STAGES, found, strict=False):
            scores[f"{start.name}, {leaves} leaves, {stage} trees"] = candidate.score
    return min(candidates, key=lambda c: c.score), scores


def grown(probes: Sequence[Probe], learner: Boosted | OnTop) -> list[Growth]:
    """Trees to be grown on every probe."""
    return [
        Growth.begin(learner, (p.train, p.target, p.weight), p.kind, p.held_out) for p in probes
    ]


def hopeless(loss: float, earlier: Sequence[float]) -> bool:
    """Whether more trees are not worth growing: `earlier` are the losses of fewer."""
    return any(loss > one + HOPELESS * abs(one) for one in earlier)


def _blend_weights(probes: Sequence[Probe], family: Sequence[_Candidate]) -> Array:
    """Non-negative, summing to 1; small weights are dropped so that fewer models are fitted."""
    root = np.sqrt(np.concatenate([p.held_out_weight for p in probes]))
    target = np.concatenate([p.held_out_target for p in probes]) * root
    columns = np.column_stack([np.concatenate(c.predictions) * root for c in family])
    weights, _ = optimize.nnls(columns, target)
    if weights.sum() <= 0:
        weights = np.array([float(c is min(family, key=lambda k: k.score)) for c in family])
    weights = weights / weights.sum()
    weights[weights < _LEAST_WEIGHT] = 0.0
    return np.asarray(weights / weights.sum())


def _score(probes: Sequence[Probe], predictions: Sequence[Array]) -> float:
    total = weight = 0.0
    for probe, fitted in zip(probes, predictions, strict=True):
        total += float(probe.held_out_weight @ _row_losses(probe, fitted))
        weight += float(probe.held_out_weight.sum())
    return total / weight


def _row_losses(probe: Probe, fitted: Array) -> Array:
    target = probe.held_out_target
    if probe.kind != "probability":
        return (target - fitted) ** 2
    inside = np.clip(fitted, 1e-6, 1 - 1e-6)
    return -(target * np.log(inside) + (1 - target) * np.log(1 - inside))


def all_trivial(probes: Sequence[Probe]) -> bool:
    """Nothing to choose: no columns or constant targets in every probe."""
    return all(is_trivial(p.train, p.target) for p in probes)
