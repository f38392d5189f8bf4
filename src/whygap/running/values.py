"""Values of subsets: a part is asked for numerators, finished ones are kept, repeats combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from whygap.estimate import Estimate, Sample, median_of
from whygap.running.checkpoint import Checkpoint
from whygap.running.workers import Workers, one_thread
from whygap.settings import Settings
from whygap.shapley import Subset

__all__ = ["Part", "Values", "probe_subsets"]


class Part(Protocol):
    """A detailed part of one cross-fitting: `nuisances.covariate` and `nuisances.outcome`."""

    @property
    def players(self) -> int:
        """How many players there are."""

    def denominator(self) -> Estimate:
        """What shares are shares of."""

    def numerator(self, players: Subset) -> Estimate:
        """What a subset leaves unexplained."""


def probe_subsets(players: int, seed: int) -> list[Subset]:
    """Two representative subsets on which learners are chosen: about a third and two thirds."""
    order = np.random.default_rng([seed, players]).permutation(players)
    sizes = sorted({max(1, players // 3), max(1, 2 * players // 3)})
    return [tuple(sorted(int(k) for k in order[:size])) for size in sizes]


@dataclass(frozen=True, slots=True, eq=False)
class _Numerators:
    """A part's numerators without their sample, which is large and known to whoever asks."""

    part: Part

    def __call__(self, subset: Subset) -> Estimate:
        return replace(self.part.numerator(subset), sample=None)


@dataclass(slots=True)
class Values:
    """Numerators of finished subsets, per repeat; combined over repeats on demand."""

    parts: Sequence[Part]
    name: str
    settings: Settings
    checkpoint: Checkpoint | None
    done: list[dict[Subset, Estimate]] = field(default_factory=list)
    workers: Workers = field(init=False)
    jobs: list[_Numerators] = field(init=False)
    chosen: set[int] = field(default_factory=set)
    samples: dict[int, Sample | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workers = Workers(self.settings)
        self.jobs = [_Numerators(part) for part in self.parts]
        for repeat, part in enumerate(self.parts):
            kept: dict[Subset, Estimate] = {}
            if self.checkpoint is not None:
                sample = self._sample(part)
                kept = {} if sample is None else self.checkpoint.load(self.name, repeat, sample)
            self.done.append(kept)

    def compute(self, subsets: Sequence[Subset]) -> None:
        """Value the subsets that are not there yet."""
        for repeat, part in enumerate(self.parts):
            missing = [s for s in subsets if s not in self.done[repeat]]
            if not missing:
                self._choose_again(part, subsets)
            batch = dict(zip(missing, self._run(part, self.jobs[repeat], missing), strict=True))
            self.done[repeat].update(batch)
            if self.checkpoint is not None:
                self.checkpoint.save(self.name, repeat, batch)

    def _run(self, part: Part, job: _Numerators, subsets: Sequence[Subset]) -> list[Estimate]:
        sample = self._sample(part)
        here = self._to_value_here(part, subsets)
        with one_thread():
            values = [job(s) for s in subsets[:here]]
        values += self.workers.run(job, subsets[here:])
        return [
            Estimate.of(e.value, e.influence, sample, plugin=e.plugin)  # type: ignore[arg-type]
            for e in values
        ]

    def _sample(self, part: Part) -> Sample | None:
        """The rows of a part's estimates, asked for once: its denominator may cost a fit."""
        if id(part) not in self.samples:
            with one_thread():
                self.samples[id(part)] = part.denominator().sample
        return self.samples[id(part)]

    def _to_value_here(self, part: Part, subsets: Sequence[Subset]) -> int:
        """How many subsets come before the part may travel: up to the first proper one.

        Valuing it makes the part choose its learners, once and for all of its copies.
        """
        if id(part) in self.chosen:
            return 0
        for k, subset in enumerate(subsets):
            if 0 < len(subset) < part.players:
                self.chosen.add(id(part))
                return k + 1
        return len(subsets)

    def _choose_again(self, part: Part, subsets: Sequence[Subset]) -> None:
        """A resumed part that values nothing anew still has to choose and record its learners."""
        with one_thread():
            for subset in subsets[: self._to_value_here(part, subsets)]:
                part.numerator(subset)

    def numerator(self, subset: Subset) -> Estimate:
        """Combined over repeats."""
        return median_of([kept[subset] for kept in self.done])
