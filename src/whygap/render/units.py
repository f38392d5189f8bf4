"""Numbers and names in sentences, tables and figures: as many digits as intervals support."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from whygap._metrics import METRICS
from whygap.estimate import Estimate
from whygap.results import About, Gap

LARGE = {"T": 1e12, "B": 1e9, "M": 1e6}  # trillions, billions, millions
FINER = 2  # further digits, at most, for an end of a significant interval that would be written 0
IN_UNITS = ("mae", "mse", "rmse", "bias", "pinball")  # metrics that have the outcome's units


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
        """Return what follows a difference: " points", or nothing."""
        return " points" if self.is_share else ""

    def bare(self, value: float, signed: bool = False) -> str:
        """Write a difference without a unit.

        Args:
            value: the difference.
            signed: write "+", too.
        """
        if not math.isfinite(value):
            return _not_finite(value)
        number = self._scaled(value)
        sign = "+" if signed else ""
        if self.decimals is None:
            return f"{number:{sign}.3g}"
        text = f"{number:{sign},.{self.decimals}f}"
        return text.lstrip("+-") if float(text.replace(",", "")) == 0 else text + self.letter

    def _scaled(self, value: float) -> float:
        return 100 * value if self.is_share else value / LARGE.get(self.letter, 1.0)

    def mean(self, value: float) -> str:
        """Write a mean of the metric: 80.4%, or 0.183."""
        return self.bare(value) + ("%" if self.is_share else "")

    def tick(self, value: float) -> str:
        """Write a mean on an axis, with no more digits than needed."""
        if self.is_share:
            return f"{100 * value:,.4g}%"
        return f"{self._scaled(value):,.5g}{self.letter if value else ''}"

    def gain_tick(self, value: float) -> str:
        """Write a difference on an axis: +2; 0."""
        number = self._scaled(value)
        return f"{number:+,.4g}{self.letter}" if abs(number) > 1e-12 else "0"

    def size(self, value: float) -> str:
        """Write how large a difference is: 7.2 points."""
        return self.bare(abs(value)) + self.unit

    def change(self, value: float) -> str:
        """Write a difference and a sign: -7.2 points."""
        return self.bare(value, signed=True) + self.unit

    def span(self, low: float, high: float, signed: bool = True) -> str:
        """Write an interval of differences, with signs: -11.3 to -3.1.

        Args:
            low: lower end.
            high: upper end.
            signed: write "+", too.
        """
        return f"{self._end(low, high, signed)} to {self._end(high, low, signed)}"

    def size_span(self, low: float, high: float) -> str:
        """Write an interval that leaves out 0 as sizes, smaller first: 3.1 to 11.3."""
        small, large = sorted((abs(low), abs(high)))
        return self.span(small, large, signed=False)

    def _end(self, value: float, opposite: float, signed: bool) -> str:
        """Write an end of an interval; where the interval leaves out 0, not as 0."""
        text = self.bare(value, signed)
        if self.decimals is None or not value * opposite > 0 or re.search("[1-9]", text):
            return text
        digits = range(self.decimals + 1, self.decimals + 1 + FINER)
        finer = [replace(self, decimals=n).bare(value, signed) for n in digits]
        return next((number for number in finer if re.search("[1-9]", number)), text)

    def suited(self, estimate: Estimate) -> Units:
        """Return units with fewer digits for a number known less well; points keep theirs."""
        error = estimate.standard_error / LARGE.get(self.letter, 1.0)
        if self.is_share or self.decimals is None or not (error > 0 and math.isfinite(error)):
            return self
        fitting = max(0, 1 - math.floor(math.log10(error)))
        return replace(self, decimals=min(self.decimals, fitting))


def units_of(gap: Gap) -> Units:
    """Return the units of a gap's metric, with digits from the gap's standard error."""
    is_share = gap.about.is_share
    factor = 100 if is_share else 1
    means = accumulate((part.value for part in gap.parts.values()), initial=gap.source.value)
    largest = factor * max(map(abs, (*means, gap.target.value)))
    return units_for(is_share, factor * gap.total.standard_error, largest)


def squared_error_units(gap: Gap) -> Units:
    """Return the units of recoverable error, with digits from the standard error."""
    budget = gap.recoverable
    error = budget.total.standard_error if budget else 0.0
    return units_for(False, error, budget.irreducible.value if budget else 1.0)


def units_for(is_share: bool, error: float, largest: float) -> Units:
    """Return units with the digits that a standard error supports.

    Args:
        is_share: whether the metric is a share of rows.
        error: the standard error.
        largest: the largest number to be written.
    """
    if not (error > 0 and math.isfinite(error)):
        error = (largest or 1.0) * (1e-2 if is_share else 1e-3)
    letter = next((name for name, size in LARGE.items() if 10 * size <= largest), "")
    magnitude = math.floor(math.log10(error / LARGE.get(letter, 1.0)))
    decimals = max(1, -magnitude) if is_share else max(0, 1 - magnitude)
    if decimals > 6 or largest >= 1e16:
        return Units(is_share, None)
    return Units(is_share, decimals, letter)


# -- numbers without units -------------------------------------------------------------------------


def percent(value: float, error: float = 1.0) -> str:
    """Write a share in percent: 68%; 0.42% where the standard error is that small.

    Args:
        value: the share.
        error: the standard error.
    """
    if not math.isfinite(value):
        return _not_finite(value)
    decimals = 0 if error >= 0.005 or error == 0 else 1 if error >= 0.0005 else 2
    if abs(value) >= 1e6:
        return f"{100 * value:.3g}%"
    text = f"{100 * value:,.{decimals}f}"
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text) + "%"


def percent_span(low: float, high: float, error: float = 1.0) -> str:
    """Write an interval of shares: 51% to 85%; "unbounded" where nothing is excluded.

    Args:
        low: lower end.
        high: upper end.
        error: the standard error.
    """
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    return f"{_percent_end(low, high, error)} to {_percent_end(high, low, error)}"


def _percent_end(value: float, opposite: float, error: float) -> str:
    """Write an end of an interval of shares; where the interval leaves out 0, not as 0%."""
    text = percent(value, error)
    if not value * opposite > 0 or re.search("[1-9]", text):
        return text
    finer = [percent(value, digits) for digits in (0.001, 0.0001)]  # one and two decimals
    return next((number for number in finer if re.search("[1-9]", number)), text)


def rows_share(share: float) -> str:
    """Write a share of rows: 38%; 0.4% of few."""
    return percent(share, 1.0 if share >= 0.01 or not share else 0.001)


def count(value: float) -> str:
    """Write a count: 34,519."""
    return f"{round(value):,}" if math.isfinite(value) else _not_finite(value)


def weight(value: float) -> str:
    """Write a weight: 3.1; 1,265."""
    return f"{value:,.3g}" if value < 100 else count(value)


def rounded_count(value: float) -> str:
    """Return a count rounded up to two significant digits: 12,000.

    Args:
        value: the count.
    """
    if value < 10:
        return f"{math.ceil(value)}"
    step = 10 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step) * step:,}"


def with_minus(text: str) -> str:
    """Replace hyphens before numbers by real minus signs, for pages and figures."""
    return re.sub(r"(?<![\w\u2212-])-(?=\d)", "\u2212", text)


def level_name(level: float) -> str:
    """Write a confidence level: 95%; 99.9%."""
    return f"{100 * level:.6g}%"


def _not_finite(value: float) -> str:
    return "undefined" if math.isnan(value) else "unbounded"


# -- names -----------------------------------------------------------------------------------------


def metric_name(analysis: About) -> str:
    """Return what people call the metric: mean squared error."""
    words = {metric.name: metric.words or metric.name for metric in METRICS}
    return analysis.metric_words or words.get(analysis.metric, analysis.metric)


def metric_unit(analysis: About) -> str:
    """Return " (in units of income)" for metrics in the outcome's units, or nothing."""
    if analysis.task != "regression" or analysis.metric not in IN_UNITS:
        return ""
    squared = "squared units" if analysis.metric == "mse" else "units"
    return f" (in {squared} of {analysis.outcome})"


def unit_words(analysis: About) -> str:
    """Return the unit of a change: points of accuracy; units of log loss."""
    return f"{'points' if analysis.is_share else 'units'} of {metric_name(analysis)}"


def domain_name(analysis: About, domain: str) -> str:
    """Return what sentences call a domain: the source; US-born citizens (source).

    Args:
        analysis: the facts of the gap.
        domain: "source" or "target".
    """
    name = analysis.source_name if domain == "source" else analysis.target_name
    return f"the {domain}" if name in ("", domain) else f"{name} ({domain})"


def in_domain(analysis: About, domain: str) -> str:
    """Return where rows are: in the source; for US-born citizens (source)."""
    words = domain_name(analysis, domain)
    return f"in {words}" if words == f"the {domain}" else f"for {words}"


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def joined(names: Sequence[str], at_most: int = 4) -> str:
    """Join names: a, b and c; of many the first: a, b and 7 more.

    Args:
        names: what to join.
        at_most: so many in all; the last counts what is left out.
    """
    items = list(names)
    if len(items) > at_most:
        items = [*items[: at_most - 1], f"{len(names) - at_most + 1} others"]
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
