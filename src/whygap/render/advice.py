"""What to do next, tied to what was found and to how surely it was found."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.estimate import Estimate
from whygap.render.answers import amount
from whygap.render.detail_sentences import can_be_settled, what_would_settle
from whygap.render.explanations import POOR, kept_share
from whygap.render.numbers import level_name, percent, percent_interval
from whygap.render.phrases import direction, joined
from whygap.render.reading import Reading, excludes_zero
from whygap.results import Budget, Recoverable

__all__ = ["suggestions"]

LARGE_BASE = 0.5  # share from which recalibrating comes first: it then does most of the work


def suggestions(reading: Reading) -> list[str]:
    """At most a handful of next steps, from the budgets where there are any."""
    found = reading.gap.recoverable
    repairs = _repairs(reading) if found is None else _from_budgets(reading, found)
    steps = [*repairs, *_unsettled(reading), *_overlap(reading)]
    return steps or [_nothing(reading)]


# -- from what can be won back ---------------------------------------------------------------------


def _from_budgets(reading: Reading, found: Recoverable) -> Iterator[str]:
    here = _is_gain(found.here.total, reading.level)
    mix = found.on_target_mix.total if found.on_target_mix else None
    if here:
        yield from _with_target_labels(reading, found.here)
    if mix is not None and _is_gain(mix, reading.level):
        yield (
            "Reweight the training rows to the target's mix, or retrain on more source rows like "
            f"it: that could win back {amount(reading, mix)} in squared error."
        )
    elif here and mix is not None:
        yield (
            "Do not count on reweighting the source rows: nothing that it could win back is "
            "distinguishable from 0."
        )
    elif not here:
        yield _nothing_to_win(reading)


def _with_target_labels(reading: Reading, here: Budget) -> Iterator[str]:
    scale = here.recalibration
    recalibrate = (
        scale is not None
        and _is_gain(scale, reading.level)
        and scale.value >= LARGE_BASE * here.total.value
    )
    if scale is not None and recalibrate:
        yield (
            "Recalibrate the model's score on outcomes from the target first: that alone could win "
            f"back {amount(reading, scale)} in squared error."
        )
    clear = here.variables.clear(reading.level) if here.variables else []
    first = [name for name in clear if here.variables and here.variables[name].value > 0]
    if first:
        yield (
            f"Revise the model on {joined(first)} with outcomes from the target "
            "(whygap revise measures the gain)."
        )
    elif not recalibrate:
        yield (
            "Refit the model on outcomes from the target: they could win back "
            f"{amount(reading, here.total)} in squared error, through no single variable clearly."
        )


def _nothing_to_win(reading: Reading) -> str:
    change = reading.gap.aggregate.gap.value
    if reading.clear and direction(reading.gap.about, change) == "worse":
        return (
            "The target's rows are simply harder: neither labels from there nor reweighting could "
            "clearly win anything back, so there is nothing to repair in the model."
        )
    return "Leave the model as it is: no change of it could clearly win anything back."


def _is_gain(estimate: Estimate, level: float) -> bool:
    return excludes_zero(estimate, level) and estimate.value > 0


# -- from the parts --------------------------------------------------------------------------------


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
    plainer = {"covariate": reading.gap.points, "outcome": reading.gap.where}
    for detail in reading.gap.details().values():
        if plainer[detail.part] is not None:
            continue
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
