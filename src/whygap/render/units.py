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
        """Write a difference without its unit."""
        if not math.isfinite(value):
            return _not_finite(value)
        shown, sign = self._scaled(value), "+" if signed else ""
        if self.decimals is None:
            return f"{shown:{sign}.3g}"
        text = f"{shown:{sign},.{self.decimals}f}"
        return text.lstrip("+-") if float(text.replace(",", "")) == 0 else text + self.letter

    def _scaled(self, value: float) -> float:
        return 100 * value if self.is_share else value / LARGE.get(self.letter, 1.0)

    def mean(self, value: float) -> str:
        """Write a mean of the metric: 80.4%, or 0.183."""
        return self.bare(value) + ("%" if self.is_share else "")

    def tick(self, value: float) -> str:
        """Write a mean on an axis, with no more digits than it needs."""
        if self.is_share:
            return f"{100 * value:,.4g}%"
        return f"{self._scaled(value):,.5g}{self.letter if value else ''}"

    def gain_tick(self, value: float) -> str:
        """Write a difference on an axis: +2; 0."""
        shown = self._scaled(value)
        return f"{shown:+,.4g}{self.letter}" if abs(shown) > 1e-12 else "0"

    def exact(self, value: float) -> str:
        """Write a difference with five digits and no unit, for tooltips: -7.2034."""
        if not math.isfinite(value):
            return _not_finite(value)
        return f"{100 * value if self.is_share else value:+,.5g}"

    def size(self, value: float) -> str:
        """Write how large a difference is: 7.2 points."""
        return self.bare(abs(value)) + self.unit

    def change(self, value: float) -> str:
        """Write a difference with its sign: -7.2 points."""
        return self.bare(value, signed=True) + self.unit

    def span(self, low: float, high: float, signed: bool = True) -> str:
        """Write an interval of differences, with signs: -11.3 to -3.1."""
        return f"{self._end(low, high, signed)} to {self._end(high, low, signed)}"

    def size_span(self, low: float, high: float) -> str:
        """Write an interval of one sign as sizes, smaller first: 3.1 to 11.3."""
        small, large = sorted((abs(low), abs(high)))
        return self.span(small, large, signed=False)

    def _end(self, value: float, other: float, signed: bool) -> str:
        """An end of an interval; where that leaves out 0, not written as 0."""
        text = self.bare(value, signed)
        if self.decimals is None or not value * other > 0 or re.search("[1-9]", text):
            return text
        more = range(self.decimals + 1, self.decimals + 1 + FINER)
        finer = [replace(self, decimals=digits).bare(value, signed) for digits in more]
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
    """Return the units of recoverable error, with digits from its standard error."""
    budget = gap.recoverable
    error = budget.total.standard_error if budget else 0.0
    return units_for(False, error, budget.irreducible.value if budget else 1.0)


def units_for(is_share: bool, error: float, largest: float) -> Units:
    """Return units with the digits that a standard error supports."""
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
    """Write a share in percent: 68%; 0.42% where the standard error is that small."""
    if not math.isfinite(value):
        return _not_finite(value)
    decimals = 0 if error >= 0.005 or error == 0 else 1 if error >= 0.0005 else 2
    if abs(value) >= 1e6:
        return f"{100 * value:.3g}%"
    text = f"{100 * value:,.{decimals}f}"
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text) + "%"


def percent_span(low: float, high: float, error: float = 1.0) -> str:
    """Write an interval of shares: 51% to 85%; "unbounded" where nothing is excluded."""
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    return f"{_percent_end(low, high, error)} to {_percent_end(high, low, error)}"


def _percent_end(value: float, other: float, error: float) -> str:
    """An end of an interval of shares; where that leaves out 0, not written as 0%."""
    text = percent(value, error)
    if not value * other > 0 or re.search("[1-9]", text):
        return text
    finer = [percent(value, digits) for digits in (0.001, 0.0001)]  # one and two decimals
    return next((number for number in finer if re.search("[1-9]", number)), text)


def rows_share(share: float) -> str:
    """Write a share of rows: 38%; 0.4% of few."""
    return percent(share, 1.0 if share >= 0.01 or not share else 0.001)


def p_value(p: float) -> str:
    """Write a p-value: 0.032; "< 0.001" below that."""
    if not math.isfinite(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def count(value: float) -> str:
    """Write a count: 34,519."""
    return f"{round(value):,}" if math.isfinite(value) else _not_finite(value)


def weight(value: float) -> str:
    """Write a weight: 3.1; 1,265."""
    return f"{value:,.3g}" if value < 100 else count(value)


def rounded_count(value: float) -> str:
    """Write a count rounded up to two significant digits: 13,000."""
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


def metric_name(about: About) -> str:
    """Return the metric as people call it: mean squared error."""
    words = {metric.name: metric.words or metric.name for metric in METRICS}
    return about.metric_words or words.get(about.metric, about.metric)


def metric_unit(about: About) -> str:
    """Return " (in units of income)" for metrics in the outcome's own units, else nothing."""
    squared = "squared units" if about.metric == "mse" else "units"
    own = about.task == "regression" and about.metric in IN_UNITS
    return f" (in {squared} of {about.outcome})" if own else ""


def unit_words(about: About) -> str:
    """Return the unit of a change: points of accuracy; units of log loss."""
    return f"{'points' if about.is_share else 'units'} of {metric_name(about)}"


def domain_name(about: About, domain: str) -> str:
    """Return what sentences call a domain: the source; US-born citizens (source)."""
    name = about.source_name if domain == "source" else about.target_name
    return f"the {domain}" if name in ("", domain) else f"{name} ({domain})"


def in_domain(about: About, domain: str) -> str:
    """Return where rows are: in the source; for US-born citizens (source)."""
    words = domain_name(about, domain)
    return f"in {words}" if words == f"the {domain}" else f"for {words}"


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def joined(names: Sequence[str], at_most: int = 4) -> str:
    """Join names: a, b and c; past `at_most`: a, b and 7 others."""
    shown = list(names)
    if len(shown) > at_most:
        shown = [*shown[: at_most - 1], f"{len(names) - at_most + 1} others"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
