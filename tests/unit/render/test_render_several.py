"""Several targets in words and on one page."""

from __future__ import annotations

import re
from pathlib import Path

from result_factory import make_gap

import whygap as wg
from whygap.render import report
from whygap.render.several import many_sentence, many_sentences, shared_units
from whygap.render.trend import trend_of
from whygap.results import Gaps

SAME = make_gap(corners=(0.8, 0.81, 0.80, 0.795))
GAPS = {"B": make_gap(), "C": make_gap(corners=(0.8, 0.83, 0.78, 0.60), seed=3), "D": SAME}


def test_where_the_metric_moved_and_where_the_most() -> None:
    assert many_sentence(GAPS, 0.95) == (
        "Accuracy fell in 2 and did not clearly change in 1 of 3 targets, looked at together. It "
        "moved most for C: -20.0 points (95% interval -24.1 to -15.9)."
    )
    assert many_sentence({"D": SAME, "E": SAME}, 0.95) == (
        "Accuracy did not clearly change in any of 2 targets, looked at together."
    )


def test_who_differs_and_through_what() -> None:
    assert many_sentences(GAPS, 0.95)[1:] == [
        (
            "Compared with its mean over all 3 targets, accuracy is clearly below it for C (by "
            "10.9 points, 8.1 to 13.7) and above it for D (by 8.6 points, 5.9 to 11.3)."
        ),
        (
            "Of the parts of the change, baseline is clear in 3, outcome in 2 and covariates in 1 "
            "of 3 targets."
        ),
    ]
    assert many_sentences({"D": SAME, "E": SAME}, 0.95)[1:] == [
        "No target differs clearly from the mean of all 2 targets.",
        "Of the parts of the change, baseline is clear in 2 of 2 targets.",
    ]


def test_all_targets_are_written_with_the_digits_of_the_least_known() -> None:
    few = make_gap(rows=(160, 70))
    assert shared_units({"B": make_gap(rows=(160_000, 70_000)), "C": few}).decimals == 1


def test_lines_join_targets_in_time_only() -> None:
    assert trend_of({"Jan 2025": SAME, "2025-02": SAME, "Q3": SAME}).in_time
    assert not trend_of({"Jan 2025": SAME, "site B": SAME}).in_time
    assert not trend_of({"Mayo Clinic": SAME, "Marseille": SAME}).in_time


def test_the_page_of_saved_results_is_that_of_the_run(tmp_path: Path) -> None:
    kept = {name: wg.load(gap.save(tmp_path / f"{name}.json")) for name, gap in GAPS.items()}
    ours = report.write_many(GAPS, tmp_path / "ours.html", 0.95).read_text("utf-8")
    assert Gaps(kept).report(tmp_path / "again.html", 0.95).read_text("utf-8") == ours


def test_every_target_has_a_mark_in_every_chart_and_a_page_one_click_away() -> None:
    page = report.html(GAPS, 0.95)
    marks = [int(k) for k in re.findall(r'data-mark="(\d+)"', page)]
    assert marks == list(range(len(marks)))
    for k in (1, 2, 3):
        assert page.count(f'href="#t{k}"') == 2  # its dot and its line of the table
        assert f'<article class="target" id="t{k}"' in page
    assert page.count('href="#all"') == len(GAPS)


def test_a_notebook_shows_all_targets_without_scripts() -> None:
    shown = Gaps(GAPS)._repr_html_()
    assert "<script" not in shown
    assert many_sentence(GAPS, 0.95).split(". ")[0] in shown
    assert shown.count("<tr>") == 1 + len(GAPS)
    assert shown.count("data-mark") == len(GAPS)
    assert Gaps({"D": SAME})._repr_html_() == SAME._repr_html_()
