"""Choosing a learner: one score, one rule.

Candidates come in families, ordered from simple to rich: the fast learner from the largest penalty
to the smallest; boosted trees from few to many (all numbers are read off one growing fit), of each
number the smaller shape first; boosted trees on top of the chosen fast learner. They are judged on
probes: training rows and held-out rows that one model sees, or two twins trained on disjoint
halves.

*Score* of a held-out row. One model: log loss of a probability, squared error of anything else.
Twins, whose use is quadratic: the product of their residuals, in which independent errors drop out,
so that what a candidate adds to it is its squared bias; plus a charge for half their squared
distance, lest the variance grow without need.

*Rule.* Of the penalties the best one: a tie would forgive bias, and a ratio too simple to know that
a column spreads wider leaves an error of first order that no interval counts. Trees have to earn
their place: of their numbers and shapes, and then of the families' best, the first that is not
worse than the best by more than two standard errors of the paired difference; they are grown on
only while the last ones have made them better by the same measure. Twins: the best one throughout,
since what a tie would forgive is squared bias, as large as what is to be estimated; the charge does
what the tie does elsewhere.

*Pace.* Trees that are fitted on many column sets learn faster and are fewer. Those of twins three
times as fast, 25 at most: these leave as little bias as 100 slow ones, and what they have more of,
independent errors, drops out. Others half as fast again, 50 at most: faster ones predict worse.

*Noise*. The choice sees the rows that are averaged over, so it is one more source of error. Without
one block or the other the rule may pick somebody else; how far the product of residuals then moves,
in root mean square over blocks, is the error that estimates with these twins have from the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whygap.domains import Array, IntArray
from whygap.learning.inputs import Inputs
from whygap.learning.models import Fast, Kind, Learner, Mean, TrainingRows, curvature, fitted
from whygap.learning.ridge import LEAST_PROBABILITY
from whygap.learning.trees import Boosted, Given, side_by_side

__all__ = ["FAMILIES", "VARIANCE_CHARGE", "Choice", "Probe", "Sight", "choose"]

FAMILIES = {
    "fast": ("fast",),
    "boosted": ("boosted",),
    "auto": ("fast", "boosted", "boosted on fast"),
}
# Of the nonlinear terms: from hardly any of them to hardly any penalty, a factor of ten apart.
PENALTIES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)
# Numbers of trees, each twice the last: a flat optimum needs no finer ones.
STAGES = (6, 12, 25, 50, 100)
# Products of two or three columns, or of several.
LEAVES = (4, 12)
# What one unit of the twins' variance costs: it enters a quadratic term's noise, not its bias.
# With .05, intervals of outcome values are half as wide again in the paper's world; with .5, those
# of the untuned world cover .73 to .92 instead of .89 to .97 (96 draws each).
VARIANCE_CHARGE = 0.2
# Standard errors within which trees are no better than fewer or none: with none, one and two
# aggregate parts and points cover alike, and two fits the fewest trees.
TIE = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What one model sees of a probe: its training rows, the held-out rows and their target."""

    train: TrainingRows
    held_out: Inputs
    target: Array


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast trees learn, and the numbers of them that are tried."""

    rate: float
    stages: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """Held-out rows of a block with weights (n,), seen by one model or by two twins.

    Fits that come again are made on many column sets.
    """

    sights: tuple[Sight, ...]
    weight: Array
    block: int = 0
    repeated: bool = False

    @property
    def is_trivial(self) -> bool:
        """Nothing to learn."""
        return all(sight.train.is_trivial for sight in self.sights)

    @property
    def pace(self) -> Pace:
        """Of trees: see above."""
        if not self.repeated:
            return Pace(0.2, STAGES)
        return Pace(0.6, STAGES[:3]) if len(self.sights) == 2 else Pace(0.3, STAGES[:4])


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A learner, the mean score of every candidate, and the noise of the choice (of twins)."""

    learner: Learner
    scores: Mapping[str, float] = field(default_factory=dict)
    score_name: str = ""
    noise: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A learner with its predictions (models, held-out rows of all probes) and their scores."""

    label: str
    learner: Learner
    predictions: Array
    scores: Array


@dataclass(frozen=True, slots=True, eq=False)
class _HeldOut:
    """The held-out rows of all probes: targets (models, rows), weights that sum to 1, blocks."""

    kind: Kind
    targets: Array
    weight: Array
    block: IntArray

    @classmethod
    def of(cls, probes: Sequence[Probe]) -> _HeldOut:
        weight = np.concatenate([p.weight for p in probes])
        targets = np.hstack([np.stack([s.target for s in p.sights]) for p in probes])
        block = np.concatenate([np.full(len(p.weight), p.block) for p in probes])
        return cls(probes[0].sights[0].train.kind, targets, weight / weight.sum(), block)

    @property
    def score_name(self) -> str:
        if len(self.targets) == 2:
            return "product of twin residuals"
        return "log loss" if self.kind == "probability" else "squared error"

    def candidate(self, label: str, learner: Learner, predictions: Array) -> _Candidate:
        return _Candidate(label, learner, predictions, self._scores(predictions))

    def _scores(self, predictions: Array) -> Array:
        if len(self.targets) == 1 and self.kind == "probability":
            target = self.targets[0]
            inside = np.clip(predictions[0], LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
            return np.asarray(-(target * np.log(inside) + (1 - target) * np.log(1 - inside)))
        first, last = (self.targets - predictions)[[0, -1]]
        return np.asarray(first * last + VARIANCE_CHARGE / 2 * (first - last) ** 2)

    def mean(self, candidate: _Candidate) -> float:
        return float(self.weight @ candidate.scores)

    def is_worse(self, one: _Candidate, other: _Candidate) -> bool:
        """By so many standard errors of the paired difference that they are not alike."""
        excess = one.scores - other.scores
        mean = float(self.weight @ excess)
        if len(self.targets) == 2:
            return mean > 0
        return mean > TIE * float(np.sqrt(self.weight**2 @ (excess - mean) ** 2))

    def first_good(self, found: Sequence[_Candidate]) -> _Candidate:
        """The simplest that is as good as the best."""
        best = min(found, key=self.mean)
        return next(one for one in found if not self.is_worse(one, best))

    def noise(self, found: Sequence[_Candidate], chosen: _Candidate) -> float:
        """How far the product of twins' residuals moves with the block that is left out."""
        blocks = np.unique(self.block)
        if len(self.targets) == 1 or len(blocks) == 1:
            return 0.0
        moves = []
        for block in blocks:
            rest = replace(self, weight=np.where(self.block == block, 0.0, self.weight))
            other = min(found, key=rest.mean)
            moves.append(self._product(other) - self._product(chosen))
        return float(np.sqrt(np.mean(np.square(moves))))

    def _product(self, candidate: _Candidate) -> float:
        first, last = self.targets - candidate.predictions
        return float(self.weight @ (first * last))


