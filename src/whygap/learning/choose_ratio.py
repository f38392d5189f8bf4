"""Choosing the classifier behind a density ratio: a good one that does not run wild.

Classifiers with nearly the same log loss can differ a thousandfold in the odds they give to a few
rows, and these odds become weights. So among the candidates whose log loss is within half a per
cent of the best, the one with the smallest mean squared ratio over source rows is taken, if that is
smaller than the best one's by three tenths (by less it is more likely shrunken than steady).
Steadiness costs bias: where the ratio's error meets that of a rough fit (`strict`), candidates must
also be within a standard error of the best. The least-squares loss of the ratio itself,
E_0[r^2]/2 - E_1[r], was tried and left: with poor overlap its second term is decided by a handful
of rows, and it rewarded weights of 20,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array
from whygap.learning.boosted import Boosted, OnTop
from whygap.learning.choose import STAGES, Choice, Probe, grown, hopeless
from whygap.learning.growth import shaped, staged
from whygap.learning.models import Blend, Fast, describe

__all__ = ["RatioBlend", "as_ratio_blend", "choose_ratio", "odds"]

FAST_GRID = ((1.0, 1e-4), (1e-2, 1e-4), (1e-3, 1e-4), (1e-1, 1e-2), (1.0, 1e-2), (1e-1, 1e-1))
LEAVES = (4, 12)
_LOG_LOSS_MARGIN = 0.005
_MUCH_STEADIER = 0.7
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


def as_ratio_blend(learner: Any) -> RatioBlend:
    """Any learner as a blend (of one, mostly)."""
    if isinstance(learner, RatioBlend):
        return learner
    if isinstance(learner, Blend):
        return RatioBlend(learner.weights, learner.learners)
    return RatioBlend((1.0,), (learner,))


def odds(probability: Array) -> Array:
    """Odds p / (1 - p), with p kept away from 0 and 1."""
    inside = np.clip(probability, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    return inside / (1 - inside)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    label: str
    learner: Any
    losses: Array
    mean_square: float

    @property
    def log_loss(self) -> float:
        return float(self.losses.sum())

    def is_close_to(self, best: _Candidate, *, strict: bool) -> bool:
        excess = self.losses - best.losses
        margin = _LOG_LOSS_MARGIN * best.log_loss
        if strict:
            margin = min(margin, _standard_error(excess))
        return float(excess.sum()) <= margin


def choose_ratio(
    probes: Sequence[Probe], families: Sequence[str], seed: int, *, strict: bool = False
) -> Choice:
    """The best classifier of the families named: "fast", "boosted", "boosted on fast"."""
    found: list[_Candidate] = []
    for family in families:
        found += _candidates(probes, family, found, seed, strict=strict)
    chosen = _steadiest(found, strict=strict)
    scores = {c.label: c.log_loss for c in found}
    return Choice(chosen.learner, {**scores, "chosen": chosen.log_loss}, "log loss")


def _steadiest(found: Sequence[_Candidate], *, strict: bool) -> _Candidate:
    best = min(found, key=lambda c: c.log_loss)
    close = [c for c in found if c.is_close_to(best, strict=strict)]
    steadiest = min(close, key=lambda c: c.mean_square)
    return steadiest if steadiest.mean_square < _MUCH_STEADIER * best.mean_square else best


def _candidates(
    probes: Sequence[Probe], family: str, found: Sequence[_Candidate], seed: int, *, strict: bool
) -> list[_Candidate]:
    if family == "fast":
        learners = [Fast(penalty, simple) for penalty, simple in FAST_GRID]
        return [
            _measured(
                probes,
                f"fast, penalties {f.penalty:g} and {f.simple_penalty:g}",
                f,
                [f.fit(p.train, p.target, p.weight, p.kind).predict(p.held_out) for p in probes],
            )
            for f in learners
        ]
    start: Any = Boosted(seed=seed)
    if family == "boosted on fast":
        fast = [c for c in found if isinstance(c.learner, Fast)]
        start = OnTop(_steadiest(fast, strict=strict).learner, start)
    return [c for leaves in LEAVES for c in _staged(probes, start, leaves)]


def _staged(probes: Sequence[Probe], start: Any, leaves: int) -> list[_Candidate]:
    growing = grown(probes, shaped(start, leaves, 0))

    def measure(stage: int) -> _Candidate:
        return _measured(
            probes,
            f"{start.name}, {leaves} leaves, {stage} trees",
            shaped(start, leaves, stage),
            [g.after(stage) for g in growing],
        )

    def is_hopeless(candidate: _Candidate, earlier: Sequence[_Candidate]) -> bool:
        return hopeless(candidate.log_loss, [c.log_loss for c in earlier])

    return staged(STAGES, measure, is_hopeless)


def _measured(
    probes: Sequence[Probe], label: str, learner: Any, probabilities: Sequence[Array]
) -> _Candidate:
    """Log loss over held-out rows, and the mean squared ratio over those of the source."""
    square = rows = source_rows = 0.0
    losses = []
    for probe, probability in zip(probes, probabilities, strict=True):
        weight, label_ = probe.held_out_weight, probe.held_out_target
        inside = np.clip(probability, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
        losses.append(-weight * np.log(np.where(label_ == 1, inside, 1 - inside)))
        balance = float(probe.weight @ (1 - probe.target)) / float(probe.weight @ probe.target)
        in_source = weight * (1 - label_)
        square += float(in_source @ (odds(probability) * balance) ** 2)
        rows, source_rows = rows + float(weight.sum()), source_rows + float(in_source.sum())
    return _Candidate(label, learner, np.concatenate(losses) / rows, square / source_rows)


def _standard_error(shares: Array) -> float:
    """Of the sum of such shares of a mean."""
    return float(np.sqrt(len(shares)) * shares.std())
