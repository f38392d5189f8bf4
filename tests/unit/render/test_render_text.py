"""Text: right for every direction, honest about what cannot be told. Wording: tests/golden."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.domains import ByDomain
from whygap.estimate import Estimate
from whygap.render import tables, text
from whygap.results import Gap, Gaps


def headline(gap: Gap, level: float = 0.95) -> str:
    return " ".join(text.headline(gap, gap.findings(level)))


def flat(gap: Gap) -> str:
    return " ".join(gap.summary().split())


def test_a_headline_has_at_most_three_texts() -> None:
    gap = make_gap()
    change, parts, group = text.headline(gap, gap.findings())
    assert change.startswith("Accuracy fell by 7.2 points (95% interval 3.9 to 10.5), from 80.4%")
    assert parts.startswith("The largest part is concept shift (")
    assert group.startswith("Most affected: rows where age is above 25 and military is none (21%")


def test_an_unknown_direction_is_neither_better_nor_worse() -> None:
    words = flat(make_gap(metric="cost", corners=(1200.0, 1210.0, 1300.0, 1530.0)))
    assert "Cost rose by 330" in words
    assert "worse" not in words
    assert "better" not in words


@pytest.mark.parametrize(
    ("end", "verdict"),
    [
        (0.05, "the mean prediction is now 5.0 points too high"),
        (-0.05, "the mean prediction is now 5.0 points too low"),
        (0.001, "the mean prediction is not clearly off there"),
    ],
)
def test_where_0_is_right_it_is_said_how_far_off_predictions_are(end: float, verdict: str) -> None:
    gap = make_gap(metric="calibration", corners=(0.2, 0.21, 0.2, end), culprits=())
    assert f"{verdict}." in headline(gap)
    assert not re.search("worse|better", headline(gap))


def test_a_metric_that_did_not_move_at_all_is_the_same() -> None:
    gap = make_gap(corners=(1.0,) * 4, noise=0.0, names=("source", "target"), rules=0)
    assert headline(gap) == "Accuracy is the same in the source and in the target: 100.0%."


def test_parts_in_the_headline() -> None:
    plain = {"names": ("source", "target"), "culprits": (), "outcome": None, "covariate": None}
    tie = headline(make_gap(corners=(0.804, 0.80, 0.769, 0.732), **plain))
    assert "Which part is largest is open: covariates -3.1 points (" in tie
    apart = headline(make_gap(corners=(0.8, 0.83, 0.78, 0.70), noise=0.5, **plain))
    assert "; the other way: baseline +3.0 points (+2.7 to +3.3)." in apart
    cancel = headline(make_gap(corners=(0.8, 0.75, 0.75, 0.8), noise=0.3, **plain))
    assert "Its parts may cancel. Distinguishable from 0: baseline -5.0 points (" in cancel
    gap = make_gap(**plain)
    wide = {name: replace(part, standard_error=1.0) for name, part in gap.parts.items()}
    assert headline(replace(gap, parts=wide)).endswith(
        "Its parts are not known well enough to say where it comes from."
    )
    wide = gap.parts | {"outcome": replace(gap.parts["outcome"], standard_error=0.6)}
    one = headline(replace(gap, parts=wide))
    assert "The largest part, outcome -4.9 points (-1" in one
    assert "), is not distinguishable from 0. Significant: baseline -0.7 points (" in one


def test_variables_are_named_with_the_part_they_belong_to() -> None:
    assert "Within covariates, schooling contributes most: -0.8 points (" in headline(make_gap())
    loss = make_gap(metric="log_loss", corners=(0.513, 0.52, 0.53, 0.555), noise=0.2)
    assert "these contribute most: schooling +0.0050 (" in headline(loss)


def test_a_rule_keeps_its_level() -> None:
    assert re.search(r"there \(\d+\.\d to \d+\.\d\)\.$", headline(make_gap()))
    assert re.search(r"there \(95% interval [\d.]+ to [\d.]+\)\.$", headline(make_gap(), 0.9))


def test_sections_are_there_for_what_was_requested() -> None:
    gap = make_gap()
    keys = list(text.section_texts(gap, gap.findings()))
    assert keys == [
        *("problems", "parts", "points baseline", "points covariate", "affected outcome"),
        *("recoverable", "advice", "overlap", "trust", "shares covariate", "shares outcome"),
    ]
    assert all(text.section_title(gap, key) for key in keys)
    bare = make_gap(culprits=(), outcome=None, covariate=None)
    assert list(text.section_texts(bare, bare.findings())) == [
        *("problems", "parts", "advice", "overlap", "trust"),
    ]
    for title in ("Affected", "Recoverable", "Shapley", "Of these"):
        assert title not in bare.summary()


def test_a_part_has_one_form() -> None:
    gap = make_gap()
    for sentence in text.section_texts(gap, gap.findings())["parts"]:
        assert re.fullmatch(
            r"\w+ \(.+\): [+-][\d.]+ points \(95% interval \S+ to \S+\)(, \d+% of the drop)?"
            r"(; not distinguishable from 0)?\.",
            sentence,
        )


def test_undefined_shares_deny_no_shift() -> None:
    gap = make_gap(defined=())
    shares = {"outcome": replace(gap.shares["outcome"], denominator=Estimate(0.01, 0.01))}
    words = flat(replace(gap, shares=shares))
    assert "The outcome part as a whole is significant, but these rows are too few" in words


def test_the_base_is_a_recalibration_of_the_source_risk_not_of_the_model() -> None:
    start = "Recalibrating the re-estimated source risk (not the model) "
    assert f"{start}within strata of age, sex and race would explain 33% of it (" in flat(
        make_gap()
    )
    assert f"{start}would explain 33% of it (" in flat(make_gap(baseline=()))
    assert "not of the model's own score" in tables.render(make_gap(), "text")


def test_common_support_is_said() -> None:
    gap = make_gap()
    gap = replace(gap, about=replace(gap.about, kept_share=ByDomain(0.8, 0.95)))
    assert "80% of source and 95% of target rows" in flat(gap)


@pytest.mark.parametrize("case", [{}, {"outcome": many_players(60)}, {"defined": ()}])
def test_lines_fit_80_columns(case: dict[str, object]) -> None:
    assert all(len(line) <= 80 for line in make_gap(**case).summary().splitlines())


def test_hostile_names_appear_as_they_are() -> None:
    gap = make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1), covariate=None, levels=NASTY_NAMES)
    words = flat(gap)
    for name in NASTY_NAMES[:4]:
        assert name in words
    assert f"is {NASTY_NAMES[0]} (" in words


def test_short_form_is_str() -> None:
    gap = make_gap()
    assert str(gap) == text.short(gap, gap.findings())
    assert len(str(gap).splitlines()) < 20


def test_large_numbers_are_counted_in_millions() -> None:
    gap = make_gap(metric="mse", corners=(1.02e8, 1.04e8, 1.03e8, 3.74e8))
    start = r"Mean squared error \(in squared units of employed\) rose by 27[\d.]+M \(95%"
    assert re.match(start, str(gap))


SAME = make_gap(corners=(0.8, 0.81, 0.80, 0.795))
GAPS = Gaps({"B": make_gap(), "C": make_gap(corners=(0.8, 0.83, 0.78, 0.60), seed=3), "D": SAME})


def test_several_targets_which_moved_and_through_what() -> None:
    assert text.targets_headline(GAPS, GAPS.findings(0.95)) == [
        (
            "Accuracy fell in 2 and did not significantly change in 1 of 3 targets, looked at "
            "together. It moved most for C: -20.0 points (95% interval -24.1 to -15.9)."
        ),
        (
            "Of the parts of the change, baseline is significant in 3, outcome in 2 and covariates "
            "in 1 of 3 targets."
        ),
    ]
    alike = Gaps({"D": SAME, "E": SAME})
    assert text.targets_headline(alike, alike.findings(0.95))[0] == (
        "Accuracy did not significantly change in any of 2 targets, looked at together."
    )


def test_all_targets_are_written_with_the_digits_of_the_least_known() -> None:
    few = make_gap(rows=(160, 70))
    assert text.targets_units({"B": make_gap(rows=(160_000, 70_000)), "C": few}).decimals == 1