def choose(
    probes: Sequence[Probe], families: Sequence[str], seed: int, given: Given | None = None
) -> Choice:
    """The learner that the rule picks from these families, and from a risk that is given."""
    probes = [probe for probe in probes if not probe.is_trivial]
    if not probes:
        return Choice(Mean())
    held_out = _HeldOut.of(probes)
    pace = probes[0].pace
    trees = Boosted(seed=seed, rate=pace.rate)
    best = [] if given is None else [_measured(probes, held_out, "given", given)]
    every = list(best)
    for family in families if given is None else (*families, "boosted on given"):
        if family == "fast":
            eased = [_eased(probe) for probe in probes]
            grid = {f"fast, penalty {penalty:g}": Fast(penalty) for penalty in PENALTIES}
            found = [_measured(eased, held_out, *candidate) for candidate in grid.items()]
            best.append(min(found, key=held_out.mean))
        else:
            starts: dict[str, Any] = {f"boosted on {c.learner.name}": c.learner for c in best}
            grown = replace(trees, start=starts.get(family))
            found = list(_boosted(probes, held_out, grown, pace.stages))
            best.append(held_out.first_good(found))
        every += found
    chosen = held_out.first_good(best)
    scores = {c.label: held_out.mean(c) for c in (*every, replace(chosen, label="chosen"))}
    return Choice(chosen.learner, scores, held_out.score_name, held_out.noise(every, chosen))


def _eased(probe: Probe) -> Probe:
    """The same, with second derivatives from which all penalties' fits start."""

    def eased(rows: TrainingRows) -> TrainingRows:
        if rows.is_trivial:
            return rows
        known = curvature(rows)
        return replace(rows, inputs=replace(rows.inputs, known=lambda: known))

    return replace(probe, sights=tuple(replace(s, train=eased(s.train)) for s in probe.sights))


def _measured(
    probes: Sequence[Probe], held_out: _HeldOut, label: str, learner: Learner
) -> _Candidate:
    found = [[fitted(learner, s.train).predict(s.held_out) for s in p.sights] for p in probes]
    return held_out.candidate(label, learner, np.hstack(found))


def _boosted(
    probes: Sequence[Probe], held_out: _HeldOut, learner: Boosted, stages: Sequence[int]
) -> Iterator[_Candidate]:
    """Both shapes grow side by side; one that gets no better grows no more."""
    shapes = [replace(learner, leaves=leaves) for leaves in LEAVES]
    sights = [[side_by_side(shapes, s.train, s.held_out, stages) for s in p.sights] for p in probes]
    growing = {
        shape: [[sight[k] for sight in probe] for probe in sights] for k, shape in enumerate(shapes)
    }
    last: dict[Boosted, _Candidate] = {}
    for rounds in stages:
        for shape in list(growing):
            predictions = np.hstack([[next(g) for g in probe] for probe in growing[shape]])
            label = f"{learner.name}, {shape.leaves} leaves, {rounds} trees"
            found = held_out.candidate(label, replace(shape, rounds=rounds), predictions)
            if shape in last and not held_out.is_worse(last[shape], found):
                del growing[shape]
            last[shape] = found
            yield found
