"""The revision in words, figure and page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from result_factory import NASTY_NAMES, make_gap
from revision_factory import make_revision

from whygap.errors import ResultError
from whygap.render import plot, report
from whygap.render.plot import RevisionDisplay
from whygap.render.revision import (
    MEASURED,
    curve_for,
    curve_of,
    load_revision,
    revision_sentences,
)


def test_the_words_say_what_each_step_brings() -> None:
    assert revision_sentences(curve_of(make_revision(), "accuracy"), 0.95) == [
        (
            "Corrected on outcomes from the target, the model's accuracy goes from 73.2% to 75.1% "
            "(gain +1.9 points, 95% interval +0.9 to +2.9) by the source risk and the baseline "
            "alone, and to 77.3% (gain +4.1 points, 95% interval +3.1 to +5.1) with schooling and "
            "ancestry as well."
        ),
        (
            "Refitted there with every variable, it reaches 77.7% (gain +4.5 points, 95% interval "
            "+3.5 to +5.5); that is about all that these rows can give."
        ),
        (
            "Without any outcome from the target, retraining on reweighted source rows gets to "
            "73.3% (gain +0.1 points, 95% interval -0.9 to +1.1: no clear gain) at best."
        ),
    ]


def test_of_the_rows_it_is_their_outcomes_that_no_fit_has_seen() -> None:
    """Reweighting learns from the features of all target rows."""
    assert MEASURED.startswith("Every line is scored on target rows whose outcomes its fit has not")


def test_a_revision_that_harms_is_called_that() -> None:
    words = revision_sentences(curve_of(make_revision(factor=-1.0), "auc"), 0.95)
    assert "(gain -0.019, 95% interval -0.029 to -0.009: clearly worse)" in words[0]


def test_a_loss_that_falls_is_a_gain() -> None:
    curve = curve_of(make_revision(), "brier")
    assert [round(c.gain.value, 3) for c in curve.of("targeted")] == [0.019, 0.034, 0.041]
    assert curve.of("targeted")[2].score.value == pytest.approx(0.134)


def test_intervals_follow_the_level() -> None:
    gain = curve_of(make_revision(), "auc").of("retrained")[0].gain
    assert gain.interval(0.95) == pytest.approx((0.0352, 0.0548))
    assert gain.standard_error == pytest.approx(0.005, rel=1e-3)


def test_lines_name_the_variable_they_add() -> None:
    curve = curve_of(make_revision())
    assert [choice.label for choice in curve.choices] == [
        "the model as it is",
        "corrected by the baseline",
        "+ schooling",
        "+ ancestry",
        "reweighted by the baseline",
        "+ mobility",
        "+ schooling",
        "refitted with all variables",
    ]


@pytest.mark.parametrize(
    ("metric", "score"), [("zero_one", "accuracy"), ("brier", "brier"), ("cost", "auc")]
)
def test_the_page_shows_the_score_that_was_explained(metric: str, score: str) -> None:
    gap = make_gap()
    gap = replace(gap, about=replace(gap.about, metric=metric))
    assert curve_for(gap, make_revision()).score == score


def test_a_revision_of_another_study_is_refused() -> None:
    with pytest.raises(ResultError) as caught:
        curve_for(make_gap(), make_revision(outcome_order=("schoolin", "ancestry")))
    assert str(caught.value) == (
        "The revision uses 'schoolin', which is no variable of this result. "
        "Did you mean 'schooling'?"
    )


def test_a_score_that_is_not_there_is_refused() -> None:
    with pytest.raises(ResultError, match="The revision has no log loss"):
        curve_of(make_revision(), "log_loss")
    with pytest.raises(ResultError, match="There is no score 'acuracy' in a revision"):
        curve_of(make_revision(), "acuracy")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not a whole revision"),
        ("[]", "This is not a revision"),
        ('{"level": 0.95}', "This is not a revision. Got no field 'ranking'"),
        (None, "cannot be read"),
    ],
)
def test_files_that_are_no_revision_are_refused(
    tmp_path: Path, text: str | None, words: str
) -> None:
    path = tmp_path / "revision.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ResultError, match=re.escape(words)):
        load_revision(path)


def test_the_figure_draws_every_interval_and_keeps_to_its_axes(tmp_path: Path) -> None:
    display = RevisionDisplay.from_revision(make_revision(), "accuracy").plot()
    lines = [line for line in display.ax_.lines if len(line.get_xdata()) == 2]
    spans = {tuple(round(float(x), 4) for x in line.get_xdata()) for line in lines}
    assert (0.0352, 0.0548) in spans
    assert len(lines) == 1 + 2 * 7  # the line at 0, and one interval per choice, with its halo
    assert plot.RevisionDisplay.from_revision(make_revision()).plot(display.ax_).ax_ is display.ax_
    assert plot.save_figure(display.figure_, tmp_path / "revision.svg").exists()


def test_the_page_has_a_row_per_choice_at_every_level(tmp_path: Path) -> None:
    path = report.write(make_gap(), tmp_path / "gap.html", 0.95, make_revision())
    html = path.read_text(encoding="utf-8")
    assert html.count("<tr data-choice") == 8
    found = re.search(r'<script type="application/json" data-payload>(.*?)</script>', html)
    levels = json.loads(found[1])["levels"]
    assert {len(levels[key]["lines"]["revision"]) for key in levels} == {8}
    assert levels["0.95"]["lines"]["revision"][1][2] == "+0.9 to +2.9"
    assert "What revising the model would bring" not in report.html({"": make_gap()}, 0.95)


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    gap = make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1), covariate=None)
    revision = make_revision(NASTY_NAMES[:2], NASTY_NAMES[2:4])
    revision["ranking"][2] = revision["covariate_ranking"][2] = NASTY_NAMES[4]
    html = gap.report(tmp_path / "gap.html", revision=revision).read_text(encoding="utf-8")
    assert "<script>alert(1)" not in html
    assert "+ &lt;script&gt;alert(1)&lt;/script&gt;" in html
    RevisionDisplay.from_revision(revision).plot()
