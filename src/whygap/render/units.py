"""Numbers in sentences and tables: as many digits as their intervals support, with their units."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import accumulate

from whygap.estimate import Estimate
from whygap.results import Gap

LARGE = {"T": 1e12, "B": 1e9, "M": 1e6}  # trillions, billions, millions
_FINER = 2  # further digits, at most, for an end of a clear interval that would be written as 0


@dataclass(frozen=True, slots=True)
class Units:
    """How a metric's means and differences are written.

    Attributes:
        is_share: the mean is a share of rows: means in percent, differences in points.
        decimals: digits after the point; None for scientific notation.
        letter: of the thousands that large numbers are counted in: 272M; empty for none.
    """

    is_share: bool
    decimals: int | None
    letter: str = ""

    @property
    def unit(self) -> str:
        """What follows a difference: " points", or nothing."""
        return " points" if self.is_share else ""

    def bare(self, value: float, signed: bool = False) -> str:
        """A difference without its unit."""
        if not math.isfinite(value):
            return _not_finite(value)
        shown = 100 * value if self.is_share else value / LARGE.get(self.letter, 1.0)
        sign = "+" if signed else ""
        if self.decimals is None:
            return f"{shown:{sign}.3g}"
        text = f"{shown:{sign},.{self.decimals}f}"
        return text.lstrip("+-") if float(text.replace(",", "")) == 0 else text + self.letter

    def mean(self, value: float) -> str:
        """A mean of the metric: 80.4%, or 0.183."""
        return self.bare(value) + ("%" if self.is_share else "")

    def tick(self, value: float) -> str:
        """A mean on an axis, with no more digits than it needs."""
        if self.is_share:
            return f"{100 * value:,.4g}%"
        return f"{value / LARGE.get(self.letter, 1.0):,.5g}{self.letter if value else ''}"

    def gain_tick(self, value: float) -> str:
        """A difference on an axis: +2; 0."""
        shown = 100 * value if self.is_share else value / LARGE.get(self.letter, 1.0)
        return f"{shown:+,.4g}{self.letter}" if abs(shown) > 1e-12 else "0"

    def exact(self, value: float) -> str:
        """A difference with five digits and no unit, for those who point at it: -7.2034."""
        if not math.isfinite(value):
            return _not_finite(value)
        return f"{100 * value if self.is_share else value:+,.5g}"

    def size(self, value: float) -> str:
        """How large a difference is: 7.2 points."""
        return self.bare(abs(value)) + self.unit

    def change(self, value: float) -> str:
        """A difference with its sign: -7.2 points."""
        return self.bare(value, signed=True) + self.unit

    def span(self, low: float, high: float, signed: bool = True) -> str:
        """An interval of differences, with signs: -11.3 to -3.1."""
        return f"{self._end(low, high, signed)} to {self._end(high, low, signed)}"

    def size_span(self, low: float, high: float) -> str:
        """An interval of one sign as sizes, smaller first: 3.1 to 11.3."""
        small, large = sorted((abs(low), abs(high)))
        return self.span(small, large, signed=False)

    def _end(self, value: float, other: float, signed: bool) -> str:
        """An end of an interval; where that leaves out 0, not written as 0."""
        text = self.bare(value, signed)
        if self.decimals is None or not value * other > 0 or re.search("[1-9]", text):
            return text
        more = range(self.decimals + 1, self.decimals + 1 + _FINER)
        finer = [replace(self, decimals=digits).bare(value, signed) for digits in more]
        return next((one for one in finer if re.search("[1-9]", one)), text)

    def suited(self, estimate: Estimate) -> Units:
        """Fewer digits for a number that is known less well than the gap; points keep theirs."""
        error = estimate.standard_error / LARGE.get(self.letter, 1.0)
        if self.is_share or self.decimals is None or not (error > 0 and math.isfinite(error)):
            return self
        fitting = max(0, 1 - math.floor(math.log10(error)))
        return replace(self, decimals=min(self.decimals, fitting))


def units_of(gap: Gap) -> Units:
    """Digits from the standard error of the gap."""
    is_share = gap.about.is_share
    factor = 100 if is_share else 1
    error = factor * gap.total.standard_error
    means = accumulate((part.value for part in gap.parts.values()), initial=gap.source.value)
    largest = factor * max(map(abs, (*means, gap.target.value)))
    return units_for(is_share, error, largest)


def squared_error_units(gap: Gap) -> Units:
    """Digits from the standard error of what can be won back in the target."""
    found = gap.recoverable
    error = found.total.standard_error if found else 0.0
    return units_for(False, error, found.irreducible.value if found else 1.0)


def units_for(is_share: bool, error: float, largest: float) -> Units:
    """Digits for numbers known with this standard error, in percent where they are shares."""
    if not (error > 0 and math.isfinite(error)):
        error = (largest or 1.0) * (1e-2 if is_share else 1e-3)
    letter = next((one for one, size in LARGE.items() if 10 * size <= largest), "")
    magnitude = math.floor(math.log10(error / LARGE.get(letter, 1.0)))
    decimals = max(1, -magnitude) if is_share else max(0, 1 - magnitude)
    if decimals > 6 or largest >= 1e16:
        return Units(is_share, None)
    return Units(is_share, decimals, letter)


def percent(value: float, error: float = 1.0) -> str:
    """A share in percent: 68%; 0.42% when it is known that well."""
    if not math.isfinite(value):
        return _not_finite(value)
    decimals = 0 if error >= 0.005 or error == 0 else 1 if error >= 0.0005 else 2
    if abs(value) >= 1e6:
        return f"{100 * value:.3g}%"
    text = f"{100 * value:,.{decimals}f}"
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text) + "%"


def percent_interval(share: Estimate, level: float) -> str:
    """51% to 85%; "unbounded" when nothing is excluded."""
    low, high = share.interval(level)
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    error = share.standard_error
    return f"{_percent_end(low, high, error)} to {_percent_end(high, low, error)}"


def _percent_end(value: float, other: float, error: float) -> str:
    """An end of an interval of shares; where that leaves out 0, not written as 0%."""
    text = percent(value, error)
    if not value * other > 0 or re.search("[1-9]", text):
        return text
    finer = [percent(value, one) for one in (0.001, 0.0001)]  # one and two decimals
    return next((one for one in finer if re.search("[1-9]", one)), text)


def rows_share(share: float) -> str:
    """How many of the rows: 38%; 0.4% of few."""
    return percent(share, 1.0 if share >= 0.01 or not share else 0.001)


def p_value(p: float) -> str:
    """0.032; "< 0.001" below that."""
    if not math.isfinite(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def count(value: float) -> str:
    """34,519."""
    return f"{round(value):,}" if math.isfinite(value) else _not_finite(value)


def weight(value: float) -> str:
    """3.1; 1,265."""
    return f"{value:,.3g}" if value < 100 else count(value)


def rounded_count(value: float) -> str:
    """About 12,000: two significant digits."""
    if value < 10:
        return f"{math.ceil(value)}"
    step = 10 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step) * step:,}"


def with_minus(text: str) -> str:
    """Hyphens before numbers as real minus signs, for pages and figures."""
    return re.sub(r"(?<![\w\u2212-])-(?=\d)", "\u2212", text)


def level_name(level: float) -> str:
    """95%; 99.9%."""
    return f"{100 * level:.6g}%"


def _not_finite(value: float) -> str:
    return "undefined" if math.isnan(value) else "unbounded"
