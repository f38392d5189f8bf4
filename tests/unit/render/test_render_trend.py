"""The figure of several targets."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from result_factory import make_gap

from whygap.errors import SettingsError
from whygap.render.trend_figure import TrendDisplay
from whygap.results import Gaps

GAPS = {
    "March 2025": make_gap(corners=(0.80, 0.80, 0.79, 0.78), seed=1),
    "April 2025": make_gap(corners=(0.80, 0.79, 0.77, 0.70), seed=2),
    "May 2025": make_gap(corners=(0.80, 0.79, 0.77, 0.79), seed=3),
}


def test_the_change_its_parts_and_the_variables_each_on_one_scale() -> None:
    display = TrendDisplay.from_gaps(GAPS, 0.95, top=5).plot()
    change, *small = display.axes_
    assert len(small) == 3 + 5
    assert {ax.get_ylim() for ax in small[:3]} == {change.get_ylim()}
    assert len({ax.get_ylim() for ax in small[3:]}) == 1
    dots = [line.get_xydata()[0] for line in change.get_lines() if line.get_marker() == "o"]
    # One a target, and a ring around those that are off the mean of all.
    expected = [
        (k, gap.total.value)
        for k, (name, gap) in enumerate(GAPS.items())
        for _ in range(1 + (name in display.apart))
    ]
    assert "April 2025" in display.apart
    assert [tuple(dot) for dot in dots] == [pytest.approx(one) for one in expected]


def test_on_given_axes_the_change_alone() -> None:
    ax = Figure().add_subplot()
    display = TrendDisplay.from_gaps(GAPS).plot(ax)
    assert display.axes_ == (ax,)
    assert display.figure_ is ax.figure


def test_sites_are_not_joined_by_lines() -> None:
    def lines(names: list[str]) -> int:
        gaps = dict(zip(names, GAPS.values(), strict=True))
        return len(TrendDisplay.from_gaps(gaps).plot(Figure().add_subplot()).axes_[0].get_lines())

    assert lines(["2023", "2024", "2025"]) == lines(["north", "south", "west"]) + 1


def test_several_targets_draw_their_trend() -> None:
    assert len(Gaps(GAPS).plot(top=2).get_axes()) == 1 + 4 + 4  # two rows, places left empty
    with pytest.raises(SettingsError) as raised:
        Gaps(GAPS).plot("points")
    assert str(raised.value) == (
        "Several targets have no figure 'points'. gaps.plot() draws their trend, "
        "gaps['...'].plot('points') one of them."
    )


def test_one_result_has_no_trend() -> None:
    with pytest.raises(SettingsError) as raised:
        make_gap().plot("trend")
    assert str(raised.value) == (
        "A trend needs several targets. Got one result. many = wg.explain_many(study, targets), "
        "then many.plot()."
    )
