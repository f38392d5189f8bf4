"""The words that sentences are made of: names of metrics, domains, parts and lists."""

from __future__ import annotations

from collections.abc import Sequence

from whygap.render.numbers import count, percent, weight
from whygap.results import About, Gap, RatioRecord

METRIC_NAMES = {
    "accuracy": "accuracy",
    "zero_one": "error rate",
    "brier": "Brier score",
    "log_loss": "log loss",
}
PART_TITLES = {
    "left_behind": "Left behind",
    "baseline": "Baseline",
    "covariate": "Covariates",
    "outcome": "Outcome",
    "new_ground": "New ground",
}
GOOD, POOR = 0.5, 0.1  # of the source rows that effectively remain: good from, poor below


def metric_name(about: About) -> str:
    """The metric as people say it."""
    return METRIC_NAMES.get(about.metric, about.metric)


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
    if name == "outcome":
        return f"a different '{gap.about.outcome}' for rows alike in every variable"
    if name == "covariate":
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
    if name == "covariate":
        mix = f"a different mix of {joined(list(about.players)) or 'the variables'}"
        return f"{mix} among rows alike in {joined(about.baseline)}" if about.baseline else mix
    return f"a different outcome: '{about.outcome}' differs for rows alike in every variable"


# -- how well the two tables overlap ---------------------------------------------------------------


def kept_share(ratio: RatioRecord) -> float:
    """Source rows that effectively remain when weighted like the target."""
    return ratio.effective_size / ratio.rows if ratio.rows else 0.0


def overlap_verdict(ratio: RatioRecord) -> str:
    """Good, fair or poor."""
    kept = kept_share(ratio)
    return "good" if kept >= GOOD else "fair" if kept >= POOR else "poor"


def overlap_sentence(ratio: RatioRecord) -> str:
    """One density ratio in words."""
    kept = kept_share(ratio)
    text = (
        f"To look like the target in {ratio.columns}, source rows are weighted: "
        f"{count(ratio.rows)} rows then count as {count(ratio.effective_size)} "
        f"({percent(kept, 1.0 if kept >= 0.02 or not kept else 0.001)}). "
        f"The heaviest row counts {weight(ratio.largest_weight)} times. "
    )
    if ratio.clipped_share > 0:
        text += f"{percent(ratio.clipped_share, 0.001)} of the weights were cut off. "
    return text + (
        f"A classifier tells the two domains apart with an AUC of {ratio.domain_auc:.2f} "
        "(0.5: not at all; 1: always)."
    )
