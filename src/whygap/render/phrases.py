"""What sentences are made of: numbers with as many digits as they deserve, names, lists."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from whygap._metrics import METRICS
from whygap.estimate import Estimate
from whygap.results import About, Gap, RatioRecord

METRIC_NAMES = {metric.name: metric.words or metric.name for metric in METRICS}
LARGE = {"T": 1e12, "B": 1e9, "M": 1e6}  # trillions, billions, millions
PART_TITLES = {
    "left_behind": "Left behind",
    "baseline": "Baseline",
    "covariate": "Covariates",
    "outcome": "Outcome",
    "new_ground": "New ground",
}


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
        """A difference with five digits, for those who point at it: -7.2034 points."""
        if not math.isfinite(value):
            return _not_finite(value)
        return f"{100 * value if self.is_share else value:+,.5g}{self.unit}"

    def size(self, value: float) -> str:
        """How large a difference is: 7.2 points."""
        return self.bare(abs(value)) + self.unit

    def change(self, value: float) -> str:
        """A difference with its sign: -7.2 points."""
        return self.bare(value, signed=True) + self.unit

    def span(self, low: float, high: float) -> str:
        """An interval of differences, with signs: -11.3 to -3.1."""
        return f"{self.bare(low, signed=True)} to {self.bare(high, signed=True)}"

    def size_span(self, low: float, high: float) -> str:
        """An interval of one sign as sizes, smaller first: 3.1 to 11.3."""
        small, large = sorted((abs(low), abs(high)))
        return f"{self.bare(small)} to {self.bare(large)}"


def units_of(gap: Gap) -> Units:
    """Digits from the standard error of the gap."""
    aggregate, is_share = gap.aggregate, gap.about.is_share
    factor = 100 if is_share else 1
    error = factor * aggregate.gap.standard_error
    largest = factor * max(abs(corner.value) for corner in aggregate.corners())
    return units_for(is_share, error, largest)


def squared_error_units(gap: Gap) -> Units:
    """Digits from the standard error of what can be won back in the target."""
    found = gap.recoverable
    error = found.here.total.standard_error if found else 0.0
    return units_for(False, error, found.here.irreducible.value if found else 1.0)


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
    return f"{percent(low, error)} to {percent(high, error)}"


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


# -- names and lists -------------------------------------------------------------------------------


def metric_name(about: About) -> str:
    """The metric as people say it."""
    return about.metric_words or METRIC_NAMES.get(about.metric, about.metric)


def unit_words(about: About) -> str:
    """The unit of a change: points of accuracy; units of log loss."""
    return f"{'points' if about.is_share else 'units'} of {metric_name(about)}"


def capital(text: str) -> str:
    """First letter large, the rest as it is."""
    return text[:1].upper() + text[1:]


def joined(names: Sequence[str], at_most: int = 4) -> str:
    """a, b and c; past `at_most`: a, b and 7 others."""
    shown = list(names)
    if len(shown) > at_most:
        shown = [*shown[: at_most - 1], f"{len(names) - at_most + 1} others"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def in_domain(about: About, domain: str) -> str:
    """In the source; or: for US-born citizens (source)."""
    name = about.source_name if domain == "source" else about.target_name
    if name in ("", domain):
        return f"in the {domain}"
    return f"for {name} ({domain})"


def named(about: About, domain: str) -> str:
    """The source; or: US-born citizens (source)."""
    name = about.source_name if domain == "source" else about.target_name
    return f"the {domain}" if name in ("", domain) else f"{name} ({domain})"


def noun(value: float) -> str:
    """What a change of this sign is called."""
    return "drop" if value < 0 else "rise"


def direction(about: About, change: float) -> str:
    """better, worse, or empty where the metric's direction is not known."""
    if about.higher_is_better is None or change == 0:
        return ""
    return "better" if (change > 0) == about.higher_is_better else "worse"


def cause(gap: Gap, name: str) -> str:
    """Where a part comes from, in a few words that follow "comes from"."""
    if name == "covariate" and not gap.aggregate.outcome_first:
        return "a different mix of the covariates" if gap.about.baseline else "a different mix"
    return part_words(gap, name)


def part_words(gap: Gap, name: str) -> str:
    """Where a part comes from, in words that follow "comes from"."""
    about = gap.about
    if name == "left_behind":
        return "source rows that have no counterpart in the target"
    if name == "new_ground":
        return "target rows that have no counterpart in the source"
    if name == "baseline":
        return f"a different mix of {joined(about.baseline) or 'the baseline variables'}"
    alike = f" among rows alike in {joined(about.baseline)}" if about.baseline else ""
    if name == "covariate":
        mix = f"a different mix of {joined(list(about.players)) or 'the variables'}"
        if gap.aggregate.outcome_first:
            return f"{mix} among rows alike in {joined([*about.baseline, about.outcome])}"
        return f"{mix}{alike}"
    if gap.aggregate.outcome_first:
        return f"a different mix of '{about.outcome}'{alike}"
    return f"a different '{about.outcome}' for rows alike in every variable"


# -- what must not be overlooked -------------------------------------------------------------------


def predictions_sentences(gap: Gap) -> list[str]:
    """How the predictions do in both tables, in one sentence where it was looked at."""
    told = [
        f"{one.name} {one.text(one.value.source)} and {one.text(one.value.target)}"
        for one in gap.diagnostics.prediction
    ]
    return [f"The predictions, in source and target: {', '.join(told)}."] if told else []


BANNER = "Do not rely on these numbers as they stand:"


LEFT_OUT = (
    "Left out in print, and in the file this page was printed from: the chart of every variable, "
    "the shares, what the numbers mean, all numbers, and how they were computed."
)


def banner(gap: Gap) -> list[str]:
    """Problems beside the one that leads where the tables cannot be compared."""
    return [text for text in gap.problems() if text != gap.aggregate.reason]


# -- how well the two tables overlap ---------------------------------------------------------------


def overlap_sentence(ratio: RatioRecord) -> str:
    """One density ratio in words."""
    kept = ratio.kept_share
    text = (
        f"To look like the target in {ratio.columns}, source rows are weighted: "
        f"{count(ratio.rows)} rows then count as {count(ratio.effective_size)} "
        f"({percent(kept, 1.0 if kept >= 0.02 or not kept else 0.001)}). "
        f"The heaviest row counts {weight(ratio.largest_weight)} times; they average "
        f"{ratio.mean_weight:.2f} (it should be 1). "
    )
    if ratio.clipped_share > 0:
        text += f"{percent(ratio.clipped_share, 0.001)} of the weights were cut off. "
    if ratio.without_counterpart >= 0.005:  # what is not written as 0%
        text += f"{ratio.without_counterpart:.0%} of the target rows have no counterpart. "
    return text + (
        f"A classifier tells the two domains apart with an AUC of {ratio.domain_auc:.2f} "
        "(0.5: not at all; 1: always)."
    )
