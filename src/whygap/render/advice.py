"""What to do next, tied to what was found and to how surely it was found."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.estimate import Estimate
from whygap.render.answers import amount
from whygap.render.phrases import direction, joined, level_name
from whygap.render.reading import Reading, excludes_zero
from whygap.results import Budget, Recoverable
from whygap.results.overlap import LIMITS

LARGE_BASE = 0.5  # of the budget, from which recalibrating comes first: it does most of the work


def suggestions(reading: Reading) -> list[str]:
    """At most a handful of next steps, from the budgets where there are any."""
    found = reading.gap.recoverable
    if not reading.gap.aggregate.comparable:
        labels = _with_target_labels(reading, found.here) if found else ()
        return ["First see to what sets the two tables apart, then compare them again.", *labels]
    repairs = _from_parts(reading) if found is None else _from_budgets(reading, found)
    steps = [*repairs, *_unsettled(reading), *_overlap(reading)]
    return steps or [_nothing(reading)]


# -- from what can be won back ---------------------------------------------------------------------


def _from_budgets(reading: Reading, found: Recoverable) -> Iterator[str]:
    if not _is_gain(found.here.total, reading.level):
        yield _nothing_to_win(reading)
        return
    yield from _with_target_labels(reading, found.here)
    if found.on_target_mix is None:
        return
    mix = found.on_target_mix.total
    doubt = _against_reweighting(reading, mix, found.here.total)
    if doubt:
        yield f"Do not count on reweighting the source rows: {doubt}."
    else:
        yield (
            "Reweight the training rows to the target's mix, or retrain on more source rows like "
            f"it: that could win back {amount(reading, mix)} in squared error."
        )


def _against_reweighting(reading: Reading, mix: Estimate, here: Estimate) -> str:
    """Why not to rely on reweighting: its gain holds only if outcomes stayed the source's."""
    if not _is_gain(mix, reading.level):
        return "nothing that it could win back is distinguishable from 0"
    if reading.is_clear("outcome"):
        return "outcomes differ for rows alike in every variable, and it cannot show how"
    if mix.value > here.value:
        return "it promises more than labels from the target could win back, which cannot be"
    return ""


def _with_target_labels(reading: Reading, here: Budget) -> Iterator[str]:
    if not _is_gain(here.total, reading.level):
        return
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


def _from_parts(reading: Reading) -> Iterator[str]:
    harmful = [
        name
        for name, part in reading.parts.items()
        if reading.is_clear(name) and direction(reading.gap.about, part.value) != "better"
    ]
    if "outcome" in harmful:
        yield (
            "The outcome itself behaves differently in the target: refit or recalibrate with "
            "outcomes from there; reweighting the old rows cannot help."
        )
    elif "baseline" in harmful or "covariate" in harmful:
        columns = list(reading.gap.about.baseline) if "baseline" in harmful else []
        columns += ["the covariates"] if "covariate" in harmful else []
        yield (
            f"The target has another mix of {joined(columns, 6)}: reweight the training rows to "
            "that mix, or collect more rows like the target's."
        )
    if "new_ground" in harmful:
        yield (
            "Collect labels for target rows that have no counterpart in the source: the model has "
            "seen nothing like them."
        )


def _unsettled(reading: Reading) -> Iterator[str]:
    if not reading.clear:
        change = reading.gap.aggregate.gap
        low, high = change.interval(reading.level)
        yield (
            f"To tell the change from 0, collect more rows: it is known to within "
            f"{reading.units.size((high - low) / 2)} ({level_name(reading.level)} interval)."
        )


def _overlap(reading: Reading) -> Iterator[str]:
    for ratio in reading.gap.diagnostics.ratios:
        if ratio.rows and ratio.kept_share < LIMITS.poor:
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
