"""Figures: what is drawn is what the result says, for every awkward case."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from result_factory import NASTY_NAMES, make_gap, many_players, with_parts

from whygap.errors import InputError, ResultError, SettingsError
from whygap.estimate import Estimate
from whygap.render import plot, report, style
from whygap.render.lines import framed
from whygap.render.plot import (
    OverlapDisplay,
    PointsDisplay,
    RecoverableDisplay,
    SharesDisplay,
    WaterfallDisplay,
    WhereDisplay,
)
from whygap.results import Gap


def test_waterfall_walks_from_source_to_target() -> None:
    gap = make_gap()
    display = WaterfallDisplay.from_gap(gap, 0.9)
    assert display.plot() is display
    bars = [bar for bar in display.ax_.patches if bar.get_height() == pytest.approx(0.7)]
    assert [bar.get_x() for bar in bars] == pytest.approx([0.804, 0.797, 0.781])
    assert [bar.get_width() for bar in bars] == pytest.approx([-0.007, -0.016, -0.049])
    *_, outcome, target = display.walk.steps
    assert outcome.end == pytest.approx(target.estimate.value)
    low, high = gap.parts["outcome"].interval(0.9)
    assert outcome.whisker(0.9) == pytest.approx((outcome.start + low, outcome.start + high))


def test_parts_open_into_variables_that_end_where_the_part_ends() -> None:
    gap = make_gap(covariate=many_players(30), outcome=None)
    steps = WaterfallDisplay.from_gap(gap, top=4).walk.steps
    part = next(step for step in steps if step.key == "covariate" and not step.is_variable)
    inside = [step for step in steps if step.key == "covariate" and step.is_variable]
    assert [step.name for step in inside] == [
        *gap.points["covariate"].largest_first()[:4],
        "26 others",
    ]
    assert inside[0].start == part.start
    assert inside[-1].end == pytest.approx(part.end, abs=1e-12)
    assert all(a.end == b.start for a, b in itertools.pairwise(inside))


def test_waterfall_leaves_hollow_what_is_not_distinguishable_from_0() -> None:
    display = WaterfallDisplay.from_gap(make_gap(), 0.95, top=0).plot()
    white = (1.0, 1.0, 1.0, 1.0)
    assert [bar.get_facecolor() == white for bar in display.ax_.patches] == [False, True, False]
    assert display.ax_.get_xlabel() == "Hollow bars: not distinguishable from 0"


def test_waterfall_without_baseline_has_two_steps() -> None:
    gap = make_gap(baseline=(), corners=(0.8, 0.8, 0.75, 0.7))
    steps = WaterfallDisplay.from_gap(gap, top=0).walk.steps
    assert [step.key for step in steps] == ["source", "covariate", "outcome", "target"]


def test_shares_are_drawn_largest_first_with_intervals_and_top_group() -> None:
    gap = make_gap()
    display = SharesDisplay.from_gap(gap, "covariate", 0.95).plot()
    assert [line.name for line in display.block.lines][:2] == ["schooling", "mobility"]
    assert display.leading == ("schooling",)
    for line in display.block.lines:
        assert line.estimate is gap.shares["covariate"].values[line.name]
    drawn = [tuple(line.get_xdata()) for line in display.ax_.lines]
    assert gap.shares["covariate"].values["schooling"].interval(0.95) in drawn
    filled = [dot.get_markerfacecolor() for dot in display.ax_.lines if dot.get_marker() == "o"]
    assert [colour != "white" for colour in filled] == [True, *[False] * 5]
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert labels[0] == "schooling"


def test_smaller_shares_add_up_into_one_line() -> None:
    gap = make_gap(outcome=many_players(60), covariate=None)
    whole = SharesDisplay.from_gap(gap, "outcome").block.lines
    lines = SharesDisplay.from_gap(gap, "outcome", top=10).block.lines
    assert len(lines) == 12
    assert lines[-1].name == "50 others"
    total = sum(line.estimate.value for line in whole)
    assert sum(line.estimate.value for line in lines) == pytest.approx(total)
    low, high = lines[-1].estimate.interval(0.95)
    assert low < lines[-1].estimate.value < high


def test_unbounded_intervals_get_arrows() -> None:
    gap = make_gap(share_noise=0.3)
    display = SharesDisplay.from_gap(gap, "outcome", 0.99).plot()
    assert display.block.lines[1].estimate.interval(0.99)[1] == float("inf")
    arrows = [line.get_marker() for line in display.ax_.lines]
    assert "<" in arrows
    assert ">" in arrows


def test_undefined_shares_are_words_not_bars() -> None:
    display = SharesDisplay.from_gap(make_gap(defined=()), "outcome").plot()
    assert len(display.ax_.patches) == 0
    assert any("Undefined. Their size" in text.get_text() for text in display.ax_.texts)


def test_overlap_draws_what_was_recorded() -> None:
    gap = make_gap()
    overlap = OverlapDisplay.from_gap(gap).plot()
    assert overlap.ax_.patches[1].get_width() == pytest.approx(0.91)


def test_points_are_drawn_by_part_largest_first() -> None:
    gap = make_gap()
    display = PointsDisplay.from_gap(gap, 0.9).plot()
    baseline, covariate = display.blocks
    assert [line.name for line in baseline.lines] == gap.points["baseline"].largest_first()
    widths = [bar.get_width() for bar in display.ax_.patches]
    values = [line.estimate.value for line in (*baseline.lines, *covariate.lines)]
    assert widths == pytest.approx(values)
    assert sum(values[:3]) == pytest.approx(gap.parts["baseline"].value)


def test_groups_have_simultaneous_whiskers_and_rules_stand_below() -> None:
    gap = make_gap()
    display = WhereDisplay.from_gap(gap, 0.9, top=2).plot()
    assert [block.title for block in display.blocks][-1] == "Confirmed rules"
    variable = display.blocks[0].title
    together = zip(
        gap.affected["outcome"].groups, gap.affected["outcome"].simultaneous(0.9), strict=True
    )
    ends = [ends for group, ends in together if group.variable == variable]
    assert display.blocks[0].intervals(0.9) == ends
    drawn = [tuple(line.get_xdata()) for line in display.ax_.lines]
    assert set(ends) <= set(drawn)
    assert gap.affected["outcome"].rules[0].interval in drawn


def test_one_variable_can_be_asked_for() -> None:
    gap = make_gap()
    blocks = WhereDisplay.from_gap(gap, variable="mobility").blocks
    assert [line.name for line in blocks[0].lines] == [
        g.label for g in gap.affected["outcome"].groups_of("mobility")
    ]
    with pytest.raises(ResultError) as caught:
        gap.plot("affected", variable="mobilty")
    assert str(caught.value) == (
        "There are no groups of 'mobilty' in this result. Did you mean 'mobility'?"
    )


def test_budgets_are_stacked_to_the_whole_squared_error() -> None:
    gap = make_gap()
    display = RecoverableDisplay.from_gap(gap).plot()
    pieces = display.bars[0].pieces()
    here = gap.recoverable
    assert sum(pieces.values()) == pytest.approx(here.total.value + here.irreducible.value)
    assert pieces["recalibration"] == pytest.approx(here.recalibration.value)
    assert display.bars[1].pieces()["variables"] == 0.0
    assert display.block.lines[0].name == "recalibrating the score"


def test_an_unknown_figure_suggests_one() -> None:
    with pytest.raises(SettingsError) as caught:
        make_gap().plot("pionts")
    assert str(caught.value) == "There is no figure 'pionts'. Did you mean 'points'?"


@pytest.mark.parametrize("what", ["points", "affected", "recoverable", "shares"])
def test_what_was_not_asked_for_is_said_in_the_figure(what: str) -> None:
    gap = make_gap(outcome=None, covariate=None, culprits=())
    assert plot.drawn(gap.plot(what), "png", dpi=40).startswith(b"\x89PNG")


def test_given_axes_are_used_and_pyplot_is_never_touched() -> None:
    gap, before, shown = make_gap(), dict(mpl.rcParams), pyplot_figures()
    figure = Figure()
    ax = figure.add_subplot()
    assert WaterfallDisplay.from_gap(gap).plot(ax).ax_ is ax
    assert WaterfallDisplay.from_gap(gap).plot(ax).figure_ is figure
    inside = RecoverableDisplay.from_gap(gap).plot(Figure().add_subplot())
    assert len(inside.axes_) == 2
    pair = Figure().subplots(2, 1)
    assert RecoverableDisplay.from_gap(gap).plot(tuple(pair)).axes_ == tuple(pair)
    assert dict(mpl.rcParams) == before
    assert pyplot_figures() == shown


def pyplot_figures() -> list[int]:
    """The figures pyplot holds; none, and no import, where nobody asked for pyplot."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return [] if pyplot is None else pyplot.get_fignums()


