"""A grid of made results: whatever came out, no sentence contradicts another."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

from result_factory import make_gap

from whygap.notes import Note
from whygap.render import words
from whygap.render.advice import PROBLEM_FIRST, suggestions
from whygap.render.answers import recoverable_sentences
from whygap.render.reading import Reading, reading_of
from whygap.results import Gap

CORNERS = {
    "all worse": (0.804, 0.797, 0.781, 0.732),
    "mix only": (0.804, 0.76, 0.732, 0.732),
    "outcome only": (0.804, 0.804, 0.803, 0.732),
    "near tie": (0.804, 0.80, 0.768, 0.732),
    "opposite": (0.80, 0.83, 0.78, 0.70),
    "mix worse, outcome better": (0.80, 0.80, 0.70, 0.76),
    "cancel": (0.80, 0.75, 0.75, 0.80),
    "nothing": (0.80, 0.80, 0.80, 0.80),
    "better": (0.70, 0.72, 0.74, 0.80),
}
BUDGETS = {  # with target labels, on the target's mix, at home
    "labels": (0.0119, -0.0041, 0.0014),
    "labels and mix": (0.03, 0.02, 0.0001),
    "mix beyond labels": (0.0112, 0.0306, 0.0001),
    "mix alone": (0.0001, 0.0119, 0.0001),
    "nothing": (0.0001, 0.0001, 0.0001),
    "worse": (-0.01, -0.02, 0.0001),
}
NOISE = (0.3, 1.0, 3.0)
REPAIRS = ("Recalibrate the", "Revise the model", "Refit the model")
REWEIGHT = ("Reweight the training rows",)


def without_shares(**arguments: Any) -> Gap:
    return replace(make_gap(**arguments), shares={})


@cache
def results() -> dict[str, Gap]:
    """The whole grid."""
    found: dict[str, Gap] = {}
    for (where, corners), (what, won), noise, recalibration in product(
        CORNERS.items(), BUDGETS.items(), NOISE, (0.2, 0.8)
    ):
        made = {"corners": corners, "won_back": won, "recalibration": recalibration}
        gap = without_shares(**made, noise=noise, culprits=("points", "recoverable"))
        found[f"{where}; {what}; noise {noise}; {recalibration}"] = gap
    for (where, corners), noise in product(CORNERS.items(), NOISE):
        plain = without_shares(corners=corners, noise=noise, culprits=())
        found[f"{where}; not asked; noise {noise}"] = plain
    return found


@cache
def readings() -> list[tuple[str, Reading, list[str]]]:
    """Every result read at 95%, with its advice."""
    read = [(name, reading_of(gap, 0.95)) for name, gap in results().items()]
    return [(name, one, suggestions(one)) for name, one in read]


def says(steps: list[str], *starts: str) -> bool:
    return any(start in step for step in steps for start in starts)


def is_gain(estimate: Any, level: float = 0.95) -> bool:
    return estimate.excludes_zero(level) and estimate.value > 0


def test_the_grid_is_large_and_reaches_every_kind_of_advice() -> None:
    everything = [step for _, _, steps in readings() for step in steps]
    assert len(results()) > 300
    for start in (*REPAIRS[:2], *REWEIGHT, "simply harder", "Do not count on reweighting"):
        assert says(everything, start), start


def test_rows_are_called_harder_only_where_nothing_is_to_be_repaired() -> None:
    for name, reading, steps in readings():
        if says(steps, "simply harder"):
            assert not says(steps, *REPAIRS, *REWEIGHT), name
            worse = reading.parts["outcome"].value < 0
            assert not (worse and reading.is_clear("outcome")), name
            labels = recoverable_sentences(reading)[1]
            assert labels.endswith((": not distinguishable from 0.", ": nothing.")), name


def test_a_perfect_model_on_harder_rows_has_nothing_to_repair() -> None:
    for noise in (0.3, 1.0):
        arguments = {"corners": CORNERS["mix only"], "won_back": BUDGETS["nothing"]}
        gap = make_gap(**arguments, noise=noise, rules=0)
        assert suggestions(reading_of(gap, 0.95)) == [
            (
                "The target's rows are simply harder: labels from there could not clearly win "
                "anything back, so there is nothing to repair in the model."
            )
        ]


def test_what_is_not_known_is_not_called_harder() -> None:
    gap = make_gap(corners=CORNERS["mix only"], won_back=BUDGETS["nothing"])
    found = gap.recoverable
    assert found is not None
    wide = replace(found, total=replace(found.total, standard_error=0.03))
    (step,) = suggestions(reading_of(replace(gap, recoverable=wide), 0.95))
    assert step.startswith("Collect more labelled rows of the target before changing the model")


def test_what_cannot_be_won_back_is_not_advised() -> None:
    for name, reading, steps in readings():
        found = reading.gap.recoverable
        if found is None or found.reweighted is None:
            continue
        if says(steps, *REPAIRS):
            assert is_gain(found.total), name
        if says(steps, *REWEIGHT):
            assert is_gain(found.reweighted.total), name
            assert not reading.is_clear("outcome"), name
        for step in (one for one in steps if one.startswith("Revise the model on ")):
            first, *_ = re.split(r", | and | with ", step.removeprefix("Revise the model on "))
            assert found.variables is not None
            assert is_gain(found.variables[first]), name


def test_reweighting_is_not_advised_and_advised_against_at_once() -> None:
    for name, _, steps in readings():
        assert not (says(steps, *REWEIGHT) and says(steps, "Do not count on reweighting")), name
        leave = says(steps, "Leave the model as it is", "leave the model as it is")
        assert not (leave and says(steps, *REPAIRS)), name
        assert steps, name
        assert len(steps) == len(set(steps)) <= 5, name


def test_nothing_is_asked_of_a_model_without_evidence() -> None:
    for name, reading, steps in readings():
        if reading.gap.recoverable is None:
            assert not says(steps, *REPAIRS, *REWEIGHT), name


def test_parts_pull_apart_only_where_two_are_clear_and_opposite() -> None:
    for name, reading, _ in readings():
        clear = [part.value > 0 for key, part in reading.parts.items() if reading.is_clear(key)]
        text = words.main_sentence(reading)
        said = "pull in different directions" in text
        # One that takes off less than 5% of the change is no second direction.
        assert said == (reading.clear and len(set(clear)) == 2 and not reading.shares), name


def test_a_headline_names_clear_parts_and_near_ties_alone() -> None:
    said_as = {
        "baseline": "a different mix of age",
        "covariate": "a different mix of the covariates",
        "outcome": "a different 'employed'",
    }
    for name, reading, _ in readings():
        text = words.main_sentence(reading)
        if " from " not in text or "not known well enough" in text:
            continue
        for part, phrase in said_as.items():
            named = phrase in text
            assert not named or reading.is_clear(part) or part in reading.ties, name
            assert named or not reading.is_clear(part), name


def test_little_overlap_is_no_ground_for_reweighting() -> None:
    gap = make_gap(corners=CORNERS["mix only"], won_back=BUDGETS["labels and mix"])
    assert says(suggestions(reading_of(gap, 0.95)), *REWEIGHT)
    thin = tuple(replace(r, effective_size=0.01 * r.rows) for r in gap.diagnostics.ratios)
    gap = replace(gap, diagnostics=replace(gap.diagnostics, ratios=thin))
    steps = suggestions(reading_of(gap, 0.95))
    assert not says(steps, *REWEIGHT)
    assert says(steps, "too few source rows are like the target's", "hardly overlap")


def test_a_problem_leaves_no_other_advice() -> None:
    gap = make_gap(notes=[Note("changed_meaning", "problem", {"column": "age"})])
    assert suggestions(reading_of(gap, 0.95)) == [PROBLEM_FIRST]
