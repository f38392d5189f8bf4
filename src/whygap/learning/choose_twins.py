"""Choosing a learner for quadratic terms: by its squared bias, which twins lay bare.

For twins A and B trained on disjoint halves, E[(T - A)(T - B)] exceeds the noise of T only by the
product of their errors. Independent errors drop out of it, so what a candidate adds is its squared
*bias*: exactly what a quadratic term in twin form suffers from. A small charge for the twins'
distance keeps the variance from growing without need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from typing import Any

import numpy as np
from scipy import optimize

from whygap.domains import Array
from whygap.learning.boosted import Boosted, OnTop
from whygap.learning.choose import Choice
from whygap.learning.growth import Growth, shaped, staged
from whygap.learning.inputs import Inputs
from whygap.learning.models import Blend, Fast, Kind, is_trivial

__all__ = ["SIMPLEST", "Half", "Rule", "TwinProbe", "choose_twins"]

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
STAGES = (6, 12, 25, 50, 100)
RATE = 0.25
LEAVES = (4, 12)
VARIANCE_CHARGE = 0.05
_LEAST_WEIGHT = 0.1
# Candidates of a family are alike when not worse than the best by this many standard errors.
_WITHIN_FAMILY = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Half:
    """Training rows of one twin, and the held-out rows as it sees them."""

    train: Inputs
    target: Array
    weight: Array
    held_out: Inputs


@dataclass(frozen=True, slots=True, eq=False)
class TwinProbe:
    """Two halves and the held-out rows they share."""

    kind: Kind
    halves: tuple[Half, Half]
    targets: tuple[Array, Array]
    weight: Array

    @property
    def is_trivial(self) -> bool:
        """Nothing to learn."""
        return all(is_trivial(half.train, half.target) for half in self.halves)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    label: str
    learner: Any
    residuals: Array
    """(2, held-out rows of all probes): target minus prediction of each twin."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is taken when candidates can hardly be told apart.

    Attributes:
        lead: a later family, or a blend, must win by so many standard errors.
        undersmooth: of alike penalties the smallest, not the largest.
    """

    lead: float = 2.0
    undersmooth: bool = False


SIMPLEST = Rule()


def choose_twins(
    probes: Sequence[TwinProbe], families: Sequence[str], seed: int, rule: Rule = SIMPLEST
) -> Choice:
    """The best blend of the families named: "fast", "boosted", "boosted on fast"."""
    weight = np.concatenate([p.weight for p in probes])
    weight = weight / weight.sum()
    best: list[_Candidate] = []
    scores: dict[str, float] = {}
    for family in families:
        found = _candidates(probes, family, best, seed)
        scores.update({c.label: _score(c.residuals, weight) for c in found})
        in_order = found[::-1] if rule.undersmooth and family == "fast" else found
        best.append(_first_good(in_order, weight, _WITHIN_FAMILY))
    groups = [list(g) for k in range(1, len(best) + 1) for g in combinations(best, k)]
    chosen = _first_good([_blend(group, weight) for group in groups], weight, rule.lead)
    scores["chosen blend"] = _score(chosen.residuals, weight)
    return Choice(chosen.learner, scores, "product of twin residuals")


def _first_good(found: Sequence[_Candidate], weight: Array, errors: float) -> _Candidate:
    """The first candidate that is not worse than the best by so many standard errors."""
    rows = [_row_scores(c.residuals) for c in found]
    means = [float(weight @ r) for r in rows]
    lowest = int(np.argmin(means))
    for candidate, scores, mean in zip(found, rows, means, strict=True):
        excess = scores - rows[lowest]
        error = float(np.sqrt(weight**2 @ (excess - (mean - means[lowest])) ** 2))
        if mean - means[lowest] <= errors * error:
            return candidate
    return found[lowest]


def _candidates(
    probes: Sequence[TwinProbe], family: str, best: Sequence[_Candidate], seed: int
) -> list[_Candidate]:
    if family == "fast":
        learners = [Fast(penalty) for penalty in PENALTIES]
        return [
            _Candidate(f"fast, penalty {f.penalty:g}", f, _residuals(probes, _fitted(probes, f)))
            for f in learners
        ]
    start: Any = Boosted(seed=seed, rate=RATE)
    if family == "boosted on fast":
        start = OnTop(best[0].learner, start)
    by_leaves = [_staged(probes, start, leaves) for leaves in LEAVES]
    return [c for same_stage in zip_longest(*by_leaves) for c in same_stage if c is not None]


def _staged(probes: Sequence[TwinProbe], start: Any, leaves: int) -> list[_Candidate]:
    weight = np.concatenate([p.weight for p in probes])
    weight = weight / weight.sum()
    growing = [
        [
            Growth.begin(
                shaped(start, leaves, 0), (h.train, h.target, h.weight), p.kind, h.held_out
            )
            for h in p.halves
        ]
        for p in probes
    ]

    def measure(stage: int) -> _Candidate:
        return _Candidate(
            f"{start.name}, {leaves} leaves, {stage} trees",
            shaped(start, leaves, stage),
            _residuals(probes, [[g.after(stage) for g in pair] for pair in growing]),
        )

    def is_hopeless(candidate: _Candidate, earlier: Sequence[_Candidate]) -> bool:
        return any(_is_worse(candidate, c, weight) for c in earlier)

    return staged(STAGES, measure, is_hopeless)


def _is_worse(candidate: _Candidate, other: _Candidate, weight: Array) -> bool:
    """By more than a standard error."""
    excess = _row_scores(candidate.residuals) - _row_scores(other.residuals)
    mean = float(weight @ excess)
    return mean > float(np.sqrt(weight**2 @ (excess - mean) ** 2))


def _fitted(probes: Sequence[TwinProbe], learner: Any) -> list[list[Array]]:
    """Predictions at held-out rows, by probe and twin."""
    return [
        [learner.fit(h.train, h.target, h.weight, p.kind).predict(h.held_out) for h in p.halves]
        for p in probes
    ]


def _residuals(probes: Sequence[TwinProbe], predictions: Sequence[Sequence[Array]]) -> Array:
    return np.stack(
        [
            np.concatenate(
                [p.targets[twin] - pair[twin] for p, pair in zip(probes, predictions, strict=True)]
            )
            for twin in (0, 1)
        ]
    )


def _row_scores(residuals: Array) -> Array:
    a, b = residuals
    scores: Array = a * b + VARIANCE_CHARGE * (a - b) ** 2 / 2
    return scores


def _score(residuals: Array, weight: Array) -> float:
    return float(weight @ _row_scores(residuals))


def _blend(group: Sequence[_Candidate], weight: Array) -> _Candidate:
    """Weights >= 0 with sum 1 that minimise the score of the blended residuals."""
    weights = np.ones(len(group))
    if len(group) > 1:
        stacked = np.stack([c.residuals for c in group])
        cross = np.einsum("r,ir,jr->ij", weight, stacked[:, 0], stacked[:, 1])
        apart = stacked[:, 0] - stacked[:, 1]
        matrix = (cross + cross.T) / 2
        matrix += VARIANCE_CHARGE / 2 * np.einsum("r,ir,jr->ij", weight, apart, apart)
        weights = _simplex_minimum(matrix)
    kept = [int(k) for k in np.flatnonzero(weights)]
    mixed = np.einsum("i,itr->tr", weights, np.stack([c.residuals for c in group]))
    blend = Blend(tuple(float(weights[k]) for k in kept), tuple(group[k].learner for k in kept))
    return _Candidate(blend.name, blend, mixed)


def _simplex_minimum(matrix: Array) -> Array:
    """Argmin w'Mw over the simplex, small weights dropped."""
    size = len(matrix)
    found = optimize.minimize(
        lambda w: float(w @ matrix @ w),
        np.full(size, 1.0 / size),
        jac=lambda w: 2 * matrix @ w,
        bounds=[(0.0, 1.0)] * size,
        constraints=[{"type": "eq", "fun": lambda w: float(w.sum() - 1.0)}],
        method="SLSQP",
    )
    weights = np.where(found.x < _LEAST_WEIGHT, 0.0, found.x)
    return np.asarray(weights / weights.sum())