AWKWARD: dict[str, dict[str, object]] = {
    "one player": {"outcome": {"x": 0.3}, "covariate": {"x": 1.0}},
    "undefined": {"defined": ()},
    "aggregate only": {"outcome": None, "covariate": None},
    "tiny": {"metric": "cost", "corners": (1.2e-8, 1.21e-8, 1.3e-8, 1.53e-8)},
    "huge": {"metric": "cost", "corners": (2e12, 2e12, 3e12, 4e12)},
    "no change": {"corners": (0.8, 0.8, 0.8, 0.8)},
}


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_cases_are_drawn_without_warnings(case: str) -> None:
    figure = make_gap(**AWKWARD[case]).plot()
    assert plot.drawn(figure, "png", dpi=40).startswith(b"\x89PNG")


def test_any_script_stays_text_in_svg_and_formulas_are_not_read() -> None:
    gap = make_gap(outcome={**dict.fromkeys(NASTY_NAMES, 0.1), "$x^2$ and $": 0.1}, covariate=None)
    svg = plot.drawn(SharesDisplay.from_gap(gap, "outcome").plot().figure_, "svg").decode()
    assert "<script>" not in svg
    for name in ("&lt;script&gt;alert(1)&lt;/script&gt;", "العمر عند الدخول", "年齢と学歴", "🙂"):
        assert name in svg
    assert "$x^2$ and $" in svg


