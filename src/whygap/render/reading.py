"""What may be claimed of a result at one level; decided once for words, figures and the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whygap.estimate import Estimate
from whygap.render.numbers import Units, units_of
from whygap.results import Detailed, Gap, RankInterval

__all__ = ["Reading", "Standing", "excludes_zero", "reading_of", "readings_of"]

FEW = 3  # a sentence names at most this many variables
BEYOND = 0.05  # a part this far against the gap makes percentages of it misleading


@dataclass(frozen=True, slots=True)
class Standing:
    """Which variables of a detailed part can be told apart.

    Attributes:
        top: cannot be told apart from the largest share, largest first.
        sure: above 0 even when all variables are looked at together (max-t), largest first.
        ranks: the ranks that the data do not exclude.
    """

    top: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()
    ranks: Mapping[str, RankInterval] = field(default_factory=dict)

    def leaders(self) -> tuple[str, ...]:
        """The few variables worth naming: the top group if it is small, else the sure ones."""
        if len(self.top) <= FEW and set(self.top) <= set(self.sure):
            return self.top
        return self.sure[:FEW]

    def rank_span(self, name: str) -> str:
        """The ranks of one variable, best to worst; nothing where it has none."""
        rank = self.ranks.get(name)
        return "" if rank is None else f"{rank.best} to {rank.worst}"

    @property
    def alone(self) -> bool:
        """Whether one variable is larger than every other."""
        return len(self.top) == 1


@dataclass(frozen=True, slots=True)
class Reading:
    """What can be said of a result at one level.

    Attributes:
        clear: the gap can be told from 0.
        shares: part -> share of the gap; empty where percentages of it would mislead.
        parts: the parts that exist (no baseline variables: no baseline part), largest first.
        standings: detailed part -> which variables can be told apart.
    """

    gap: Gap
    level: float
    units: Units
    clear: bool
    shares: dict[str, Estimate]
    parts: dict[str, Estimate]
    standings: dict[str, Standing]

    def is_clear(self, part: str) -> bool:
        """Whether this part can be told from 0."""
        return excludes_zero(self.parts[part], self.level)

    def leaders(self, part: str) -> tuple[str, ...]:
        """The variables worth naming in a sentence on this part."""
        return self.standings[part].leaders() if part in self.standings else ()

    @property
    def largest(self) -> str:
        """The part of the largest size."""
        return next(iter(self.parts))


def reading_of(gap: Gap, level: float) -> Reading:
    """Read a result at one level."""
    return readings_of(gap, [level])[0]


def readings_of(gap: Gap, levels: Sequence[float]) -> list[Reading]:
    """Read a result at several levels."""
    parts = {
        name: part
        for name, part in gap.aggregate.parts().items()
        if name != "baseline" or gap.about.baseline
    }
    found = {name: gap.aggregate.share_of_gap(name) for name in parts}
    shares = {name: share for name, share in found.items() if share is not None}
    inside = all(-BEYOND <= share.value <= 1 + BEYOND for share in shares.values())
    meaningful = shares if inside and len(shares) == len(parts) else {}
    return [
        Reading(
            gap=gap,
            level=level,
            units=units_of(gap),
            clear=(clear := excludes_zero(gap.aggregate.gap, level)),
            shares=meaningful if clear else {},
            parts=dict(sorted(parts.items(), key=lambda item: -abs(item[1].value))),
            standings={name: _standing(detail, level) for name, detail in gap.details().items()},
        )
        for level in levels
    ]


def excludes_zero(estimate: Estimate, level: float) -> bool:
    """Whether 0 lies outside the interval."""
    low, high = estimate.interval(level)
    return (low > 0 or high < 0) and math.isfinite(low) and math.isfinite(high)


def _standing(detail: Detailed, level: float) -> Standing:
    if not detail.defined or not detail.shares:
        return Standing()
    together, ranks = detail.simultaneous(level), detail.ranking(level)
    ordered = sorted(detail.players, key=lambda name: -detail.shares[name].value)
    return Standing(
        top=tuple(name for name in ordered if ranks[name].best == 1),
        sure=tuple(name for name in ordered if together[name][0] > 0),
        ranks=ranks,
    )
