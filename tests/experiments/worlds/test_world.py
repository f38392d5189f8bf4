import math

import pytest

from experiments.worlds.world import Corners, SubsetTruth, all_subsets, shares


def test_parts_of_the_corners_add_up():
    corners = Corners(0.9, 0.8, 0.85, 0.7)
    assert corners.baseline + corners.covariate + corners.outcome == pytest.approx(corners.gap)
    assert corners.gap == pytest.approx(-0.2)


def test_value_is_one_minus_the_ratio_and_undefined_without_a_shift():
    assert SubsetTruth(0.2, 0.8).value == pytest.approx(0.75)
    assert math.isnan(SubsetTruth(0.0, 0.0).value)


def test_all_subsets_come_by_size():
    assert all_subsets(2) == [(), (0,), (1,), (0, 1)]
    assert len(all_subsets(5)) == 32


def test_shares_of_a_known_game():
    """The glove game: player 0 holds a left glove, players 1 and 2 right gloves."""

    def value(subset):
        return float(0 in subset and len(subset) > 1)

    assert shares(value, 3) == pytest.approx([2 / 3, 1 / 6, 1 / 6])