def test_files_are_written_by_their_ending_and_are_reproducible(tmp_path: Path) -> None:
    gap = make_gap(outcome=None, covariate=None)
    for kind, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        path = plot.save_figure(gap.plot(), tmp_path / f"gap.{kind}")
        assert path.read_bytes().startswith(start)
        assert plot.drawn(gap.plot(), kind) == path.read_bytes()
    with pytest.raises(InputError) as caught:
        plot.save_figure(gap.plot(), tmp_path / "gap.bmp")
    assert str(caught.value) == (
        "A figure is written as .svg, .png or .pdf. Got 'gap.bmp'. Try gap.svg."
    )


def test_labels_break_where_names_can_be_broken() -> None:
    assert style.label("non-citizens", 11) == "non-\ncitizens"
    assert style.label("short", 11) == "short"
    assert style.label("a_long_name_in_snake_case", 12).count("\n") == 1
    assert max(map(len, style.label("x" * 100, 11).split("\n"))) <= 11


def test_part_colours_differ_in_grey() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    ordered = sorted(map(lightness, style.COLOURS.values()))
    assert all(b - a > 0.12 for a, b in itertools.pairwise(ordered))


def test_level_defaults_to_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = make_gap()
    seen: list[float] = []
    original = WaterfallDisplay.from_gap.__func__

    def watch(cls: type, of: Gap, level: float, top: int) -> WaterfallDisplay:
        seen.append(level)
        return original(cls, of, level, top)

    monkeypatch.setattr(WaterfallDisplay, "from_gap", classmethod(watch))
    gap.plot()
    gap.plot(level=0.8)
    assert seen == [0.95, 0.8]


def wide(estimate: Estimate, times: float) -> Estimate:
    return replace(estimate, standard_error=times * estimate.standard_error, influence=None)


def with_wide_outcome() -> Gap:
    """One part known far less well than the others."""
    gap = make_gap()
    return with_parts(gap, outcome=wide(gap.parts["outcome"], 40))


def test_one_wide_interval_does_not_flatten_the_walk_and_ends_in_arrows() -> None:
    gap = with_wide_outcome()
    display = WaterfallDisplay.from_gap(gap).plot()
    low, high = display.ax_.get_xlim()
    assert high - low < 5 * abs(gap.total.value)
    marks = [line.get_marker() for line in display.ax_.lines]
    assert (marks.count("<"), marks.count(">")) == (1, 1)
    narrow = WaterfallDisplay.from_gap(make_gap()).plot()
    assert {"<", ">"}.isdisjoint(line.get_marker() for line in narrow.ax_.lines)


def test_where_most_intervals_have_no_end_the_few_others_do_not_set_the_frame() -> None:
    """As with shares of a whole that is hardly told from 0: two ends at -39,000%, six nowhere."""
    endless = [(-math.inf, math.inf)] * 6
    low, high = framed([0.85, -0.43, 0.0], [*endless, (-390.0, 0.2), (-2.0, 0.3)], 0.06)
    assert -2.5 < low < -0.43
    assert 0.85 < high < 2.5
    wide = framed([0.85, -0.43, 0.0], [(-3.0, 3.0)] * 3, 0.06)
    assert wide[0] <= -3 <= 3 <= wide[1], "a middling width that ends is shown"


def test_the_walk_of_the_page_ends_cut_intervals_in_arrows() -> None:
    page = report.html({"": with_wide_outcome()}, 0.95)
    assert 'class="outcome unclear down up"' in page
    assert page.count('class="cut up"') == page.count('class="cut down"') == 5
    for part in ("baseline", "covariate"):
        assert f'class="{part} ' in page
        assert f'class="{part} down' not in page
    shown = with_wide_outcome()._repr_html_()
    assert 'class="outcome unclear down up"' in shown
    assert "down" not in make_gap()._repr_html_().partition("</style>")[2].partition("</svg>")[0]


def test_an_interval_wholly_outside_is_an_arrow_at_the_edge() -> None:
    ax = style.axes_of(None, 3, 2)
    ax.set_xlim(0, 1)
    style.whisker(ax, 0, (-5, -3))
    line = ax.lines[0].get_xdata()
    assert min(line) >= 0
    assert max(line) <= 0.05
    assert [one.get_marker() for one in ax.lines[2:]] == ["<"]
