"""Sentences on the three plain questions: how many points, who is hit, what can be won back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from whygap.estimate import Estimate
from whygap.render.phrases import direction, in_domain, joined, metric_name
from whygap.render.reading import FEW, MOST_ROWS, SHOWN, TIE, Hit, Reading
from whygap.render.units import level_name, rows_share, squared_error_units
from whygap.results import Budget, Points, Recoverable

# -- how many points -------------------------------------------------------------------------------


def points_sentences(reading: Reading, part: str) -> list[str]:
    """The clear variables of a part, near ties, and the rest together."""
    joint = reading.gap.points.get(part)
    if not joint:
        return []
    named = reading.clear_points(part)[:SHOWN]
    return [
        *(
            [f"Of these, {_costs(reading, {name: joint[name] for name in named})}."]
            if named
            else []
        ),
        *_near_ties(reading, joint, named),
        *_rest(reading, joint, named, reading.parts[part]),
    ]


def _costs(reading: Reading, variables: Mapping[str, Estimate]) -> str:
    """Such as: schooling costs 1.0 points (0.4 to 1.6) and age brings 1.1 (0.6 to 1.6)."""
    said: list[str] = []
    for name, estimate in variables.items():
        units = reading.units.suited(estimate)
        size = units.size(estimate.value) if not said else units.bare(abs(estimate.value))
        span = units.size_span(*estimate.interval(reading.level))
        said.append(f"{name} {_verb(reading, estimate.value)} {size} ({span})")
    return joined(said)


def _verb(reading: Reading, value: float) -> str:
    if reading.gap.about.higher_is_better:
        return "costs" if value < 0 else "brings"
    return "takes off" if value < 0 else "adds"


def _near_ties(reading: Reading, joint: Points, named: Sequence[str]) -> Iterator[str]:
    """Clear variables that may be the largest of those that pull the same way as the first."""
    if not named:
        return
    may_be = joint.first(reading.level, lowest=joint[named[0]].value < 0)
    alike = [name for name in named[1:] if joint[name].value * joint[named[0]].value > 0]
    ties = [name for name in alike if name in may_be]
    if ties:
        yield f"{joined([named[0], *ties])} are near ties: which is largest is open."


def _rest(reading: Reading, joint: Points, named: Sequence[str], part: Estimate) -> Iterator[str]:
    """The others together; where none is named they are the part, and have its interval."""
    others = [name for name in joint.largest_first() if name not in named]
    units, level = reading.units, reading.level
    if not others:
        return
    pooled = together(joint, others) if named else part
    size = f"{units.change(pooled.value)} ({units.span(*pooled.interval(level))})"
    if len(others) == 1:
        who = "The other one" if named else "Its one variable"
        doubt = "" if pooled.excludes_zero(level) else ", not distinguishable from 0"
        yield f"{who}, {others[0]}: {size}{doubt}."
        return
    clear = sum(joint[name].excludes_zero(level) for name in others)
    alone = f"{clear} of them are clear" if clear else "none is distinguishable from 0 on its own"
    who = f"The other {len(others)}" if named else f"Its {len(others)}"
    yield f"{who} variables together: {size}; {alone}."


def together(joint: Points, names: Sequence[str]) -> Estimate:
    """Some variables added up."""
    return joint.combined(dict.fromkeys(names, 1.0))


# -- who is hit ------------------------------------------------------------------------------------


def where_sentences(reading: Reading) -> list[str]:
    """The groups and rules that stand out; or that none does."""
    where = reading.gap.affected.get("outcome")
    if where is None:
        return []
    hits = reading.clear_hits()[: SHOWN - 1]
    found = [_hit_sentence(reading, hit) for hit in hits]
    if hits and not hits[0].beyond_share:
        found.append("No group is clearly hit more than its share of the rows.")
    if not found:
        text = f"No group of rows stands out: of {len(where.groups)} groups none is distinguishable"
        found = [f"{text} from 0 when all are looked at together."]
    if where.n_rules_tested and not where.rules:
        rules = "The one rule that was tested is not"
        if where.n_rules_tested > 1:
            rules = f"None of {where.n_rules_tested:,} rules that were tested is"
        found.append(f"{rules} confirmed.")
    return found


def hit_words(hit: Hit) -> str:
    """Such as: age is above 25 and sex is Female (38% of rows)."""
    return f"{hit.words} ({rows_share(hit.share)} of rows)"


def _hit_sentence(reading: Reading, hit: Hit) -> str:
    units = reading.units
    text = (
        f"Rows where {hit_words(hit)} carry {units.change(hit.points.value)} of the outcome part "
        f"({level_name(hit.level)} interval {units.span(*hit.interval)})"
    )
    change = _mean_change(reading, hit)
    if change:
        text += f"; {change}"
    confirmed = ("", " Confirmed with all rules looked at together.")
    return f"{text}.{confirmed[hit.is_rule]}"


def _mean_change(reading: Reading, hit: Hit, interval: str = "") -> str:
    """Such as: accuracy falls by 16.6 points there (5.6 to 27.5); `interval` names its level.

    A metric that is no mean over rows has no mean there: its rows are compared with the others.
    """
    if hit.change is None:
        return ""
    if not reading.gap.about.is_mean:
        times = hit.points.value / hit.share / reading.gap.parts["outcome"].value
        return f"a row there counts {times:.1f} times the average row" if times > 1 else ""
    units, (low, high) = reading.units, hit.change_interval()
    verb = "falls" if hit.change.value < 0 else "rises"
    span = units.size_span(low, high) if low * high > 0 else units.span(low, high)
    metric = metric_name(reading.gap.about)
    return f"{metric} {verb} by {units.size(hit.change.value)} there ({interval}{span})"


def culprit_sentence(reading: Reading) -> str:
    """The first clear variable and group that pull the way the metric went, for the answer.

    Where it may not have moved at all, there is none to name.
    """
    if not reading.clear:
        return ""
    said = []
    first = _first_variables(reading)
    if first:
        said.append(f"Of the variables, {_costs(reading, first)}.")
    way = reading.gap.total.value
    hits = [
        hit for hit in reading.clear_hits() if hit.points.value * way > 0 and hit.share <= MOST_ROWS
    ]
    if hits:
        own = hits[0].level  # a rule keeps the level it was confirmed at
        change = _mean_change(
            reading, hits[0], "" if own == reading.level else f"{level_name(own)} interval "
        )
        text = f"{_who(reading, hits[0])} rows where {hit_words(hits[0])}"
        said.append(f"{text}: {change}." if change else f"{text}.")
    return " ".join(said)


def _who(reading: Reading, hit: Hit) -> str:
    """What may be said of rows: that they are hit more than others, or only that they are hit."""
    better = direction(reading.gap.about, hit.points.value) == "better"
    if hit.beyond_share:
        return "Gaining most are" if better else "Hit hardest are"
    return "Clearly gaining are" if better else "Clearly hit are"


def _first_variables(reading: Reading) -> dict[str, Estimate]:
    """The largest clear variables that pull the way the metric went: of each part its near ties.

    A part whose first variable is less than half as large as that of the other names none.
    """
    way = reading.gap.total.value
    found: dict[str, Estimate] = {}
    for part, joint in reading.gap.points.items():
        clear = [name for name in reading.clear_points(part) if joint[name].value * way > 0]
        may_be = joint.first(reading.level, lowest=way < 0) if clear else ()
        found |= {name: joint[name] for name in clear if name in (clear[0], *may_be)}
    largest = max((abs(one.value) for one in found.values()), default=0.0)
    near = [name for name, one in found.items() if abs(one.value) > TIE * largest]
    named = sorted(near, key=lambda name: -abs(found[name].value))[:FEW]
    return {name: found[name] for name in named}


# -- what can be won back --------------------------------------------------------------------------


def recoverable_sentences(reading: Reading) -> list[str]:
    """The three budgets, in squared error of the model's predictions."""
    found, units = reading.gap.recoverable, squared_error_units(reading.gap)
    if found is None:
        return []
    irreducible = found.irreducible.value
    whole = (
        f"The squared error of the predictions {in_domain(reading.gap.about, 'target')} is "
        f"{units.bare(found.total.value + irreducible)}; {units.bare(irreducible)} of it no "
        "model on these variables can win back."
    )
    return [
        whole,
        _here(reading, found),
        *([_with_source_labels(reading, found.reweighted)] if found.reweighted else []),
        _in_source(reading, found),
    ]


