"""Sentences on the shares of one part: what stands out, and what would settle the rest."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.domains import ByDomain
from whygap.estimate.student import normal_quantile
from whygap.render.phrases import joined
from whygap.render.reading import SHOWN, Reading, Standing
from whygap.render.units import level_name, percent, percent_interval, rounded_count
from whygap.results import Gap, Shares

MOST_TIMES = 1000  # the rows: more than anyone can collect


def detail_sentences(reading: Reading, name: str, *, listed: bool = True) -> list[str]:
    """Everything worth saying of one detailed part, most important first.

    Without `listed`, the largest shares are left out: a table beside the words shows them.
    """
    detail, level = reading.gap.shares[name], reading.level
    if not detail.defined and detail.denominator.standard_error == 0:
        return [detail.reason]  # whatever the data: nothing was measured
    if not detail.defined:
        settle = what_would_settle(reading.gap, detail, level)
        return [_undefined(reading, name), *filter(None, [detail.reason]), settle]
    return [
        *_cancelling(reading, name),
        *_base(detail, reading),
        *([_largest(detail, level)] if listed else []),
        *_standing(detail, reading.standings[name]),
        *_odd(detail),
    ]


def rows_needed(gap: Gap, detail: Shares, level: float) -> ByDomain[float] | None:
    """Rows that would tell the denominator from 0 if it is as large as estimated.

    The standard error shrinks as one over the root of the rows; the target is
    `value = (z + 0.84) * standard_error`, that is 80% power at this level.
    """
    size = detail.denominator
    if size.value <= 0 or size.standard_error <= 0:
        return None
    power = 0.8416  # the normal quantile of 80%: the chance that so many rows settle it
    needed = ((normal_quantile(level) + power) * size.standard_error / size.value) ** 2
    return gap.about.rows.map(lambda rows: rows * max(needed, 1.0))


def what_would_settle(gap: Gap, detail: Shares, level: float) -> str:
    """The sample size an undefined part asks for."""
    needed = rows_needed(gap, detail, level)
    whole = gap.parts[detail.part].excludes_zero(level)
    likely = "" if whole else ": most likely there is little to explain"
    if needed is None:
        return f"The estimated size is not above 0, so no number of rows can be named{likely}."
    times = needed.source / gap.about.rows.source
    often = f"{times:.1f}" if times < 10 else rounded_count(times)
    if times > MOST_TIMES:
        return f"The estimated size is so near 0 that no number of rows can be named{likely}."
    return (
        f"If the effect is as large as estimated, about {often} times the rows "
        f"({rounded_count(needed.source)} source and {rounded_count(needed.target)} target rows) "
        f"would settle it at the {level_name(level)} level."
    )


def _undefined(reading: Reading, name: str) -> str:
    """An undefined share is no denial of the shift: the part as a whole may well be clear."""
    if not reading.is_clear(name):
        return (
            f"The shares of the {name} part are undefined, and the part as a whole is not "
            "distinguishable from 0 either: there may be nothing to explain."
        )
    baseline = reading.gap.about.baseline
    across = "from row to row"
    if name == "covariate":
        across = (
            f"from stratum to stratum of {joined(baseline)}" if baseline else "precisely enough"
        )
    return (
        f"The {name} part as a whole is clear ({reading.units.change(reading.parts[name].value)}), "
        f"but these rows are too few to follow its effect {across}. That effect is what shares "
        "divide up, so they are undefined."
    )


def _cancelling(reading: Reading, name: str) -> Iterator[str]:
    if name in reading.parts and not reading.is_clear(name):
        yield (
            f"The {name} part as a whole is not distinguishable from 0, yet not 0 everywhere: it "
            "may raise the metric for some rows and lower it for others."
        )


def _base(detail: Shares, reading: Reading) -> Iterator[str]:
    """What v(empty) is: no recalibration of the model, which is among what can be won back."""
    if detail.part != "outcome" or detail.base is None:
        return
    share = percent(detail.base.value, detail.base.standard_error)
    level, baseline = reading.level, reading.gap.about.baseline
    within = f" within strata of {joined(baseline)}" if baseline else ""
    yield (
        f"Recalibrating the re-estimated source risk (not the model){within} would explain {share} "
        f"of it ({level_name(level)} interval {percent_interval(detail.base, level)})."
    )


def _largest(detail: Shares, level: float) -> str:
    ordered = sorted(detail.values.items(), key=lambda item: -item[1].value)[:SHOWN]
    listed = [
        f"{name} {percent(share.value, share.standard_error)} ({percent_interval(share, level)})"
        for name, share in ordered
    ]
    if len(detail.players) == 1:
        return f"There is one variable: {listed[0]}, {level_name(level)} interval in brackets."
    which = "The shares" if len(detail.players) <= SHOWN else "The largest shares"
    return f"{which}, {level_name(level)} intervals in brackets: {joined(listed, SHOWN)}."


def _standing(detail: Shares, standing: Standing) -> Iterator[str]:
    players, top = len(detail.players), standing.top
    if players == 1 or not top:
        return
    if standing.alone:
        yield f"'{top[0]}' stands out: its share is larger than every other one."
    elif len(top) <= SHOWN and len(top) < players:
        yield f"{joined(top)} lead; which of them is largest is open."
    else:
        which = "any of them" if len(top) == players else f"{len(top)} of {players}"
        yield f"No single variable stands out: {which} may have the largest share."


def _odd(detail: Shares) -> Iterator[str]:
    base = {} if detail.base is None else {"source risk, recalibrated": detail.base}
    shares = {**detail.values, **base}
    # From half a percent on it is shown as -1% or 101%, so worth a word.
    outside = {n: s for n, s in shares.items() if not -0.005 <= s.value <= 1.005}
    if not outside:
        return
    listed = [f"{name} {percent(s.value, s.standard_error)}" for name, s in outside.items()]
    cause = (
        "noise, or a variable whose shift works against the others"
        if detail.part == "covariate"
        else "noise around a small or a large share"
    )
    yield f"Shares outside 0% to 100% ({joined(listed)}) are shown as estimated: {cause}."
