"""Lines that figures and the page both draw: points, groups, what can be won back, shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate, Interval
from whygap.render.answers import together
from whygap.render.reading import RULE_LEVEL, Hit, hits_of
from whygap.render.units import (
    Units,
    p_value,
    percent,
    percent_interval,
    rows_share,
    squared_error_units,
    units_of,
    with_minus,
)
from whygap.results import Affected, Budget, Gap, Points, Recoverable

USUAL_SHARE = 0.3  # shares below this do not stretch the scale until they fill it


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: a variable, several together, a group, a rule or the base.

    Attributes:
        name: of the variable or group.
        estimate: its points, squared error or share.
        columns: that it stands for; empty for the base.
        kind: "variable", "others", "group", "rule" or "base".
        note: of a group, its share of the target's rows.
        adjusted_p: p-value of "this is 0", adjusted for looking at all; None where there is none.
        change: of a group, the mean change of its rows.
    """

    name: str
    estimate: Estimate
    columns: tuple[str, ...] = ()
    kind: str = "variable"
    note: str = ""
    adjusted_p: float | None = None
    change: Estimate | None = None

    @property
    def adjusted(self) -> str:
        """The adjusted one."""
        return "" if self.adjusted_p is None else p_value(self.adjusted_p)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines under one heading, in one unit.

    Attributes:
        key: "points baseline", "where", "recoverable here", "covariate", ...
        title: the heading.
        lines: from the top down.
        units: of the numbers; None for shares, which are written in percent.
        reason: in words, why there are no lines.
        joint: simultaneous intervals of all lines at a level; None where each has its own.
    """

    key: str
    title: str
    lines: tuple[Line, ...]
    units: Units | None
    reason: str = ""
    joint: Callable[[float], Sequence[Interval]] | None = None

    def intervals(self, level: float) -> list[Interval]:
        """Of every line."""
        own = [line.estimate.interval(level) for line in self.lines]
        return own if self.joint is None else list(self.joint(level))

    def text(self, line: Line) -> str:
        """The line's number: +1.2; 34%."""
        value, error = line.estimate.value, line.estimate.standard_error
        signed = not self.key.startswith("recoverable")
        written = percent(value, error) if self.units is None else self.units.bare(value, signed)
        return with_minus(written)

    def exact(self, line: Line) -> str:
        """The number and its standard error, with five digits."""
        value, error = line.estimate.value, line.estimate.standard_error
        if self.units is None:
            return with_minus(f"{100 * value:.5g}%, standard error {100 * error:.3g}%")
        exact, size = self.units.exact(value), self.units.exact(error).lstrip("+")
        return with_minus(f"{exact}{self.units.unit}, standard error {size}")

    def span(self, line: Line, ends: tuple[float, float], level: float) -> str:
        """Its interval."""
        if self.units is None:
            return with_minus(percent_interval(line.estimate, level))
        if self.key.startswith("recoverable"):
            return with_minus(self.units.span(*ends, signed=False))
        return with_minus(self.units.span(*ends))

    def last(self, line: Line) -> tuple[str, float]:
        """What the last column shows, and sorts by: the p-value; of groups, the mean change."""
        if self.units is None or self.key != "where":
            return p_value(line.estimate.p_value()), line.estimate.p_value()
        if line.change is None:
            return "too few rows", 0.0
        value = line.change.value
        return with_minus(self.units.bare(value, signed=True)), value


def points_blocks(gap: Gap, most: int | None = None) -> list[Block]:
    """What each variable costs, a block per part; the smaller ones together past `most`."""
    return [
        Block(f"points {part}", gap.parts[part].label, largest_lines(points, most), units_of(gap))
        for part, points in gap.points.items()
    ]


def largest_lines(joint: Points, most: int | None) -> tuple[Line, ...]:
    """Largest first, whatever the sign; the rest added up into one line."""
    names = joint.largest_first()
    shown = names if most is None or len(names) <= most + 1 else names[:most]
    adjusted = joint.adjusted_p_values()
    lines = [Line(name, joint[name], (name,), adjusted_p=adjusted[name]) for name in shown]
    rest = names[len(shown) :]
    if rest:
        lines.append(Line(f"{len(rest)} others", together(joint, rest), tuple(rest), "others"))
    return tuple(lines)


def shares_block(gap: Gap, part: str, most: int | None = None) -> Block:
    """The paper's shares: the base first, then the shares from the largest down."""
    detail, title = gap.shares[part], f"{gap.parts[part].label}: shares of the shift"
    if not detail.defined:
        return Block(part, title, (), None, f"Undefined. {detail.reason}")
    lines = largest_lines(detail.values, most)
    lines = tuple(sorted(lines, key=lambda line: (line.kind == "others", -line.estimate.value)))
    columns = gap.about.players
    lines = tuple(
        line if line.kind == "others" else replace(line, columns=tuple(columns.get(line.name, ())))
        for line in lines
    )
    base = []
    if part == "outcome" and detail.base is not None:
        base = [Line("source risk, recalibrated", detail.base, kind="base")]
    return Block(part, title, (*base, *lines), None)


