"""Values of subsets: a part is asked for numerators, finished ones are kept, repeats combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from whygap.checkpoint import Checkpoint
from whygap.estimate import Estimate, median_of
from whygap.parallel import run_chunks
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


@dataclass(slots=True)
class Values:
    """Numerators of finished subsets, per repeat; combined over repeats on demand."""

    parts: Sequence[Part]
    name: str
    settings: Settings
    checkpoint: Checkpoint | None
    done: list[dict[Subset, Estimate]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for repeat, part in enumerate(self.parts):
            kept: dict[Subset, Estimate] = {}
            if self.checkpoint is not None:
                sample = part.denominator().sample
                kept = {} if sample is None else self.checkpoint.load(self.name, repeat, sample)
            self.done.append(kept)

    def compute(self, subsets: Sequence[Subset]) -> None:
        """Value the subsets that are not there yet."""
        for repeat, part in enumerate(self.parts):
            missing = [s for s in subsets if s not in self.done[repeat]]
            batch = dict(zip(missing, self._run(part, missing), strict=True))
            self.done[repeat].update(batch)
            if self.checkpoint is not None:
                self.checkpoint.save(self.name, repeat, batch)

    def _run(self, part: Part, subsets: Sequence[Subset]) -> list[Estimate]:
        sample = part.denominator().sample
        values = run_chunks(part.numerator, subsets, self.settings)
        # Estimates that come back from a worker carry a copy of the sample: give them the original.
        return [
            Estimate.of(e.value, e.influence, sample, plugin=e.plugin)  # type: ignore[arg-type]
            for e in values
        ]

    def numerator(self, subset: Subset) -> Estimate:
        """Combined over repeats."""
        return median_of([kept[subset] for kept in self.done])
