"""How a result came about, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whygap.data_checks import Measure
from whygap.domains import ByDomain
from whygap.results.overlap import Overlap, RatioRecord, Separator


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
class Diagnostics:
    """How far to trust the numbers."""

    nuisances: tuple[NuisanceRecord, ...] = ()
    ratios: tuple[RatioRecord, ...] = ()
    separators: tuple[Separator, ...] = ()  # columns that tell the domains apart on their own
    prediction: tuple[Measure, ...] = ()  # how the predictions do in both tables

    @property
    def overlap(self) -> Overlap:
        """Ratios and columns, as they are judged together."""
        return Overlap(self.ratios, self.separators)


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
    task: str = "binary"  # the kind of outcome
    metric_words: str = ""  # what sentences call the metric; empty: its name
    is_mean: bool = True  # the metric is a mean over rows
    kept_share: ByDomain[float] = field(default_factory=lambda: ByDomain(1.0, 1.0))
    data: str = ""  # a digest of both tables as they were used: the same data have the same
