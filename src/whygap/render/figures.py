"""Charts of results, drawn by matplotlib: the decomposition, estimates with intervals, a trend.

A display holds what is drawn; `plot(ax=None)` draws and returns the display, whose `ax_` and
`figure_` are then set. Pages inline the charts through `whygap.render.svg`.

Every row takes two lines, so that charts fit a phone: the name and the numbers, and below them
the bar with its interval. One point of a figure is one CSS pixel at a width of `WIDTH` pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes

from whygap.errors import ResultError, require_known
from whygap.render import drawing
from whygap.render.drawing import NO_SPAN, Row
from whygap.render.formats import visible
from whygap.render.sentences import amount, change_sentence, group_words, number
from whygap.render.style import COLOURS
from whygap.render.tables import TERMS
from whygap.render.text import BANNER, targets_headline, targets_units
from whygap.render.units import level_name, percent, percent_span, units_of, with_minus
from whygap.results import Finding, Gap
from whygap.results.gaps import findings_on_all

NOTE = "{} intervals; hollow: not significant"
MAX_ROWS = 12  # rows in one chart; the table has all
# Detail -> kinds of findings that are its rows; irreducible error would dwarf the others
KINDS = {
    "points": ("points",),
    "affected": ("rule", "group"),
    "recoverable": ("recoverable",),
    "shares": ("share_base", "share"),
}
TITLES = {
    "points": "Points of each variable",
    "affected": "Affected groups, in points of their part",
    "recoverable": "Recoverable error",
    "shares": "Shapley shares",
}


@dataclass(eq=False)
class DecompositionDisplay:
    """Draw the metric from source to target, part by part.

    Attributes:
        title: what happened, in a few words.
        rows: the source, the parts, perhaps with variables, and the target.
        tick: writes a number on the axis.
        level: of the intervals.
        line: width in points of the form in one line; 0 for a row per part.
    """

    title: str
    rows: tuple[Row, ...]
    tick: Callable[[float], str]
    level: float
    line: float = 0.0
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls,
        gap: Gap,
        findings: Sequence[Finding],
        title: str = "",
        variables: bool = True,
        line: float = 0.0,
    ) -> DecompositionDisplay:
        """Collect the rows of a decomposition.

        Args:
            gap: the result.
            findings: on the gap.
            title: above the chart.
            variables: add the named variables of each part, and what is left of the part.
            line: width in points of the form in one line, without variables; 0 for rows.
        """
        units = units_of(gap)
        change = next(f for f in findings if f.kind == "change")
        rows = [_mean_row(gap, change, "source", short=line > 0)]
        level = gap.source.value
        for part in (f for f in findings if f.kind == "part"):
            rows.append(_part_row(gap, part, gap.parts[part.part].label, level))
            start = level
            terms = [f for f in findings if f.part == part.part and f.kind.startswith("points")]
            if line or not variables or not any(f.facts.get("named") for f in terms):
                terms = []
            for term in (f for f in terms if f.facts.get("named", f.kind == "points_rest")):
                name = term.variable or f"{term.facts['n']} others"
                rows.append(_part_row(gap, term, name, start))
                start += term.value
            level += part.value
        rows.append(_mean_row(gap, change, "target", short=line > 0))
        return cls(title, tuple(rows), units.tick, change.level, line)

    def plot(self, ax: Axes | None = None) -> DecompositionDisplay:
        """Draw the chart."""
        if self.line:
            self.ax_ = drawing.draw_line(ax, self.rows, self.line)
        else:
            ax = drawing.axes_of(ax, self.rows, self.title, NOTE.format(level_name(self.level)))
            drawing.draw_rows(ax, self.rows, self.tick)
            self.ax_ = ax
        self.figure_ = self.ax_.get_figure(root=True)
        return self


@dataclass(eq=False)
class IntervalsDisplay:
    """Draw estimates by name, each with its interval: points, groups, recoverable error, shares.

    Attributes:
        title: what the estimates are.
        rows: one for each estimate, and headings between them.
        tick: writes a number on the axis.
        level: of the intervals.
        n_left_out: estimates that have no row.
    """

    title: str
    rows: tuple[Row, ...]
    tick: Callable[[float], str]
    level: float
    n_left_out: int = 0
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_gap(
        cls, gap: Gap, findings: Sequence[Finding], detail: str, part: str = "", title: str = ""
    ) -> IntervalsDisplay:
        """Collect a row for each estimate of a detail; several parts get headings.

        Args:
            gap: the result.
            findings: on the gap.
            detail: "points", "affected", "recoverable" or "shares".
            part: name of the part; empty for all of them.
            title: above the chart.
        """
        terms = [f for f in findings if f.kind in KINDS[detail] and part in ("", f.part)]
        terms = [f for f in terms if f.facts.get("term") != "irreducible"]
        by_part: dict[str, list[Finding]] = {}
        for term in terms:
            by_part.setdefault(term.part, []).append(term)
        if not terms:
            hint = f"explain(study, detail={detail!r}) estimates them; the summary says why not."
            raise ResultError(f"This result has no {detail} to draw", hint=hint)
        rows: list[Row] = []
        for name, group in by_part.items():
            if detail == "affected":
                group.sort(key=lambda f: f.facts["place"])
            if len(by_part) > 1:
                rows.append(Row(gap.parts[name].label, is_heading=True))
            rows += [_interval_row(gap, term) for term in group[:MAX_ROWS]]
        left_out = sum(max(0, len(group) - MAX_ROWS) for group in by_part.values())
        ticks = {"shares": lambda value: f"{100 * value:,.4g}%", "recoverable": "{:,.4g}".format}
        tick = ticks.get(detail, units_of(gap).gain_tick)
        return cls(title, tuple(rows), tick, terms[-1].level, left_out)

    def plot(self, ax: Axes | None = None) -> IntervalsDisplay:
        """Draw the chart."""
        left_out = f"; {self.n_left_out} more in the table" if self.n_left_out else ""
        ax = drawing.axes_of(
            ax, self.rows, self.title, NOTE.format(level_name(self.level)) + left_out
        )
        drawing.draw_rows(ax, self.rows, self.tick, from_zero=True)
        self.ax_ = ax
        self.figure_ = ax.get_figure(root=True)
        return self


@dataclass(eq=False)
class TrendDisplay:
    """Draw estimates of several targets, in the order of the targets: one panel for each series.

    Attributes:
        title: what happened, in a few words.
        targets: names of the targets.
        series: panel -> target -> what is drawn there.
        tick: writes a number on the axis.
    """

    title: str
    targets: tuple[str, ...]
    series: Mapping[str, Mapping[str, Row]]
    tick: Callable[[float], str]
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_gaps(
        cls, gaps: Mapping[str, Gap], findings: Sequence[Finding], title: str = ""
    ) -> TrendDisplay:
        """Collect the change and the parts over the targets.

        Args:
            gaps: target -> gap; at least two.
            findings: of `Gaps.findings`.
            title: above the chart.
        """
        labels = {"": "Change"}
        labels |= {f.part: f.facts["label"] for f in findings if f.kind == "part_in_targets"}
        series: dict[str, dict[str, Row]] = {label: {} for label in labels.values()}
        for f in findings:
            if f.kind in ("target_change", "target_part"):
                colour = _colour(f.part) if f.part else "ink"
                interval = f.interval or NO_SPAN
                row = Row("", "", "", "", 0.0, f.value, interval, colour, f.significant)
                series[labels[f.part]][f.facts["target"]] = row
        return cls(title, tuple(gaps), series, targets_units(gaps).gain_tick)

    def plot(self, ax: Axes | None = None) -> TrendDisplay:
        """Draw the chart; on given axes the change alone."""
        panels = [ax] if ax is not None else drawing.panels_of(len(self.series), self.title)
        for panel, (name, series) in zip(panels, self.series.items(), strict=False):
            marks = {place: series[t] for place, t in enumerate(self.targets) if t in series}
            drawing.draw_panel(panel, name, marks, self.tick)
            panel.set_xlim(-0.5, len(self.targets) - 0.5)
        drawing.name_targets(panels[-1], self.targets)
        self.ax_ = panels[0]
        self.figure_ = panels[0].get_figure(root=True)
        return self


def figure_of(gap: Gap, ax: Any, content: str, level: float | None) -> Any:
    """Return a drawn figure of a result: the decomposition, or a detail."""
    if isinstance(ax, str):
        hint = f"Try gap.plot(what={ax!r})."
        raise ResultError("ax= takes matplotlib axes", got=repr(ax), hint=hint)
    require_known(content, ("decomposition", *KINDS), f"There is no figure '{content}'", "Figures")
    findings = gap.findings(level)
    problems = gap.problems()
    title = change_sentence(gap, next(f for f in findings if f.kind == "change"))
    title = " ".join([BANNER, *problems, title]) if problems else title
    if content == "decomposition":
        return DecompositionDisplay.from_gap(gap, findings, title).plot(ax).figure_
    title = title if problems else TITLES[content]
    return IntervalsDisplay.from_gap(gap, findings, content, title=title).plot(ax).figure_


def trend_of(gaps: Mapping[str, Gap], ax: Axes | None, level: float | None) -> Any:
    """Return a drawn figure of several targets; of a single target the decomposition."""
    if len(gaps) == 1:
        return figure_of(next(iter(gaps.values())), ax, "decomposition", level)
    findings = tuple(findings_on_all(gaps, next(iter(gaps.values())).level(level)))
    title = targets_headline(gaps, findings)[0]
    return TrendDisplay.from_gaps(gaps, findings, title).plot(ax).figure_


def _colour(part: str) -> str:
    return part if part in COLOURS else "other"


def _mean_row(gap: Gap, change: Finding, domain: str, short: bool) -> Row:
    name = getattr(gap.about, f"{domain}_name")
    end = getattr(gap, domain).value
    size = with_minus(units_of(gap).mean(end))
    name = name if short or name == domain else f"{name} ({domain})"
    low, high = change.facts[f"{domain}_interval"]
    return Row(visible(name), size, "", size, end, end, (low, high), "ink", is_heading=True)


def _part_row(gap: Gap, finding: Finding, name: str, start: float) -> Row:
    units = units_of(gap)
    low, high = finding.interval or NO_SPAN
    return Row(
        name=visible(name),
        numbers=with_minus(number(units, finding, unit=False)),
        size=with_minus(units.bare(finding.value, signed=True)),
        start=start,
        end=start + finding.value,
        interval=(start + low, start + high),
        colour=_colour(finding.part),
        is_significant=finding.significant,
        is_heading=finding.kind == "part",
        part=finding.part if finding.kind == "part" else "",
    )


def _interval_row(gap: Gap, finding: Finding) -> Row:
    low, high = finding.interval or NO_SPAN
    name = finding.variable
    note = ""
    numbers = number(units_of(gap), finding, unit=False)
    if finding.kind in ("rule", "group"):
        name, _, note = group_words(finding).rpartition(" (")
    elif finding.kind == "recoverable":
        name = name or TERMS[finding.facts["term"]]
        numbers = amount(gap, finding)
    elif finding.kind in ("share", "share_base"):
        name = name or "source risk, recalibrated"
        error = finding.estimate.standard_error if finding.estimate else math.nan
        numbers = f"{percent(finding.value, error)} ({percent_span(low, high, error)})"
    is_error = finding.kind == "recoverable"
    return Row(
        name=visible(name),
        numbers=with_minus(numbers),
        note=note.rstrip(")"),
        start=0.0,
        end=finding.value,
        interval=(low, high),
        colour="recoverable" if is_error else _colour(finding.part),
        is_significant=finding.significant,
    )