def _here(reading: Reading, budget: Budget) -> str:
    """What target labels could win back, and through what."""
    text = f"Labels from the target could win back {amount(reading, budget.total)}"
    doubt = _unless_a_gain(reading, budget.total)
    if doubt:
        return f"{text}{doubt}."
    ways = []
    if budget.recalibration is not None and budget.recalibration.excludes_zero(reading.level):
        ways.append(f"recalibrating the score {amount(reading, budget.recalibration)}")
    if budget.variables:
        clear = budget.variables.significant(reading.level)[: SHOWN - 1]
        ways += [f"{name} {amount(reading, budget.variables[name])}" for name in clear]
    text += f", {_of_error(reading, budget.total)} of it"
    if not ways:
        return f"{text}, through no single variable clearly."
    return f"{text}: {joined(ways)}.{_most(reading, budget.variables)}"


def _most(reading: Reading, variables: Points | None) -> str:
    """Which variable wins back more than every other, where one does."""
    if variables is None or len(variables) < 2:
        return ""
    first = variables.first(reading.level)
    alone = len(first) == 1 and variables[first[0]].excludes_zero(reading.level)
    return f" Of the variables, {first[0]} wins back most." if alone else ""


def _with_source_labels(reading: Reading, budget: Budget) -> str:
    text = (
        "Had outcomes stayed the source's, reweighting or retraining on its labels could win back "
    )
    return f"{text}{amount(reading, budget.total)}{_unless_a_gain(reading, budget.total)}."


