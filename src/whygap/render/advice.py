"""What to do next, tied to what was found and to how surely it was found."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.render.detail_sentences import can_be_settled, what_would_settle
from whygap.render.explanations import POOR, kept_share
from whygap.render.numbers import level_name, percent, percent_interval
from whygap.render.phrases import direction, joined
from whygap.render.reading import Reading

__all__ = ["suggestions"]

LARGE_BASE = 0.5  # share from which recalibrating comes first: it then explains most of the shift


def suggestions(reading: Reading) -> list[str]:
    """At most a handful of next steps."""
    steps = [*_repairs(reading), *_unsettled(reading), *_overlap(reading)]
    return steps or [_nothing(reading)]


def _repairs(reading: Reading) -> Iterator[str]:
    harmful = [
        name
        for name, part in reading.parts.items()
        if reading.is_clear(name) and direction(reading.gap.about, part.value) != "better"
    ]
    for name in harmful:
        if name == "outcome":
            yield from _outcome(reading)
        elif name == next(part for part in harmful if part != "outcome"):
            yield _mix(reading, harmful)


def _mix(reading: Reading, harmful: list[str]) -> str:
    """One step for both kinds of mix, for both ask for the same."""
    columns = list(reading.gap.about.baseline) if "baseline" in harmful else []
    if "covariate" in harmful:
        columns += reading.leaders("covariate") or ["the covariates"]
    return (
        f"The target has another mix of {joined(columns, 6)}: reweight the training rows to that "
        "mix, or collect more rows like the target's."
    )


def _outcome(reading: Reading) -> Iterator[str]:
    detail = reading.gap.outcome
    base = detail.base if detail is not None and detail.defined else None
    first = reading.leaders("outcome")
    recalibrate = (
        base is not None and base.value >= LARGE_BASE and base.interval(reading.level)[0] > 0
    )
    if base is not None and recalibrate:
        share = percent(base.value, base.standard_error)
        yield (
            "Recalibrate the model on outcomes from the target first: that alone would explain "
            f"{share} of how the outcome shifted ({level_name(reading.level)} interval "
            f"{percent_interval(base, reading.level)})."
        )
    if first:
        yield (
            f"Revise the model on {joined(first)} with outcomes from the target "
            "(whygap revise measures the gain)."
        )
    elif not recalibrate:
        yield (
            "The outcome itself behaves differently in the target: refit or recalibrate with "
            "outcomes from there; reweighting the old rows cannot help."
        )


def _unsettled(reading: Reading) -> Iterator[str]:
    for detail in reading.gap.details().values():
        if not detail.defined and reading.is_clear(detail.part):
            if can_be_settled(reading.gap, detail, reading.level):
                settle = what_would_settle(reading.gap, detail, reading.level)
                rest = settle[:1].lower() + settle[1:]
                yield f"To see which variables drive the {detail.part} part: {rest}"
            else:
                yield (
                    f"To see which variables drive the {detail.part} part, more rows are needed; "
                    "these are too few to say how many."
                )
    if not reading.clear:
        change = reading.gap.aggregate.gap
        low, high = change.interval(reading.level)
        yield (
            f"To tell the change from 0, collect more rows: it is known to within "
            f"{reading.units.size((high - low) / 2)} ({level_name(reading.level)} interval)."
        )


def _overlap(reading: Reading) -> Iterator[str]:
    for ratio in reading.gap.diagnostics.ratios:
        if ratio.rows and kept_share(ratio) < POOR:
            common = reading.gap.about.settings.get("support") == "common"
            remedy = "Try" if common else "Try support='common', or"
            yield (
                f"Source and target hardly overlap in {ratio.columns}: {ratio.rows:,} source rows "
                f"count as {ratio.effective_size:,.0f}. {remedy} fewer variables."
            )
            return


def _nothing(reading: Reading) -> str:
    judged = direction(reading.gap.about, reading.gap.aggregate.gap.value)
    if judged == "better":
        return "The model does better in the target: there is nothing to repair."
    return "No part is clear enough to act on: collect more rows before changing the model."
