"""The result of an analysis; methods that show a result import `render` when they are called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from whygap.domains import Array
from whygap.errors import ResultError, did_you_mean, require_known, require_level
from whygap.estimate import Estimate
from whygap.estimate.fieller import Ratio
from whygap.notes import Note
from whygap.results import files
from whygap.results.about import About, Diagnostics
from whygap.results.details import Affected, Recoverable, Shares
from whygap.results.findings import Finding, findings
from whygap.results.points import Points
from whygap.results.redaction import ROWS, redacted


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
        what = f"This result has no '{self.name}' of the part '{part}'"
        if self:
            raise ResultError(what, hint=did_you_mean(part, self) or f"It has: {', '.join(self)}.")
        raise ResultError(what, hint=f'Ask for it: wg.explain(study, detail="{self.name}").')


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gap) and files.to_dict(self) == files.to_dict(other)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    @classmethod
    def given(cls, gap: Any) -> Gap | None:
        """Return the result a function was called with, or None; refuse anything else."""
        if gap is not None and not isinstance(gap, cls):
            raise ResultError(
                "gap= must be a result of explain",
                got=f"an object of type {type(gap).__name__}",
                hint="gap = wg.explain(study), or wg.load(path).",
            )
        return gap

    @property
    def comparable(self) -> bool:
        """Whether the inner parts can be estimated."""
        return not self.reason

    @property
    def has_region(self) -> bool:
        """Whether the tables are compared on their common support only."""
        return "source_only" in self.parts

    @property
    def outcome_first(self) -> bool:
        """Whether the outcome part comes before that of the covariates."""
        return [name for name in self.parts if name in ("covariate", "outcome")][:1] == ["outcome"]

    def level(self, level: float | None = None) -> float:
        """Return a confidence level, checked; for None the level of the settings."""
        if level is None:
            return float(self.about.settings.get("level", 0.95))
        require_level(level)
        return float(level)

    def share_of_total(self, name: str) -> Estimate | None:
        """Return one part divided by the gap, with Fieller's interval; None where the gap is 0."""
        top, bottom = self._part(name), self.total
        if bottom.value == 0:
            return None
        freedom = min(top.degrees_of_freedom, bottom.degrees_of_freedom)
        if top.influence is not None and bottom.influence is not None:
            return replace(top / bottom, degrees_of_freedom=freedom)
        part, whole = self._weights({name: 1.0}), np.ones(len(self.parts))
        covariance = self.part_covariance
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
            degrees_of_freedom=freedom,
        )

    def difference(self, first: str, second: str) -> Estimate:
        """Return one part less another."""
        left, right = self._part(first), self._part(second)
        freedom = min(left.degrees_of_freedom, right.degrees_of_freedom)
        if left.influence is not None and right.influence is not None:
            return replace(left - right, degrees_of_freedom=freedom)
        weights = self._weights({first: 1.0, second: -1.0})
        variance = max(float(weights @ self.part_covariance @ weights), 0.0)
        value = left.value - right.value
        return Estimate(value, math.sqrt(variance), degrees_of_freedom=freedom)

    def _part(self, name: str) -> Part:
        require_known(name, self.parts, f"There is no part '{name}'", "Parts", ResultError)
        return self.parts[name]

    def _weights(self, factors: Mapping[str, float]) -> Array:
        return np.array([factors.get(name, 0.0) for name in self.parts])

    def problems(self) -> tuple[str, ...]:
        """Return why the numbers must not be trusted as they stand, if there is any reason."""
        reasons = () if self.comparable else (self.reason,)
        return (*reasons, *(str(note) for note in self.notes if note.level == "problem"))

    def to_frame(self, level: float | None = None) -> Any:
        """Return a tidy table of every estimate, in the kind of table the study came in."""
        from whygap.render import tables

        return tables.to_frame(self, level)

    def summary(self, level: float | None = None) -> str:
        """Return the explanation in plain words."""
        from whygap.render import text

        return text.summary(self, self.findings(level))

    def findings(self, level: float | None = None) -> tuple[Finding, ...]:
        """Return all statements, in order, that text, page, figures, tables and alarms use.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        return findings(self, self.level(level))

    def __str__(self) -> str:
        from whygap.render import text

        return text.short(self, self.findings())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from whygap.render import page

        return page.notebook(self)

    def save(self, path: str | Path, *, influence: bool = False) -> Path:
        """Write versioned JSON, whole or not at all.

        Args:
            path: of the file.
            influence: keep influence values, so that arithmetic works on what is read back.
        """
        return files.save(self, path, influence=influence)

    def to_dict(self, *, influence: bool = False) -> dict[str, Any]:
        """Return what `save` writes, as plain values."""
        return files.to_dict(self, influence=influence)

    def plot(self, ax: Any = None, what: str = "decomposition", level: float | None = None) -> Any:
        """Return a matplotlib figure.

        Args:
            ax: the axes to draw on; None makes a figure.
            what: "decomposition", "points", "affected", "recoverable" or "shares".
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import figures

        return figures.figure_of(self, ax, what, level)

    def redacted(self, rows: int = ROWS) -> Gap:
        """Return a copy for other eyes: no level of fewer rows is named, counts are rounded."""
        return redacted(self, rows)

    def report(
        self, path: str | Path, level: float | None = None, redact: int | None = ROWS
    ) -> Path:
        """Write one self-contained HTML page.

        Args:
            path: of the file.
            level: of the intervals; that of the settings unless given.
            redact: name no level of fewer rows, and round counts; None shows all there is.
        """
        from whygap.render import page

        return page.write(self, path, level, redact)
