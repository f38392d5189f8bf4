"""Sentences on points, groups and budgets: every template with a full example."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.estimate import Estimate
from whygap.render import words
from whygap.render.advice import suggestions
from whygap.render.answers import (
    culprit_sentence,
    points_sentences,
    recoverable_sentences,
    where_sentences,
)
from whygap.render.lines import hits_block
from whygap.render.reading import Reading, hits_of, reading_of
from whygap.results import Gap, Rule

SAME_OUTCOMES = (0.804, 0.76, 0.732, 0.732)
NOTHING = (0.0001, 0.0001, 0.0001)


def read(level: float = 0.95, **case: object) -> Reading:
    return reading_of(make_gap(**case), level)


def test_clear_variables_are_named_and_the_rest_stands_together() -> None:
    assert points_sentences(read(), "covariate") == [
        "Of these, schooling costs 0.8 points (0.5 to 1.1) and ancestry costs 0.4 (0.1 to 0.7).",
        "schooling and ancestry are near ties: which is largest is open.",
        (
            "The other 4 variables together: -0.4 points (-2.4 to +1.6); none is distinguishable "
            "from 0 on its own."
        ),
    ]
    assert points_sentences(read(), "outcome") == []


def test_the_last_variable_is_named_alone() -> None:
    assert points_sentences(read(), "baseline") == [
        "Of these, age costs 0.4 points (0.2 to 0.5) and sex costs 0.2 (0.1 to 0.3).",
        "The other one, race: -0.2 points (-0.7 to +0.4), not distinguishable from 0.",
    ]
    one = read(covariate={"x": 1.0}, outcome={"x": 0.3})
    assert points_sentences(one, "covariate") == [
        "Its one variable, x: -1.6 points (-3.5 to +0.3), not distinguishable from 0."
    ]


def test_variables_that_are_the_whole_part_have_its_interval() -> None:
    unclear = read(covariate={"x": 1.0}, outcome={"x": 0.3})
    parts = {**unclear.parts, "covariate": Estimate(-0.045, 0.02)}
    assert points_sentences(replace(unclear, parts=parts), "covariate") == [
        "Its one variable, x: -4.5 points (-8.4 to -0.6)."
    ]


def test_near_ties_are_named_together() -> None:
    tied = read(baseline=("age", "sex"), corners=(0.8, 0.75, 0.74, 0.7))
    assert points_sentences(tied, "baseline") == [
        "Of these, age costs 2.5 points (2.4 to 2.6) and sex costs 2.5 (2.0 to 3.0).",
        "age and sex are near ties: which is largest is open.",
    ]


def test_without_a_clear_variable_none_is_named() -> None:
    assert points_sentences(read(noise=3.0), "covariate") == [
        (
            "Its 6 variables together: -1.6 points (-7.3 to +4.1); none is distinguishable from 0 "
            "on its own."
        )
    ]


def test_past_four_clear_variables_the_others_are_counted() -> None:
    many = read(covariate=many_players(30), outcome=None, corners=(0.8, 0.79, 0.70, 0.65))
    assert points_sentences(many, "covariate")[1] == (
        "The other 26 variables together: -0.6 points (-2.5 to +1.3); 2 of them are clear."
    )


def test_a_loss_is_added_to_or_taken_off() -> None:
    loss = read(metric="log_loss", corners=(0.513, 0.54, 0.53, 0.555), noise=0.2)
    assert points_sentences(loss, "covariate")[0].startswith(
        "Of these, schooling takes off 0.0050 (0.0046 to 0.0054), ancestry takes off 0.0025"
    )
    assert points_sentences(loss, "baseline")[0].startswith("Of these, age adds 0.0135 (0.01")


def test_groups_and_rules_say_how_many_rows_how_much_and_how_sure() -> None:
    assert where_sentences(read())[:2] == [
        (
            "Rows where age is above 25 and military is none (21% of rows) carry -4.4 points of "
            "the outcome part (95% interval -8.2 to -0.6); accuracy falls by 21.0 points there "
            "(3.0 to 39.0). Confirmed with all rules looked at together."
        ),
        (
            "Rows where schooling is none (16% of rows) carry -2.5 points of the outcome part "
            "(95% interval -3.5 to -1.4); accuracy falls by 15.6 points there (8.9 to 22.4)."
        ),
    ]


def test_where_nobody_stands_out_that_is_said() -> None:
    assert where_sentences(read(noise=4.0, rules=0)) == [
        (
            "No group of rows stands out: of 30 groups none is distinguishable from 0 when all are "
            "looked at together."
        ),
        "None of 5 rules that were tested is confirmed.",
    ]


def test_the_three_budgets_in_words() -> None:
    assert recoverable_sentences(read()) == [
        (
            "The squared error of the predictions for non-citizens (target) is 0.1700; 0.1581 of "
            "it no model on these variables can win back."
        ),
        (
            "Labels from the target could win back 0.0119 (0.0075 to 0.0163), 7% of it: "
            "recalibrating the score 0.0024 (0.0015 to 0.0033), age 0.0048 (0.0045 to 0.0050), "
            "sex 0.0024 (0.0021 to 0.0027) and race 0.0012 (0.0009 to 0.0015). Of the variables, "
            "age wins back most."
        ),
        (
            "Had outcomes stayed the source's, reweighting or retraining on its labels could win "
            "back -0.0041 (-0.0086 to 0.0004): not distinguishable from 0."
        ),
        (
            "In the source the model already misses 0.0014 (-0.0030 to 0.0058); the target adds "
            "0.0105 (0.0042 to 0.0168)."
        ),
    ]


def test_budgets_that_hold_nothing() -> None:
    assert recoverable_sentences(read(won_back=(0.0001, 0.0119, 0.0001)))[1:] == [
        (
            "Labels from the target could win back 0.0001 (-0.0043 to 0.0045): not distinguishable "
            "from 0."
        ),
        (
            "Had outcomes stayed the source's, reweighting or retraining on its labels could win "
            "back 0.0119 (0.0074 to 0.0164)."
        ),
        (
            "In the source the model already misses 0.0001 (-0.0043 to 0.0045); what the target "
            "adds to that is not distinguishable from 0."
        ),
    ]
    below = recoverable_sentences(read(won_back=(0.012, -0.02, 0.0001)))[2]
    assert below.endswith("could win back -0.0200 (-0.0245 to -0.0155): nothing.")


def test_the_answer_names_a_variable_and_a_group() -> None:
    variable = "Of the variables, schooling costs 0.8 points (0.5 to 1.1)."
    group = (
        "Hit hardest are rows where age is above 25 and military is none (21% of rows): accuracy "
        "falls by 21.0 points there (3.0 to 39.0)."
    )
    assert culprit_sentence(read()) == f"{variable} {group}"
    assert culprit_sentence(read(culprits=("affected",))) == group
    assert culprit_sentence(read(culprits=("points",))) == variable
    assert culprit_sentence(read(culprits=())) == ""
    better = culprit_sentence(read(corners=(0.7, 0.71, 0.72, 0.80)))
    assert "Gaining most are rows where age is above 25" in better
    assert " ".join(str(make_gap()).split()).count(f"{variable} {group}") == 1


def of_shares(gap: Gap, share: float, rules: tuple[Rule, ...] = ()) -> Reading:
    """The same groups with the same points, each of so many rows."""
    affected = gap.affected["outcome"]
    groups = tuple(replace(group, target_share=share) for group in affected.groups)
    other = replace(affected, groups=groups, rules=rules)
    return reading_of(replace(gap, affected={"outcome": other}), 0.95)


def test_rows_that_only_carry_their_share_are_not_called_hit_hardest() -> None:
    half = of_shares(make_gap(rules=0), 0.45)
    assert culprit_sentence(half) == (
        "Of the variables, schooling costs 0.8 points (0.5 to 1.1). Clearly hit are rows where "
        "age is none (45% of rows): accuracy falls by 3.5 points there (1.1 to 6.0)."
    )
    assert where_sentences(half)[-2:] == [
        "No group is clearly hit more than its share of the rows.",
        "None of 5 rules that were tested is confirmed.",
    ]


def test_the_answer_names_the_level_of_a_rule_that_keeps_its_own() -> None:
    assert re.search(r"there \(\d+\.\d to \d+\.\d\)\.$", culprit_sentence(read(0.95)))
    other = culprit_sentence(read(0.9))
    assert re.search(r"there \(95% interval \d+\.\d to \d+\.\d\)\.$", other)


def test_most_rows_are_no_answer_to_who_is_hit() -> None:
    most = of_shares(make_gap(rules=0), 0.7)
    assert "rows where" not in culprit_sentence(most)
    rule = replace(make_gap().affected["outcome"].rules[0], target_share=0.7)
    assert "rows where" not in culprit_sentence(of_shares(make_gap(), 0.7, (rule,)))


ADVICE = {
    "revise": (
        {},
        [
            ("Revise the model on age, sex, race and 2 others with outcomes from the target."),
            (
                "Do not count on reweighting the source rows: nothing that it could win back is "
                "distinguishable from 0."
            ),
        ],
    ),
    "recalibrate first": (
        {"recalibration": 0.8},
        [
            (
                "Recalibrate the model's score on outcomes from the target first: that alone could "
                "win back 6% of the squared error (0.0095, 0.0060 to 0.0131)."
            ),
        ],
    ),
    "harder rows": (
        {"won_back": NOTHING, "corners": SAME_OUTCOMES},
        [
            (
                "The target's rows are simply harder: labels from there could not clearly win "
                "anything back, so there is nothing to repair in the model."
            ),
        ],
    ),
    "other outcomes, nothing to win": (
        {"won_back": NOTHING},
        [
            (
                "Outcomes differ for rows alike in every variable, yet labels from the target "
                "could not clearly win anything back through these variables: leave the model as "
                "it is, and look for a variable that tells such rows apart."
            ),
        ],
    ),
    "better": (
        {"won_back": NOTHING, "corners": (0.7, 0.72, 0.74, 0.8)},
        ["Leave the model as it is: labels from the target could not clearly improve it."],
    ),
}


@pytest.mark.parametrize("case", ADVICE)
def test_advice_follows_from_the_budgets(case: str) -> None:
    arguments, steps = ADVICE[case]
    assert suggestions(read(**arguments))[: len(steps)] == steps


REWEIGHTING = {
    (0.03, 0.02): (
        "Reweight the training rows to the target's mix, or retrain on more source rows like it: "
        "that could win back 12% of the squared error (0.0200, 0.0155 to 0.0245)."
    ),
    (0.0112, 0.0306): (
        "Do not count on reweighting the source rows: it promises more than labels from the target "
        "could win back, which cannot be."
    ),
}
OUTCOMES_DIFFER = (
    "Do not count on reweighting the source rows: outcomes differ for rows alike in every "
    "variable, and it cannot show how."
)


@pytest.mark.parametrize("budgets", REWEIGHTING)
def test_reweighting_is_advised_only_where_outcomes_stayed(budgets: tuple[float, float]) -> None:
    arguments = {"won_back": (*budgets, 0.0001)}
    steps = suggestions(read(**arguments, corners=SAME_OUTCOMES))
    assert [step for step in steps if "reweight" in step.lower()] == [REWEIGHTING[budgets]]
    steps = suggestions(read(**arguments))
    assert [step for step in steps if "reweight" in step.lower()] == [OUTCOMES_DIFFER]


def test_of_what_was_not_asked_for_nothing_is_said() -> None:
    text = words.summary(make_gap(culprits=(), outcome=None, covariate=None))
    for title in ("Who is hit", "What can be won back", "The finer view", "Of these"):
        assert title not in text
    shown = words.summary(make_gap(outcome=None, covariate=None))
    titles = ["Where it comes from", "Who is hit", "What can be won back", "What to do next"]
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    assert "The finer view" not in shown


def test_hostile_names_of_variables_and_levels_appear_as_they_are() -> None:
    gap = make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1), covariate=None, levels=NASTY_NAMES)
    text = " ".join(words.summary(gap).split())
    assert f"military is {NASTY_NAMES[0]}" not in text
    assert f"is {NASTY_NAMES[0]} (" in text
    assert "<script>alert" not in gap._repr_html_()


def test_intervals_of_other_levels_stay_with_their_rows() -> None:
    """More groups are clear at a lower level, so that they stand in another order there."""
    block = hits_block(make_gap(), 0.99, 8)
    orders = {tuple(hit.words for hit in hits_of(make_gap(), level)) for level in (0.8, 0.99)}
    assert len(orders) == 2
    for line, (low, high) in zip(block.lines, block.intervals(0.8), strict=True):
        if line.kind == "group":
            assert (low + high) / 2 == pytest.approx(line.estimate.value)


def test_the_same_rows_are_shown_once_whatever_they_are_called() -> None:
    gap = make_gap()
    affected = gap.affected["outcome"]
    (rule, *_), (group, *others) = affected.rules, affected.groups
    twin = replace(group, target_share=rule.target_share, points=rule.points)
    doubled = replace(gap, affected={"outcome": replace(affected, groups=(twin, *others))})
    shown = [hit.words for hit in hits_of(doubled, 0.95)]
    assert f"{twin.variable} is {twin.label}" not in shown
    assert sum(hit.is_rule for hit in hits_of(doubled, 0.95)) == 1
