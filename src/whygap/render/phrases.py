"""What sentences are made of: names, lists, causes, warnings."""

from __future__ import annotations

from collections.abc import Sequence

from whygap._metrics import METRICS
from whygap.render.units import count, percent, weight
from whygap.results import About, Gap, RatioRecord

METRIC_NAMES = {metric.name: metric.words or metric.name for metric in METRICS}
IN_UNITS = ("mae", "mse", "rmse", "bias", "pinball")  # metrics that have the outcome's units


# -- names and lists -------------------------------------------------------------------------------


def metric_name(about: About) -> str:
    """The metric as people say it."""
    return about.metric_words or METRIC_NAMES.get(about.metric, about.metric)


def metric_unit(about: About) -> str:
    """Of metrics in the outcome's own units, which those are."""
    squared = "squared units" if about.metric == "mse" else "units"
    own = about.task == "regression" and about.metric in IN_UNITS
    return f" (in {squared} of {about.outcome})" if own else ""


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
    words = named(about, domain)
    return f"in {words}" if words == f"the {domain}" else f"for {words}"


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
    if name == "covariate" and not gap.outcome_first:
        return "a different mix of the covariates" if gap.about.baseline else "a different mix"
    return part_words(gap, name)


def part_words(gap: Gap, name: str) -> str:
    """Return where a part comes from, in words that follow "comes from"."""
    meaning = gap.parts[name].meaning
    return meaning[:1].lower() + meaning[1:].removesuffix(".")


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
    "The file this was printed from has more: a chart of every variable, the shares, what the "
    "numbers mean, all numbers, and how they were computed."
)


def banner(gap: Gap) -> list[str]:
    """Problems beside the one that leads where the tables cannot be compared."""
    return [text for text in gap.problems() if text != gap.reason]


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
