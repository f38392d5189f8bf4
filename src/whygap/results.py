"""What an analysis returns: frozen nouns, no computing beyond reading them off.

`Gap` holds the aggregate parts, the two detailed parts (or None), and how it was computed. It is
saved as versioned JSON (`whygap.storage`) and shown by `whygap.render`; the convenience methods
here import those rooms when called, so that no room below depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ResultError, did_you_mean
from whygap.estimate import Estimate
from whygap.fieller import Ratio
from whygap.tables.design import Note

__all__ = [
    "About",
    "Aggregate",
    "Detailed",
    "Diagnostics",
    "Gap",
    "NuisanceRecord",
    "Profile",
    "RankInterval",
    "RatioRecord",
    "Sampling",
]


# Each part of the gap as a difference of the corner means 000, 100, 110, 111.
_CORNERS = {
    "gap": (-1.0, 0.0, 0.0, 1.0),
    "baseline": (-1.0, 1.0, 0.0, 0.0),
    "covariate": (0.0, -1.0, 1.0, 0.0),
    "outcome": (0.0, 0.0, -1.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The gap and its three parts (baseline + covariate + outcome = gap), and the corner means.

    `covariance` (4, 4), of the corner means, is set on results read back from a file, where
    influence values may be missing; elsewhere `corner_covariance` works it out.
    """

    gap: Estimate
    baseline: Estimate
    covariate: Estimate
    outcome: Estimate
    mean_000: Estimate
    mean_100: Estimate
    mean_110: Estimate
    mean_111: Estimate
    covariance: Array | None = field(default=None, repr=False, compare=False)

    def parts(self) -> dict[str, Estimate]:
        """The three parts by name."""
        return {"baseline": self.baseline, "covariate": self.covariate, "outcome": self.outcome}

    def corners(self) -> tuple[Estimate, ...]:
        """The four corner means, from source to target."""
        return self.mean_000, self.mean_100, self.mean_110, self.mean_111

    def corner_covariance(self) -> Array | None:
        """Covariance of the corner means; None when it is not known."""
        influences = [corner.influence for corner in self.corners()]
        known = [influence for influence in influences if influence is not None]
        if len(known) < len(influences):
            return self.covariance
        return np.array([[left.covariance(right) for right in known] for left in known])

    def share_of_gap(self, name: str) -> Estimate | None:
        """One part divided by the gap, with Fieller's interval; None when it is not known."""
        top, bottom = self.parts()[name], self.gap
        if bottom.value == 0:
            return None
        if top.influence is not None and bottom.influence is not None:
            return top / bottom
        covariance = self.covariance
        if covariance is None:
            return None
        part, whole = np.array(_CORNERS[name]), np.array(_CORNERS["gap"])
        ratio = Ratio(
            top.value,
            bottom.value,
            float(part @ covariance @ part),
            float(whole @ covariance @ whole),
            float(part @ covariance @ whole),
        )
        return Estimate(
            top.value / bottom.value,
            ratio.standard_error(),
            plugin=top.plugin / bottom.plugin if bottom.plugin else math.nan,
            ratio=ratio,
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the subsets were chosen and why the sampling stopped."""

    evaluated: int
    possible: float
    exact: bool
    largest_error: float
    stopped: str


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Ranks (1 = largest share) that the data do not exclude, all players at once."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class SubsetValue:
    """One evaluated subset: numerator and value."""

    players: tuple[str, ...]
    numerator: Estimate
    value: Estimate | None


@dataclass(frozen=True, slots=True)
class Detailed:
    """Shares of one part.

    Attributes:
        part: "covariate" or "outcome".
        players: all player names, in the study's order.
        denominator: mean squared gap across strata; what the shares are shares of.
        defined: False when the denominator is not distinguishable from 0.
        reason: why it is not defined, in words; empty when it is.
        base: v(empty): a pure recalibration explains this much (always 0 for covariates).
        shares: player -> Estimate; empty when not defined.
        covariance: of the shares, in the players' order; sampling error included.
        subsets: the subsets that were evaluated.
        sampling: how they were chosen.
    """

    part: Literal["covariate", "outcome"]
    players: tuple[str, ...]
    denominator: Estimate
    defined: bool
    reason: str
    base: Estimate | None
    shares: Mapping[str, Estimate]
    covariance: Array
    subsets: tuple[SubsetValue, ...]
    sampling: Sampling | None

    def numerator(self, names: Iterable[str]) -> Estimate:
        """Unexplained mean squared gap of a subset that was evaluated."""
        return self._find(names).numerator

    def value(self, names: Iterable[str]) -> Estimate:
        """Explained share v(s) of a subset that was evaluated."""
        found = self._find(names)
        if found.value is None:
            raise ResultError(f"The {self.part} values are undefined", hint=self.reason)
        return found.value

    def difference(self, first: str, second: str) -> Estimate:
        """Share of `first` minus share of `second`."""
        a, b = self._share(first), self._share(second)
        if a.influence is not None and b.influence is not None:
            return a - b
        i, j = self.players.index(first), self.players.index(second)
        cov = self.covariance
        variance = max(float(cov[i, i] + cov[j, j] - 2 * cov[i, j]), 0.0)
        return Estimate(a.value - b.value, math.sqrt(variance), a.plugin - b.plugin)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Simultaneous rank intervals per player."""
        from whygap.shapley import inference

        values = np.array([self._share(name).value for name in self.players])
        ranks = inference.rank_intervals(values, self.covariance, level)
        return {
            name: RankInterval(int(best), int(worst))
            for name, (best, worst) in zip(self.players, ranks, strict=True)
        }

    def simultaneous(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals that hold for all players at once (max-t)."""
        from whygap.shapley import inference

        values = np.array([self._share(name).value for name in self.players])
        bounds = inference.simultaneous_intervals(values, self.covariance, level)
        return {
            name: (float(low), float(high))
            for name, (low, high) in zip(self.players, bounds, strict=True)
        }

    def adjusted_p_values(self, method: Literal["holm", "max_t"] = "holm") -> dict[str, float]:
        """p-values of "this share is 0", adjusted for looking at all players."""
        from whygap.shapley import inference

        shares = [self._share(name) for name in self.players]
        adjusted = inference.adjusted_p_values(
            np.array([s.value for s in shares]),
            self.covariance,
            method,
            distances=np.array([s.distance() for s in shares]),
        )
        return {name: float(p) for name, p in zip(self.players, adjusted, strict=True)}

    def top_group(self, level: float = 0.95) -> tuple[str, ...]:
        """The players that cannot be told apart from the largest share, largest first."""
        ranks = self.ranking(level)
        tied = [name for name in self.players if ranks[name].best == 1]
        return tuple(sorted(tied, key=lambda name: -self.shares[name].value))

    def _share(self, name: str) -> Estimate:
        if not self.defined:
            raise ResultError(f"The {self.part} shares are undefined", hint=self.reason)
        if name not in self.shares:
            raise ResultError(
                f"There is no {self.part} share named '{name}'",
                hint=did_you_mean(name, self.shares) or f"Names are: {', '.join(self.shares)}.",
            )
        return self.shares[name]

    def _find(self, names: Iterable[str]) -> SubsetValue:
        wanted = frozenset([names] if isinstance(names, str) else names)
        for name in wanted - set(self.players):
            raise ResultError(
                f"There is no player named '{name}'", hint=did_you_mean(name, self.players)
            )
        for subset in self.subsets:
            if frozenset(subset.players) == wanted:
                return subset
        raise ResultError(
            "This subset was not evaluated",
            got="{" + ", ".join(sorted(wanted)) + "}",
            hint="Ask for it with whygap.subset_values(study, part=..., subsets=[...]).",
        )


@dataclass(frozen=True, slots=True)
class NuisanceRecord:
    """Which model was chosen for one kind of nuisance, and how well it predicts out of fold."""

    name: str
    target: str
    columns: str
    chosen: str
    score_name: str
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RatioRecord:
    """Overlap of the two domains on some columns, read off the density ratio at source rows."""

    name: str
    columns: str
    effective_size: float
    rows: int
    largest_weight: float
    clipped_share: float
    domain_auc: float


@dataclass(frozen=True, slots=True)
class Profile:
    """One covariate's own story: its distribution in both domains and the gap along it.

    `gap` is the outcome part within each bin (target rows of that bin), with its standard error;
    `support` the share of target rows. All tuples have one entry per bin.
    """

    variable: str
    bins: tuple[str, ...]
    source_share: tuple[float, ...]
    target_share: tuple[float, ...]
    gap: tuple[float, ...]
    gap_error: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How far to trust the numbers."""

    nuisances: tuple[NuisanceRecord, ...] = ()
    ratios: tuple[RatioRecord, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts of the notes that are more than information."""
        return tuple(note.text for note in self.notes if note.level != "info")


@dataclass(frozen=True, slots=True)
class About:
    """What was analysed and how: enough to repeat it."""

    outcome: str
    metric: str
    higher_is_better: bool | None
    is_share: bool
    source_name: str
    target_name: str
    rows: ByDomain[int]
    effective_rows: ByDomain[float]
    baseline: tuple[str, ...]
    players: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: Mapping[str, float] = field(default_factory=dict)
    created: str = ""
    kept_share: ByDomain[float] = field(default_factory=lambda: ByDomain(1.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """The explanation of one performance gap (target minus source, in the metric's own units).

    Two results are equal when everything that is saved of them is equal.
    """

    aggregate: Aggregate
    covariate: Detailed | None
    outcome: Detailed | None
    diagnostics: Diagnostics
    about: About
    profiles: tuple[Profile, ...] = ()
    table_kind: str = field(default="pyarrow", compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gap):
            return NotImplemented
        from whygap import storage

        return storage.to_mapping(self) == storage.to_mapping(other)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    def details(self) -> dict[str, Detailed]:
        """The detailed parts that were asked for."""
        both = {"covariate": self.covariate, "outcome": self.outcome}
        return {name: detail for name, detail in both.items() if detail is not None}

    def to_frame(self, level: float = 0.95) -> Any:
        """Tidy table of every estimate, in the kind of table the study came in."""
        from whygap.render import frame

        return frame.to_frame(self, level)

    def summary(self, level: float | None = None) -> str:
        """Plain words."""
        from whygap.render import words

        return words.summary(self, level or float(self.about.settings.get("level", 0.95)))

    def __str__(self) -> str:
        from whygap.render import words

        return words.short(self)

    def _repr_html_(self) -> str:
        from whygap.render import report

        return report.notebook(self)

    def save(self, path: str | Path, *, influence: bool = False) -> Path:
        """Write versioned JSON, whole or not at all."""
        from whygap import storage

        return storage.save(self, path, influence=influence)

    def plot(self, **options: Any) -> Any:
        """A matplotlib figure: the waterfall and the shares."""
        from whygap.render import plot

        return plot.overview(self, **options)

    def report(self, path: str | Path, level: float | None = None, revision: Any = None) -> Path:
        """Write one self-contained HTML page; `revision` is what `wg.revise` returned."""
        from whygap.render import report

        return report.write(self, path, level, revision)
