"""Sentences: right for every direction, honest about what cannot be told."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from result_factory import NASTY_NAMES, make_gap, many_players, with_parts

from whygap.domains import ByDomain
from whygap.notes import Note
from whygap.render import table, words
from whygap.render.advice import PROBLEM_FIRST, suggestions
from whygap.render.detail_sentences import detail_sentences
from whygap.render.reading import Standing, reading_of
from whygap.render.units import level_name, p_value, percent, rounded_count, units_of
from whygap.results import Gap, RatioRecord, files
from whygap.results.files import restored


def test_a_drop_of_accuracy_is_said_in_points() -> None:
    assert words.headline(make_gap(culprits=()), 0.9) == (
        "Accuracy fell by 7.2 points (90% interval 4.4 to 10.0), from 80.4% for US-born citizens "
        "(source) to 73.2% for non-citizens (target). 68% of the drop (90% interval 42% to 91%) "
        "comes from a different 'employed' for rows alike in every variable, above all along "
        "schooling and ancestry. Another 22% (0.04% to 46%) comes from a different mix of the "
        "covariates, above all along schooling and 10% (4% to 17%) from a different mix of age, "
        "sex and race."
    )


def test_the_base_is_a_recalibration_of_the_source_risk_not_of_the_model() -> None:
    gap = make_gap()
    found = detail_sentences(reading_of(gap, 0.9), "outcome")
    assert found[0].startswith(
        "Recalibrating the re-estimated source risk (not the model) within strata of age, sex and "
        "race would explain 33% of it (90% interval "
    )
    bare = make_gap(baseline=())
    assert detail_sentences(reading_of(bare, 0.9), "outcome")[0].startswith(
        "Recalibrating the re-estimated source risk (not the model) would explain "
    )
    assert "model's own score" in table.render(gap, "text")


def test_weighted_rows_are_said_with_what_they_are_worth() -> None:
    gap = make_gap()
    assert not any("count as" in line for line in words.trust(gap))
    worth = ByDomain(1234.4, gap.about.effective_rows.target)
    weighted = replace(gap, about=replace(gap.about, effective_rows=worth))
    assert words.trust(weighted)[1] == (
        f"With their weights they count as 1,234 source and {gap.about.rows.target:,} target rows "
        "of equal weight."
    )


def test_a_share_above_100_percent_is_called_all() -> None:
    gap = make_gap(corners=(0.8, 0.80, 0.802, 0.70), noise=0.3)
    assert " All of the drop (102%, 95% interval " in words.headline(gap)


def test_a_rise_of_a_loss_is_worse_and_says_so() -> None:
    gap = make_gap(metric="log_loss", corners=(0.513, 0.52, 0.53, 0.555), noise=0.2)
    text = words.headline(gap, 0.9)
    assert text.startswith("Log loss rose by 0.0420 (90% interval 0.0382 to 0.0458), from 0.5130")
    assert "(target): the model does worse there. 60% of the rise" in text


def test_a_fall_of_a_loss_is_better_and_asks_for_no_repair() -> None:
    gap = make_gap(metric="brier", corners=(0.25, 0.23, 0.21, 0.18), noise=0.2, culprits=())
    assert ": the model does better there." in words.headline(gap)
    assert suggestions(reading_of(gap, 0.95)) == [
        "The model does better in the target: there is nothing to repair."
    ]


def test_unknown_direction_is_neither_better_nor_worse() -> None:
    gap = make_gap(metric="cost", corners=(1200.0, 1210.0, 1300.0, 1530.0))
    text = words.summary(gap)
    assert "Cost rose by 330" in text
    assert "worse" not in text
    assert "better" not in text


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (0.05, "the mean prediction is now 5.0 points too high"),
        (-0.05, "the mean prediction is now 5.0 points too low"),
        (0.001, "the mean prediction is not clearly off there"),
    ],
)
def test_where_0_is_right_it_is_said_how_far_off_predictions_are(end: float, said: str) -> None:
    gap = make_gap(metric="calibration", corners=(0.2, 0.21, 0.2, end), culprits=())
    text = words.headline(gap)
    assert f"{said}." in text
    assert "worse" not in text
    assert "better" not in text


def test_names_source_and_target_are_not_said_twice() -> None:
    gap = make_gap(names=("source", "target"))
    assert "from 80.4% in the source to 73.2% in the target" in words.headline(gap)


def test_a_metric_that_did_not_move_at_all_is_the_same() -> None:
    gap = make_gap(corners=(1.0,) * 4, noise=0.0, names=("source", "target"), rules=0)
    assert words.headline(gap) == "Accuracy is the same in the source and in the target: 100.0%."
    assert not any(step.startswith("To tell the change from 0") for step in _steps(gap))


def test_cannot_tell_names_the_interval_that_includes_0() -> None:
    gap = make_gap(corners=(0.8, 0.8, 0.79, 0.795), noise=2.0, names=("source", "target"), rules=0)
    text = words.headline(gap)
    assert text.startswith(
        "These data cannot tell whether accuracy differs between the source and the target: it "
        "moved from 80.0% to 79.5%, a change of -0.5 points whose 95% interval, "
    )
    assert text.endswith("includes 0. None of its parts is distinguishable from 0 either.")
    assert "of the drop" not in words.summary(gap)
    assert any(step.startswith("To tell the change from 0") for step in _steps(gap))


def test_parts_that_pull_apart_are_said_in_points_not_percent() -> None:
    gap = make_gap(corners=(0.8, 0.83, 0.78, 0.70), noise=0.5)
    text = words.headline(gap)
    assert (
        "The parts pull in different directions. -8.0 points (95% interval -9.6 to -6.4) come from "
        "a different 'employed' for rows alike in every variable. -5.0 (-6.0 to -4.0) come from a "
        "different mix of the covariates and +3.0 (+2.7 to +3.3) from a different mix of age, sex "
        "and race."
    ) in text
    assert "% of the drop" not in words.summary(gap)


def test_near_ties_are_named_together_whichever_came_out_larger() -> None:
    plain = {"names": ("source", "target"), "culprits": (), "outcome": None, "covariate": None}
    tie = "Which of them is larger is open."
    for third, covariates, outcome in ((0.769, 43, 51), (0.764, 50, 44)):
        text = words.headline(make_gap(corners=(0.804, 0.80, third, 0.732), **plain))
        of_mix = f"{covariates}% of the drop (95% interval "
        assert f" {of_mix}" in text, text
        assert text.index(of_mix) < text.index(f" and {outcome}% (")
        assert text.endswith(f"from a different 'employed' for rows alike in every variable. {tie}")


def test_a_near_tie_is_named_although_it_is_not_clear_itself() -> None:
    corners = (0.804, 0.804, 0.766, 0.729)
    gap = make_gap(corners=corners, noise=1.6, baseline=(), culprits=(), names=("old", "new"))
    reading = reading_of(gap, 0.95)
    assert [reading.is_clear(name) for name in ("covariate", "outcome")] == [True, False]
    assert reading.ties == ("covariate", "outcome")
    assert " Which of them is larger is open." in words.headline(gap)


def test_ties_are_the_same_in_a_result_read_back_from_its_file() -> None:
    gap = make_gap(corners=(0.804, 0.80, 0.768, 0.732))
    read = restored(Gap, files.to_dict(gap))
    assert read.total.influence is None
    assert reading_of(read, 0.95).ties == reading_of(gap, 0.95).ties == ("covariate", "outcome")
    one, other = (g.difference("covariate", "outcome") for g in (gap, read))
    assert one.standard_error == pytest.approx(other.standard_error, rel=1e-6)


def test_a_larger_part_that_is_not_clear_is_not_passed_over() -> None:
    gap = make_gap(culprits=(), outcome=None, covariate=None, names=("source", "target"))
    wide = replace(gap.parts["outcome"], standard_error=0.6)
    gap = with_parts(gap, outcome=wide)
    text = words.headline(gap)
    assert "10% of the drop (95% interval 3% to 19%) comes from a different mix of age" in text
    assert " The largest part, outcome -4.9 points (-1" in text
    assert text.endswith("), is not distinguishable from 0.")


def test_an_unclear_part_against_the_gap_pulls_nowhere() -> None:
    gap = make_gap(corners=(0.8, 0.80, 0.81, 0.73), noise=1.2, culprits=())
    reading = reading_of(gap, 0.95)
    assert reading.parts["covariate"].value > 0
    assert not reading.is_clear("covariate")
    assert "different directions" not in words.headline(gap)


def test_one_clear_part_is_named_even_where_percentages_would_mislead() -> None:
    gap = make_gap(corners=(0.807, 0.818, 0.746, 0.732), names=("source", "target"), culprits=())
    wide = {name: replace(gap.parts[name], standard_error=0.01) for name in ("baseline", "outcome")}
    gap = with_parts(gap, **wide)
    assert words.headline(gap).endswith(
        "7.2 points (95% interval 5.3 to 9.1) of the drop come from a different mix of the "
        "covariates, above all along schooling. The other parts are not distinguishable from 0."
    )
    assert "The outcome part as a whole is not distinguishable from 0, yet not 0" in " ".join(
        words.summary(gap).split()
    )


def test_parts_that_cancel_are_named_when_the_gap_is_near_0() -> None:
    gap = make_gap(corners=(0.8, 0.75, 0.75, 0.8), noise=0.3)
    assert words.headline(gap).endswith(
        "Its parts may cancel. -5.0 points (95% interval -5.2 to -4.8) come from a different mix "
        "of age, sex and race and +5.0 (+4.0 to +6.0) from a different 'employed' for rows alike "
        "in every variable."
    )


def test_one_clear_part_of_an_unclear_gap_is_named() -> None:
    gap = make_gap(corners=(0.8, 0.81, 0.80, 0.795), culprits=())
    assert words.headline(gap).endswith(
        "includes 0. One part is clear all the same. +1.0 points (95% interval +0.5 to +1.5) come "
        "from a different mix of age, sex and race."
    )


def test_a_part_hardly_against_the_gap_is_left_to_the_list() -> None:
    gap = make_gap(corners=(0.80, 0.803, 0.803, 0.70), noise=0.3, culprits=())
    assert reading_of(gap, 0.95).is_clear("baseline")
    assert words.headline(gap).endswith(
        "to 70.0% for non-citizens (target). All of the drop (103%, 95% interval 97% to 110%) "
        "comes from a different 'employed' for rows alike in every variable, above all along "
        "schooling and ancestry."
    )


def test_a_clear_gap_with_unclear_parts_claims_no_source() -> None:
    gap = make_gap()
    wide = {name: replace(part, standard_error=1.0) for name, part in gap.parts.items()}
    gap = with_parts(gap, **wide)
    assert "Its parts are not known well enough to say where it comes from" in words.headline(gap)


def test_shares_outside_the_unit_interval_are_shown_and_explained() -> None:
    text = " ".join(words.summary(make_gap()).split())
    assert "Shares outside 0% to 100% (military -3%) are shown as estimated: noise, or a" in text


def test_a_clear_outcome_shift_without_clear_shares_still_gets_advice() -> None:
    shares = {"a": 0.1, "b": 0.05, "c": 0.02}
    gap = make_gap(outcome=shares, corners=(0.8, 0.8, 0.8, 0.70), share_noise=1.2, culprits=())
    assert gap.shares["outcome"].base.value > 0.5
    assert gap.shares["outcome"].base.interval(0.95)[0] < 0
    assert _steps(gap) == [OUTCOMES]


def test_advice_on_overlap_knows_what_was_tried() -> None:
    gap = make_gap()
    thin = tuple(replace(r, effective_size=0.01 * r.rows) for r in gap.diagnostics.ratios)
    gap = replace(gap, diagnostics=replace(gap.diagnostics, ratios=thin))
    words_ = "Source and target hardly overlap in baseline: 1,600 source rows count as 16. "
    assert f"{words_}Try support='common', or fewer variables." in _steps(gap)
    tried = {**gap.about.settings, "support": "common"}
    gap = replace(gap, about=replace(gap.about, settings=tried))
    assert f"{words_}Try fewer variables." in _steps(gap)


def test_without_budgets_no_repair_of_a_mix_is_promised() -> None:
    mixed = make_gap(culprits=(), corners=(0.804, 0.76, 0.732, 0.732))
    assert _steps(mixed) == [
        (
            "The target has another mix of age, sex, race and the covariates, on which the model "
            "does worse. Rows may simply be harder there: detail='recoverable' says what could be "
            "won back, and how."
        ),
    ]
    assert not any("another mix" in step for step in _steps(make_gap(culprits=())))


def test_without_budgets_an_outcome_part_asks_for_outcomes() -> None:
    assert _steps(make_gap(outcome=None, covariate=None, culprits=())) == [OUTCOMES]


def test_a_problem_comes_before_any_change_of_the_model() -> None:
    gap = make_gap(notes=[Note("changed_meaning", "problem", {"column": "age"})])
    assert _steps(gap) == [PROBLEM_FIRST]


def test_poor_overlap_is_an_advice() -> None:
    gap = make_gap()
    ratio = RatioRecord("pi_wz", "baseline and covariates", 40.0, 1600, 300.0, 0.0, 0.99)
    gap = replace(gap, diagnostics=replace(gap.diagnostics, ratios=(ratio,)))
    assert _steps(gap)[-1] == (
        "Source and target hardly overlap in baseline and covariates: 1,600 source rows count as "
        "40. Try support='common', or fewer variables."
    )


def test_common_support_is_said() -> None:
    gap = make_gap()
    gap = replace(gap, about=replace(gap.about, kept_share=ByDomain(0.8, 0.95)))
    assert "80% of source and 95% of target rows" in " ".join(words.summary(gap).split())


def test_one_leader_a_few_or_none() -> None:
    assert Standing(("a",), ("a", "b")).leaders() == ("a",)
    assert Standing(("a", "b"), ("a", "b", "c")).leaders() == ("a", "b")
    assert Standing(("a", "b", "c", "d"), ("a",)).leaders() == ("a",)
    assert Standing(("a", "b"), ()).leaders() == ()


def test_words_survive_the_file(tmp_path: object) -> None:
    gap = make_gap()
    assert words.summary(restored(Gap, files.to_dict(gap))) == words.summary(gap)


@pytest.mark.parametrize("case", [{}, {"outcome": many_players(60)}, {"defined": ()}])
def test_lines_fit_80_columns(case: dict[str, object]) -> None:
    for line in words.summary(make_gap(**case)).splitlines():
        assert len(line) <= 80


def test_hostile_names_appear_as_they_are() -> None:
    gap = make_gap(outcome=dict.fromkeys(NASTY_NAMES[:4], 0.15))
    text = " ".join(words.summary(gap).split())
    for name in NASTY_NAMES[:4]:
        assert name in text


def test_short_form_is_str() -> None:
    gap = make_gap()
    assert str(gap) == words.short(gap)
    assert len(str(gap).splitlines()) < 20


def test_rows_of_a_metric_that_is_no_mean_are_compared_with_the_others() -> None:
    mean, auc = (" ".join(make_gap(metric=name).summary().split()) for name in ("accuracy", "auc"))
    assert "there (" in mean
    assert "times the average row" not in mean
    assert re.search(r"a row there counts \d+\.\d times the average row", auc)
    assert not re.search(r"AUC (falls|rises) by", auc)


def test_large_numbers_are_counted_in_millions() -> None:
    gap = make_gap(metric="mse", corners=(1.02e8, 1.04e8, 1.03e8, 3.74e8))
    start = r"Mean squared error \(in squared units of employed\) rose by 27[\d.]+M \(95%"
    assert re.match(start, str(gap))


@pytest.mark.parametrize(
    ("corners", "metric", "shown"),
    [
        ((0.804, 0.797, 0.781, 0.732), "accuracy", "-7.2"),
        ((1.2e-8, 1.2e-8, 1.3e-8, 1.53e-8), "cost", "+3.3e-09"),
        ((1200.0, 1210.0, 1300.0, 1530.0), "cost", "+330"),
        ((2e12, 2e12, 3e12, 4e12), "cost", "+2,000B"),
        ((2e7, 2e7, 3e7, 4e7), "cost", "+20."),
        ((2e16, 2e16, 3e16, 4e16), "cost", "+2e+16"),
        ((0.0, 0.0, 0.0, 0.0), "cost", "0.000"),
    ],
)
def test_digits_follow_the_standard_error(
    corners: tuple[float, float, float, float], metric: str, shown: str
) -> None:
    gap = make_gap(corners=corners, metric=metric)
    assert units_of(gap).bare(gap.total.value, signed=True)[: len(shown)] == shown


def test_small_pieces() -> None:
    assert percent(0.684) == "68%"
    assert percent(-0.001) == "0%"
    assert percent(0.00423, 0.0001) == "0.42%"
    assert percent(float("inf")) == "unbounded"
    assert percent(float("nan")) == "undefined"
    assert level_name(0.95) == "95%"
    assert level_name(0.999) == "99.9%"
    assert [p_value(p) for p in (0.0001, 0.0123, 0.5)] == ["< 0.001", "0.012", "0.50"]
    assert [rounded_count(n) for n in (7.2, 12345, 440_000)] == ["8", "13,000", "440,000"]


def test_every_estimate_in_a_summary_has_an_interval() -> None:
    parts = [
        line
        for line in words.summary(make_gap()).splitlines()
        if re.match("  - (Bas|Cov|Out)", line)
    ]
    assert len(parts) == 3
    assert all("interval" in line for line in parts)


OUTCOMES = (
    "The outcome itself behaves differently in the target: only outcomes from there can repair "
    "that, reweighting the old rows cannot; detail='recoverable' says what could be won back, and "
    "how."
)


def _steps(gap: Gap) -> list[str]:
    return suggestions(reading_of(gap, 0.95))