def _unless_a_gain(reading: Reading, total: Estimate) -> str:
    if not total.excludes_zero(reading.level):
        return ": not distinguishable from 0"
    return "" if total.value > 0 else ": nothing"


def _in_source(reading: Reading, found: Recoverable) -> str:
    more = found.added_in_target
    text = f"In the source the model already misses {amount(reading, found.source.total)}; "
    if not more.excludes_zero(reading.level):
        return f"{text}what the target adds to that is not distinguishable from 0."
    return f"{text}the target adds {amount(reading, more)}."


def amount(reading: Reading, estimate: Estimate) -> str:
    """0.0119 (0.0061 to 0.0177)."""
    units = squared_error_units(reading.gap)
    span = units.span(*estimate.interval(reading.level), signed=False)
    return f"{units.bare(estimate.value)} ({span})"


def part_of_error(reading: Reading, estimate: Estimate) -> str:
    """7% of the squared error (0.0119, 0.0061 to 0.0177)."""
    return f"{_of_error(reading, estimate)} of the squared error ({_listed(reading, estimate)})"


def _listed(reading: Reading, estimate: Estimate) -> str:
    return amount(reading, estimate).replace(" (", ", ").rstrip(")")


def _of_error(reading: Reading, estimate: Estimate) -> str:
    """In percent of the squared error in the target."""
    budget = reading.gap.recoverable
    whole = budget.total.value + budget.irreducible.value if budget else math.nan
    share = max(estimate.value, 0.0) / whole if whole > 0 else math.nan
    return rows_share(share) if math.isfinite(share) else "an unknown part"