def hits_block(gap: Gap, level: float, most: int) -> Block:
    """The most telling rules and groups."""
    shown, title = hits_of(gap, level)[:most], "Contribution to the outcome part"
    lines = tuple(map(_hit_line, shown))

    def joint(at: float) -> list[Interval]:
        """In the order of the lines: that of the hits may be another one at another level."""
        ends = {hit.words: hit.interval for hit in hits_of(gap, at)}
        return [ends[hit.words] for hit in shown]

    return Block("where", title, lines, units_of(gap), joint=joint)


def _hit_line(hit: Hit) -> Line:
    kind = "rule" if hit.is_rule else "group"
    return Line(hit.words, hit.points, (), kind, rows_share(hit.share), change=hit.change)


def where_blocks(gap: Gap, most: int, variable: str | None = None) -> list[Block]:
    """Groups of one variable, or of those along which contributions differ most; then rules."""
    where = gap.affected.get("outcome")
    if where is None:
        return []
    known = where.variables()
    if variable is not None:
        what = f"There are no groups of '{variable}' in this result"
        require_known(variable, known, what, "Variables with groups", ResultError)
    excess = list(zip(where.groups, where.excess(), strict=True))

    def spread(name: str) -> float:
        own = [one.value for group, one in excess if group.variable == name]
        return max(own) - min(own)

    chosen = sorted(known, key=spread, reverse=True)[:most] if variable is None else [variable]
    blocks = [_groups_block(gap, where, name) for name in chosen]
    rules = [hit for hit in hits_of(gap, RULE_LEVEL) if hit.is_rule and variable is None]
    if rules:
        lines, ends = tuple(map(_hit_line, rules)), [hit.interval for hit in rules]
        blocks.append(Block("where", "Confirmed rules", lines, units_of(gap), joint=lambda _: ends))
    return blocks


def _groups_block(gap: Gap, where: Affected, variable: str) -> Block:
    def joint(level: float) -> list[Interval]:
        both = zip(where.groups, where.simultaneous(level), strict=True)
        return [ends for group, ends in both if group.variable == variable]

    lines = tuple(
        Line(g.label, g.points, kind="group", note=rows_share(g.target_share))
        for g in where.groups_of(variable)
    )
    return Block("where", variable, lines, units_of(gap), joint=joint)


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """One budget as a bar: what can be won back by recalibration, by variables, and the rest."""

    name: str
    budget: Budget

    def pieces(self) -> dict[str, float]:
        """Sizes from the left: a budget that came out below 0 has nothing to win back."""
        scale = self.budget.recalibration
        first = max(scale.value, 0.0) if scale is not None else 0.0
        rest = max(self.budget.total.value, 0.0) - first
        pieces = {"recalibration": first, "variables": max(rest, 0.0)}
        return {**pieces, "irreducible": max(self.budget.irreducible.value, 0.0)}

    @property
    def width(self) -> float:
        """Of the whole bar."""
        return sum(self.pieces().values())


BUDGETS: dict[str, Callable[[Recoverable], Budget | None]] = {
    "In the target, with its labels": lambda found: found,
    "In the target, with source labels": lambda found: found.reweighted,
    "In the source": lambda found: found.source,
}


def budget_bars(gap: Gap) -> list[BudgetBar]:
    """The three budgets."""
    if gap.recoverable is None:
        return []
    budgets = {name: budget_of(gap.recoverable) for name, budget_of in BUDGETS.items()}
    return [BudgetBar(name, budget) for name, budget in budgets.items() if budget is not None]


def recoverable_block(gap: Gap, most: int | None = None) -> Block:
    """Through what the target's labels could win something back."""
    found, units = gap.recoverable, squared_error_units(gap)
    title = "Through what, with labels from the target"
    if found is None or found.variables is None:
        return Block("recoverable here", title, (), units)
    scale, variables = found.recalibration, largest_lines(found.variables, most)
    first = () if scale is None else (Line("recalibrating the score", scale, kind="base"),)
    return Block("recoverable here", title, (*first, *variables), units)


def limits_of(blocks: Sequence[Block], level: float) -> tuple[float, float]:
    """Room for the intervals, but not for those that would flatten everything else."""
    values = [line.estimate.value for block in blocks for line in block.lines]
    if not values:
        return 0.0, 1.0
    usual = USUAL_SHARE if blocks[0].units is None else 0.0
    spans = [ends for block in blocks for ends in block.intervals(level)]
    return framed([*values, 0.0], spans, 0.06, usual)


def framed(
    values: Sequence[float], spans: Sequence[tuple[float, float]], air: float, usual: float = 0.0
) -> tuple[float, float]:
    """Limits for values and intervals, but for those that would flatten everything else.

    An interval may reach beyond the values as far as they are apart, or as a middling one is wide,
    if that one ends anywhere.
    """
    top, bottom = max(values), min(values)
    widths = sorted(w if math.isfinite(w := high - low) else math.inf for low, high in spans)
    middling = widths[len(widths) // 2] if widths else 0.0
    middling = 0.0 if math.isinf(middling) else middling
    reach = max(max(top, usual) - bottom, middling)
    ends = [max(low, bottom - reach) for low, _ in spans]
    ends += [min(high, top + reach) for _, high in spans]
    return padded([*values, *ends], air)


def padded(values: Sequence[float], air: float) -> tuple[float, float]:
    """Limits that leave air around the finite values."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = air * (high - low) or air * abs(high) or 1.0
    return low - room, high + room
