"""The result of an analysis; methods that show a result import `render` when they are called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from whygap.data_checks import Measure
from whygap.domains import Array, ByDomain
from whygap.errors import ResultError, did_you_mean, require_known, require_level
from whygap.estimate import Estimate
from whygap.estimate.fieller import Ratio
from whygap.notes import Note
from whygap.results import files, redaction
from whygap.results.details import Affected, Recoverable, Shares
from whygap.results.findings import Finding, findings
from whygap.results.overlap import RatioRecord, Separator
from whygap.results.points import Points


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


@dataclass(frozen=True, slots=True, eq=False)
class Part(Estimate):
    """One part of a gap.

    Attributes:
        label: what titles and tables call the part.
        meaning: where the part comes from, as one sentence without a verb.
    """

    label: str = ""
    meaning: str = ""

    @classmethod
    def named(cls, estimate: Estimate, label: str, meaning: str) -> Part:
        """Return the part that an estimate is of."""
        numbers = {f.name: getattr(estimate, f.name) for f in fields(Estimate)}
        return cls(**numbers, label=label, meaning=meaning)


class _Detail(dict[str, Any]):
    """A detail by part; a part that is not there is refused, with how to ask for the detail."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.name = name

    def __missing__(self, part: str) -> Any:
        message = f"This result has no '{self.name}' of the part '{part}'"
        if self:
            raise ResultError(
                message, hint=did_you_mean(part, self) or f"It has: {', '.join(self)}."
            )
        raise ResultError(message, hint=f'Ask for it: wg.explain(study, detail="{self.name}").')


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gap:
    """The explanation of one performance gap (target minus source, in the metric's own units).

    Two results are equal when everything that is saved of them is equal.

    Attributes:
        total: target minus source.
        source: mean of all source rows.
        target: mean of all target rows.
        parts: name -> part, in the order of the decomposition, adding up to `total`; empty where
            the tables cannot be compared.
        part_covariance: of the parts, in their order.
        reason: why the tables cannot be compared, in words; empty where they can.
        points: part -> what each of its variables costs; empty where not requested.
        affected: part -> the groups of rows it falls on; empty where not requested.
        recoverable: squared error that labels could win back; None where not requested.
        shares: part -> the paper's shares; empty where not requested.
        notes: everything counted or repaired.
        diagnostics: how well models fit and tables overlap.
        about: what was analysed and how.
    """

    total: Estimate
    source: Estimate
    target: Estimate
    parts: Mapping[str, Part]
    part_covariance: Array
    diagnostics: Diagnostics
    about: About
    reason: str = ""
    points: Mapping[str, Points] = field(default_factory=dict)
    affected: Mapping[str, Affected] = field(default_factory=dict)
    recoverable: Recoverable | None = None
    shares: Mapping[str, Shares] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    table_kind: str = field(default="pyarrow", compare=False)

    def __post_init__(self) -> None:
        for name in ("points", "affected", "shares"):
            object.__setattr__(self, name, _Detail(name, getattr(self, name)))

    def __eq__(self, result: object) -> bool:
        return isinstance(result, Gap) and files.to_dict(self) == files.to_dict(result)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    @property
    def comparable(self) -> bool:
        """Whether the inner parts can be estimated."""
        return not self.reason

    @property
    def outcome_first(self) -> bool:
        """Whether the outcome part comes before the covariate part."""
        return [name for name in self.parts if name in ("covariate", "outcome")][:1] == ["outcome"]

    def level(self, level: float | None = None) -> float:
        """Return a confidence level, checked; for None the level of the settings."""
        if level is None:
            return float(self.about.settings.get("level", 0.95))
        require_level(level)
        return float(level)

    def share_of_total(self, name: str) -> Estimate | None:
        """Return a part divided by the gap, with Fieller's interval; None where the gap is 0.

        Args:
            name: of the part.
        """
        require_known(name, self.parts, f"There is no part '{name}'", "Parts", ResultError)
        part = self.parts[name]
        total = self.total
        if total.value == 0:
            return None
        place = list(self.parts).index(name)
        covariance = self.part_covariance
        moments = (covariance[place, place], covariance.sum(), covariance[place].sum())
        ratio = Ratio(part.value, total.value, *map(float, moments))
        return Estimate(
            part.value / total.value,
            ratio.standard_error(),
            plugin=part.plugin / total.plugin if total.plugin else math.nan,
            ratio=ratio,
            degrees_of_freedom=min(part.degrees_of_freedom, total.degrees_of_freedom),
        )

    def difference(self, first: str, second: str) -> Estimate:
        """Return the difference of two parts, `first` less `second`."""
        return Points(self.parts, self.part_covariance).combined({first: 1.0, second: -1.0})

    def problems(self) -> tuple[str, ...]:
        """Return why the numbers must not be trusted, if any reason was found."""
        reasons = () if self.comparable else (self.reason,)
        return (*reasons, *(str(note) for note in self.notes if note.level == "problem"))

    def findings(self, level: float | None = None) -> tuple[Finding, ...]:
        """Return all statements, in order, that text, page, figures, tables and alarms use.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        return findings(self, self.level(level))

    def to_frame(self, level: float | None = None) -> Any:
        """Return a tidy table of every estimate, in the kind of table the study came in.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import tables

        return tables.to_frame(self, level)

    def summary(self, level: float | None = None) -> str:
        """Return the explanation in plain words.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import text

        return text.summary(self, self.findings(level))

    def __str__(self) -> str:
        from whygap.render import text

        return text.short(self, self.findings())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from whygap.render import page

        return page.notebook(self)

    save = files.save
    to_dict = files.to_dict

    def plot(self, ax: Any = None, what: str = "decomposition", level: float | None = None) -> Any:
        """Return a matplotlib figure.

        Args:
            ax: the axes to draw on; None makes a figure.
            what: "decomposition", "points", "affected", "recoverable" or "shares".
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import figures

        return figures.figure_of(self, ax, what, level)

    def redacted(self, rows: int = redaction.ROWS) -> Gap:
        """Return a copy that names no level of fewer rows, with rounded counts.

        Args:
            rows: groups of fewer rows are small; counts become multiples of it.
        """
        return redaction.redacted(self, rows)

    def report(
        self, path: str | Path, level: float | None = None, redact: int | None = redaction.ROWS
    ) -> Path:
        """Write a self-contained HTML page.

        Args:
            path: of the file.
            level: of the intervals; that of the settings unless given.
            redact: name no level of fewer rows, and round counts; None shows all there is.
        """
        from whygap.render import page

        return page.write(self, path, level, redact)
