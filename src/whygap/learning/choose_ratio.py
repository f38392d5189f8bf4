"""Choosing the models of a density ratio: by the loss that matters for weights.

A classifier with a good log loss can still give a few rows enormous odds. The least-squares loss of
the ratio itself, E_0[r^2]/2 - E_1[r] (uLSIF; its minimiser is the true ratio), charges for that.
It is heavy-tailed itself, so only candidates that are also good classifiers (log loss within 1% of
the best) compete. The best of each family are blended, as ratios, with non-negative weights under
the same loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import optimize

from whygap.domains import Array
from whygap.learning.boosted import Boosted, BoostedModel, OnTop
from whygap.learning.choose import STAGES, Choice, Probe, shaped
from whygap.learning.models import Blend, Fast, describe

__all__ = ["RatioBlend", "choose_ratio", "odds"]

FAST_GRID = ((1.0, 1e-4), (1e-2, 1e-4), (1e-3, 1e-4), (1e-1, 1e-2), (1.0, 1e-2), (1e-1, 1e-1))
LEAVES = (4, 12)
_LEAST_WEIGHT = 0.1
_GOOD_ENOUGH = 0.01
_LOG_LOSS_MARGIN = 0.01
_LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class RatioBlend:
    """Classifiers whose odds are averaged with fixed weights."""

    weights: tuple[float, ...]
    learners: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Shown in diagnostics."""
        return describe(self.weights, [learner.name for learner in self.learners])


