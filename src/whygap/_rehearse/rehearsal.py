"""The result of a rehearsal: how often intervals held where the truth is known."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from whygap.domains import ByDomain
from whygap.estimate import Estimate
from whygap.render.formats import text_table, wrapped
from whygap.render.units import level_name
from whygap.results import files
from whygap.results.redaction import rounded
from whygap.tables import native_table


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """One rehearsed quantity.

    Attributes:
        name: "gap", "part" or "points".
        part: "baseline", "covariate" or "outcome"; empty for the gap.
        variable: whose points; empty for the gap and the parts.
        truth: in the simulated world.
        estimates: of the replicates that had it, without influence values.
    """

    name: str
    part: str
    variable: str
    truth: float
    estimates: tuple[Estimate, ...]

    def measured(self, level: float) -> dict[str, Any]:
        """Return coverage with exact 95% limits, bias, and mean width of intervals.

        Args:
            level: of the confidence intervals, between 0 and 1.
        """
        low, high = np.array([e.interval(level) for e in self.estimates]).reshape(-1, 2).T
        count = len(low)
        covered = int(((low <= self.truth) & (self.truth <= high)).sum())
        limits = stats.binomtest(covered, count).proportion_ci() if count else (0.0, 1.0)
        bias = float(np.mean([e.value for e in self.estimates])) - self.truth if count else math.nan
        return {
            **{key: getattr(self, key) for key in ("name", "part", "variable", "truth")},
            "coverage": covered / count if count else math.nan,
            "coverage_low": float(limits[0]),
            "coverage_high": float(limits[1]),
            "covered": covered,
            "replicates": count,
            "bias": bias,
            "width": float((high - low).mean()) if count else math.nan,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Rehearsal:
    """Coverage of an analysis' intervals on simulated data like a study's.

    Attributes:
        quantities: the gap, its parts, and the details that were rehearsed.
        rows: drawn for each domain in every replicate.
        requested: replicates asked for.
        finished: replicates that ran to the end.
        failures: message -> replicates that could not be analysed for that reason.
        level: of the settings.
        notes: how the simulated data differ from the study's tables.
        table_kind: kind of table that `to_frame` returns.
    """

    quantities: tuple[Quantity, ...]
    rows: ByDomain[int]
    requested: int
    finished: int
    failures: Mapping[str, int]
    level: float
    notes: tuple[str, ...] = ()
    table_kind: str = "pyarrow"

    def records(self, level: float | None = None) -> list[dict[str, Any]]:
        """Return name, part, variable, truth, coverage, bias and width of every quantity.

        Args:
            level: of the confidence intervals; None takes the level of the settings.
        """
        return [quantity.measured(level or self.level) for quantity in self.quantities]

    def to_frame(self, level: float | None = None) -> Any:
        """Return a row per quantity, in the kind of table of the study.

        Args:
            level: of the confidence intervals; None takes the level of the settings.
        """
        rows = self.records(level)
        return native_table({key: [row[key] for row in rows] for key in rows[0]}, self.table_kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rehearsal) and files.to_dict(self) == files.to_dict(other)

    __hash__ = None  # type: ignore[assignment]  # holds mappings

    def save(self, path: str | Path) -> Path:
        """Write versioned JSON to a path, whole or not at all.

        Args:
            path: of the file.
        """
        return files.save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return what `save` writes, as plain values: all estimates and coverages."""
        return files.to_dict(self)

    def redacted(self, rows: int = 10) -> Rehearsal:
        """Return a copy with rounded counts of rows and without messages that may quote values.

        Args:
            rows: counts are rounded to multiples of so many rows.
        """
        hidden = {"(message left out)": sum(self.failures.values())} if self.failures else {}
        counts = self.rows.map(lambda count: int(rounded(count, rows)))
        return replace(self, rows=counts, failures=hidden)

    def summary(self, level: float | None = None) -> str:
        """Return the table of coverages and a verdict, as text.

        Args:
            level: of the confidence intervals; None takes the level of the settings.
        """
        level = level or self.level
        records = self.records(level)
        sizes = f"{self.rows.source:,} source and {self.rows.target:,} target rows each"
        head = f"Rehearsal: {self.finished} of {self.requested} replicates, {sizes}"
        lines = []
        for row in records:
            label = " ".join(filter(None, (row["name"], row["part"], row["variable"])))
            span = f"({100 * row['coverage_low']:.0f}-{row['coverage_high']:.0%})"
            coverage = f"{row['coverage']:.0%} {span}" if row["replicates"] else "undefined"
            numbers = [f"{row[key]:.3f}" for key in ("truth", "bias", "width")]
            lines.append((label, *numbers, coverage, "!" if row["coverage_high"] < level else ""))
        header = ("", "truth", "bias", "width", f"{level_name(level)} covers", "")
        failures = [
            f"{n} replicates could not be analysed: {why}" for why, n in self.failures.items()
        ]
        texts = map(wrapped, (self._verdict(records, level), *self.notes, *failures))
        return "\n".join([head, "", text_table(header, lines, "lrrrrl"), "", *texts]) + "\n"

    def _verdict(self, records: list[dict[str, Any]], level: float) -> str:
        short = sum(row["coverage_high"] < level for row in records)
        claimed = level_name(level)
        return (
            f"{self.finished} replicates: {short or 'none'} of {len(records)} intervals cover less "
            f"often than the {claimed} they claim, beyond chance{' (marked !)' if short else ''}."
        )

    def __str__(self) -> str:
        return self._verdict(self.records(), self.level)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"
