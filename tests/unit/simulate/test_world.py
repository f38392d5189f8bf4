import math

import numpy as np
import pytest

from whygap import simulate
from whygap.errors import SettingsError
from whygap.simulate.world import Corners, SubsetTruth, all_subsets, shares


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


@pytest.mark.parametrize("world", sorted(simulate.WORLDS))
def test_named_tables_have_the_expected_columns(world):
    source, target = simulate.tables(world, 50, seed=3)
    players = {"gaussian": 3, "comparison_a": 2, "comparison_b": 5, "untuned": 3}[world]
    expected = ["W", *(f"Z{j}" for j in range(1, players + 1)), "y", "prediction"]
    assert source.column_names == target.column_names == expected
    assert source.num_rows == 50
    assert set(source["y"].to_pylist()) <= {0, 1}
    assert 0 < min(source["prediction"].to_pylist()) < max(source["prediction"].to_pylist()) < 1


@pytest.mark.parametrize("world", sorted(simulate.WORLDS))
def test_one_seed_gives_one_table(world):
    first, again, other = (simulate.tables(world, 30, seed=s) for s in (5, 5, 6))
    assert first[0].equals(again[0])
    assert first[1].equals(again[1])
    assert not first[0].equals(other[0])


def test_categories_keep_their_labels():
    source, _ = simulate.tables("untuned", 40, seed=0)
    assert set(source["Z1"].to_pylist()) <= {"north", "east", "south", "west"}


def test_an_unknown_world_is_refused():
    with pytest.raises(SettingsError) as error:
        simulate.tables("gausian", 10, 0)
    assert str(error.value) == "There is no world 'gausian'. Did you mean 'gaussian'?"


def test_gaussian_tables_are_the_gaussian_world():
    source, target = simulate.gaussian.tables(4000, 0)
    assert np.mean(source["Z3"].to_numpy()) == pytest.approx(3, abs=0.15)
    assert np.mean(target["Z3"].to_numpy()) == pytest.approx(0, abs=0.15)