def odds(probability: Array) -> Array:
    """p / (1 - p), with p kept away from 0 and 1."""
    inside = np.clip(probability, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    return inside / (1 - inside)


def choose_ratio(probes: Sequence[Probe], families: Sequence[str], seed: int) -> Choice:
    """The best blend of the families named: "fast", "boosted", "boosted on fast"."""
    scores: dict[str, float] = {}
    best: list[_Candidate] = []
    everything: list[list[_Candidate]] = []
    for family in families:
        found = _candidates(probes, family, best, seed)
        scores.update({c.label: c.score for c in found})
        everything.append(found)
        best.append(min(_fitting(found, found), key=lambda c: c.score))
    whole = [c for found in everything for c in found]
    eligible = [_fitting(found, whole) for found in everything]
    best = [min(found, key=lambda c: c.score) for found in eligible if found]
    blends = [_blend(probes, group) for group in _groups(best)]
    lowest = min(score for _, score in blends)
    blend, score = next(b for b in blends if b[1] <= lowest + _GOOD_ENOUGH * abs(lowest))
    return Choice(blend, {**scores, "chosen blend": score}, "least-squares loss of the ratio")


def _groups(best: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Every group of candidates, smaller and cheaper ones first."""
    sizes = range(1, len(best) + 1)
    return [list(group) for size in sizes for group in combinations(best, size)]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    label: str
    learner: Any
    ratios: list[Array]
    score: float
    log_loss: float


def _fitting(found: Sequence[_Candidate], among: Sequence[_Candidate]) -> list[_Candidate]:
    """Candidates whose log loss as classifiers is within 1% of the best."""
    bound = min(c.log_loss for c in among) * (1 + _LOG_LOSS_MARGIN)
    return [c for c in found if c.log_loss <= bound]


def _candidates(
    probes: Sequence[Probe], family: str, best: Sequence[_Candidate], seed: int
) -> list[_Candidate]:
    if family == "fast":
        learners = [Fast(penalty, simple) for penalty, simple in FAST_GRID]
        return [
            _candidate(probes, f"fast, penalties {f.penalty:g} and {f.simple_penalty:g}", f)
            for f in learners
        ]
    start: Any = Boosted(seed=seed)
    if family == "boosted on fast":
        start = OnTop(best[0].learner, start)
    return [c for leaves in LEAVES for c in _staged(probes, start, leaves)]


def _candidate(probes: Sequence[Probe], label: str, learner: Any) -> _Candidate:
    ratios = [
        _ratio(p, learner.fit(p.train, p.target, p.weight, "probability").predict(p.held_out))
        for p in probes
    ]
    return _Candidate(label, learner, ratios, _loss(probes, ratios), _log_loss(probes, ratios))


def _staged(probes: Sequence[Probe], start: Any, leaves: int) -> list[_Candidate]:
    longest = shaped(start, leaves, STAGES[-1])
    models = [longest.fit(p.train, p.target, p.weight, "probability") for p in probes]
    found = []
    for stage in STAGES:
        ratios = [
            _ratio(
                p,
                m.predict_after(p.held_out, stage)
                if isinstance(m, BoostedModel)
                else m.predict(p.held_out),
            )
            for m, p in zip(models, probes, strict=True)
        ]
        label = f"{start.name}, {leaves} leaves, {stage} trees"
        score, fit = _loss(probes, ratios), _log_loss(probes, ratios)
        found.append(_Candidate(label, shaped(start, leaves, stage), ratios, score, fit))
    return found


def _ratio(probe: Probe, probability: Array) -> Array:
    source = float(probe.weight @ (1 - probe.target))
    return odds(probability) * source / float(probe.weight @ probe.target)


def _loss(probes: Sequence[Probe], ratios: Sequence[Array]) -> float:
    quadratic, linear = _moments(probes, [ratios])
    return float(quadratic[0, 0] / 2 - linear[0])


def _log_loss(probes: Sequence[Probe], ratios: Sequence[Array]) -> float:
    """Of the classifier behind the ratio."""
    total = weight = 0.0
    for probe, ratio in zip(probes, ratios, strict=True):
        prior = float(probe.weight @ probe.target) / float(probe.weight @ (1 - probe.target))
        logit = np.log(ratio * prior)
        rows = np.logaddexp(0.0, logit) - probe.held_out_target * logit
        total += float(probe.held_out_weight @ rows)
        weight += float(probe.held_out_weight.sum())
    return total / weight


def _moments(
    probes: Sequence[Probe], ratios: Sequence[Sequence[Array]]
) -> tuple[Array, Array]:
    """E_0[r_i r_j] and E_1[r_i] over the held-out rows of all probes."""
    label = np.concatenate([p.held_out_target for p in probes])
    weight = np.concatenate([p.held_out_weight for p in probes])
    stacked = np.stack([np.concatenate(list(r)) for r in ratios])
    in_source, in_target = weight * (1 - label), weight * label
    quadratic = (stacked * in_source) @ stacked.T / in_source.sum()
    return quadratic, stacked @ in_target / in_target.sum()


def _blend(probes: Sequence[Probe], group: Sequence[_Candidate]) -> tuple[RatioBlend, float]:
    """A group's candidates with their best non-negative weights, and the blend's loss."""
    quadratic, linear = _moments(probes, [c.ratios for c in group])
    weights = _blend_weights(quadratic, linear)
    kept = np.flatnonzero(weights)
    blend = RatioBlend(
        tuple(float(weights[k]) for k in kept), tuple(group[k].learner for k in kept)
    )
    return blend, float(weights @ quadratic @ weights / 2 - linear @ weights)


def _blend_weights(quadratic: Array, linear: Array) -> Array:
    """Minimise w'Qw/2 - c'w over w >= 0 (a non-negative least-squares problem), then sum to 1."""
    values, vectors = np.linalg.eigh(quadratic)
    root = np.sqrt(np.maximum(values, 1e-12 * values.max()))
    weights, _ = optimize.nnls((vectors * root).T, (vectors / root).T @ linear)
    if weights.sum() <= 0:
        lowest = int(np.argmin(np.diag(quadratic) / 2 - linear))
        weights = np.eye(len(linear))[lowest]
    weights = weights / weights.sum()
    weights[weights < _LEAST_WEIGHT] = 0.0
    return weights / weights.sum()


def as_ratio_blend(learner: Any) -> RatioBlend:
    """Any single learner as a blend of one."""
    if isinstance(learner, RatioBlend):
        return learner
    if isinstance(learner, Blend):
        return RatioBlend(learner.weights, learner.learners)
    return RatioBlend((1.0,), (learner,))
