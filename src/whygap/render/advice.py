"""What to do next, tied to what was found and to how surely it was found."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.estimate import Estimate
from whygap.render.answers import part_of_error
from whygap.render.phrases import direction, joined
from whygap.render.reading import Reading
from whygap.render.units import level_name
from whygap.results import Budget, RatioRecord, Recoverable
from whygap.results.overlap import LIMITS

LARGE_BASE = 0.5  # of the budget, from which recalibrating comes first: it does most of the work

LITTLE = 0.1  # of the squared error: a tenth less error is about 5% less in the outcome's units
PROBLEM_FIRST = (
    "First see to what is named as a problem, then ask again: as they stand, the numbers are no "
    "ground to change the model."
)


def suggestions(reading: Reading) -> list[str]:
    """Return at most a handful of next steps: from the budgets, else from the parts."""
    gap = reading.gap
    if not gap.comparable:
        labels = _with_target_labels(reading, gap.recoverable) if gap.recoverable else ()
        return ["First see to what sets the two tables apart, then compare them again.", *labels]
    if gap.problems():
        return [PROBLEM_FIRST]
    if gap.recoverable is not None:
        repairs = _from_budgets(reading, gap.recoverable)
    else:
        repairs = _from_parts(reading)
    steps = [*repairs, *_unsettled(reading), *_overlap(reading)]
    return steps or [_nothing(reading)]


# -- from what can be won back ---------------------------------------------------------------------


def _from_budgets(reading: Reading, found: Recoverable) -> Iterator[str]:
    mix = found.reweighted.total if found.reweighted else None
    if _is_gain(found.total, reading.level):
        yield from _with_target_labels(reading, found)
    else:
        yield _nothing_to_win(reading, found)
        if mix is None or not _is_gain(mix, reading.level):
            return
    if mix is None:
        return
    doubt = _against_reweighting(reading, mix, found.total)
    if doubt:
        yield f"Do not count on reweighting the source rows: {doubt}."
    else:
        yield (
            "Reweight the training rows to the target's mix, or retrain on more source rows like "
            f"it: that could win back {part_of_error(reading, mix)}."
        )


def _against_reweighting(reading: Reading, mix: Estimate, here: Estimate) -> str:
    """Why not to rely on reweighting: its gain holds only if outcomes stayed the source's."""
    if not _is_gain(mix, reading.level):
        return "nothing that it could win back is distinguishable from 0"
    if reading.is_clear("outcome"):
        return "outcomes differ for rows alike in every variable, and it cannot show how"
    if mix.value > here.value:
        return "it promises more than labels from the target could win back, which cannot be"
    if _thin(reading):
        return "too few source rows are like the target's"
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
            f"back {part_of_error(reading, scale)}."
        )
    clear = here.variables.significant(reading.level) if here.variables else []
    first = [name for name in clear if here.variables and here.variables[name].value > 0]
    if first:
        yield f"Revise the model on {joined(first)} with outcomes from the target."
    elif not recalibrate:
        yield (
            "Refit the model on outcomes from the target: they could win back "
            f"{part_of_error(reading, here.total)}, through no single variable clearly."
        )


def _nothing_to_win(reading: Reading, here: Budget) -> str:
    change = reading.gap.total.value
    if here.total.interval(reading.level)[1] > LITTLE * (here.total.value + here.irreducible.value):
        return (
            "Collect more labelled rows of the target before changing the model: what labels could "
            f"win back, {part_of_error(reading, here.total)}, is not known well enough."
        )
    if not reading.clear or direction(reading.gap.about, change) != "worse":
        return "Leave the model as it is: labels from the target could not clearly improve it."
    if "outcome" in _harmful(reading):
        return (
            "Outcomes differ for rows alike in every variable, yet labels from the target could "
            "not clearly win anything back through these variables: leave the model as it is, and "
            "look for a variable that tells such rows apart."
        )
    return (
        "The target's rows are simply harder: labels from there could not clearly win anything "
        "back, so there is nothing to repair in the model."
    )


def _harmful(reading: Reading) -> list[str]:
    """Clear parts that make the model worse, or whose direction is not known."""
    about, parts = reading.gap.about, reading.parts
    clear = [name for name in parts if reading.is_clear(name)]
    return [name for name in clear if direction(about, parts[name].value) != "better"]


def _is_gain(estimate: Estimate, level: float) -> bool:
    return estimate.excludes_zero(level) and estimate.value > 0


# -- from the parts --------------------------------------------------------------------------------


def _from_parts(reading: Reading) -> Iterator[str]:
    """Without budgets: where to look, not what to change."""
    harmful = _harmful(reading)
    asked = "detail='recoverable' says what could be won back, and how"
    if "outcome" in harmful:
        yield (
            "The outcome itself behaves differently in the target: only outcomes from there can "
            f"repair that, reweighting the old rows cannot; {asked}."
        )
    elif "baseline" in harmful or "covariate" in harmful:
        columns = list(reading.gap.about.baseline) if "baseline" in harmful else []
        columns += ["the covariates"] if "covariate" in harmful else []
        yield (
            f"The target has another mix of {joined(columns, 6)}, on which the model does worse. "
            f"Rows may simply be harder there: {asked}."
        )
    if "target_only" in harmful:
        yield (
            "Collect labels for target rows that have no counterpart in the source: the model has "
            "seen nothing like them."
        )


def _unsettled(reading: Reading) -> Iterator[str]:
    change = reading.gap.total
    if not reading.clear and change.standard_error:
        low, high = change.interval(reading.level)
        yield (
            f"To tell the change from 0, collect more rows: it is known to within "
            f"{reading.units.size((high - low) / 2)} ({level_name(reading.level)} interval)."
        )


def _thin(reading: Reading) -> RatioRecord | None:
    """The first columns on which next to nothing of the source can stand in for the target."""
    ratios = reading.gap.diagnostics.ratios
    return next((one for one in ratios if one.rows and one.kept_share < LIMITS.poor), None)


def _overlap(reading: Reading) -> Iterator[str]:
    thin = _thin(reading)
    if thin is not None:
        asked = reading.gap.about.settings.get("support") == "common"
        common = asked or reading.gap.has_region
        remedy = "Try" if common else "Try support='common', or"
        yield (
            f"Source and target hardly overlap in {thin.columns}: {thin.rows:,} source rows "
            f"count as {thin.effective_size:,.0f}. {remedy} fewer variables."
        )


def _nothing(reading: Reading) -> str:
    judged = direction(reading.gap.about, reading.gap.total.value)
    if judged == "better":
        return "The model does better in the target: there is nothing to repair."
    return (
        "Nothing that costs the model is clear enough to act on: collect more rows before changing "
        "it."
    )
