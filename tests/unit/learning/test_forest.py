"""Trees as tables say what LightGBM says; a table that is binned once trains the same trees."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest

from whygap.learning.binned import BinnedTables
from whygap.learning.forest import Forest
from whygap.learning.trees import Binned

ROWS = 1500
LEVELS = 70  # three words of LightGBM's sets of categories


def table(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 6))
    x[:, 1] = np.where(rng.random(ROWS) < 0.1, np.nan, x[:, 1])
    x[:, 2] = rng.integers(0, 3, ROWS)
    x[:, 3] = rng.integers(0, LEVELS, ROWS)
    x[:, 4] = np.where(rng.random(ROWS) < 0.1, np.nan, rng.integers(0, 12, ROWS))
    x[:, 5] = rng.integers(0, 21, ROWS)
    return x


def outcome(x, seed=1):
    known = np.nan_to_num(x, nan=0.7)
    score = known[:, 0] + known[:, 1] * known[:, 2] - (known[:, 5] > 9)
    score += known[:, 3] % 3 - known[:, 4] % 2
    return (score + np.random.default_rng(seed).normal(size=len(x)) > 0).astype(float)


def grown(data, y, trees=20, leaves=12):
    data.set_label(y)
    parameters = {"objective": "binary", "num_leaves": leaves, "verbosity": -1, "num_threads": 1}
    booster = lgb.Booster({**parameters, "learning_rate": 0.5, "max_bin": 63}, data)
    for _ in range(trees):
        booster.update()
    return booster


def odd_rows():
    """Missing where training has seen none, levels it has not seen."""
    x = table(seed=2)
    x[:50, 0] = np.nan
    x[50:100, 3] = np.nan
    x[100:120, 3] = LEVELS + 40
    x[120:140, 3] = -1
    return x


@pytest.mark.parametrize("categorical", [(), (3, 4)])
@pytest.mark.parametrize("leaves", [2, 4, 12, 16])
def test_tables_say_what_lightgbm_says(categorical, leaves):
    x = table()
    booster = grown(Binned(x, categorical).data, outcome(x), leaves=leaves)
    forest, rows = Forest.of(booster), odd_rows()
    expected = booster.predict(rows, raw_score=True)
    np.testing.assert_allclose(forest.total(forest.possible(rows)), expected, atol=1e-12)
    apart = forest.possible(rows[:, :4]) & forest.possible(rows[:, 4:], first=4)
    np.testing.assert_array_equal(apart, forest.possible(rows))


def test_trees_without_a_split_are_constants():
    x = table()
    booster = grown(Binned(x[:30], ()).data, outcome(x)[:30], trees=2)
    forest = Forest.of(booster)
    expected = booster.predict(x, raw_score=True)
    np.testing.assert_allclose(forest.total(forest.possible(x)), expected, atol=1e-12)


@pytest.mark.parametrize("beside", [1, 2])
def test_columns_beside_a_binned_table_are_as_good_as_columns_of_it(beside):
    """Those beside have few values, so that their bins are the same."""
    x, rows = table(), np.arange(200, 1400)
    y, narrow = outcome(x)[rows], x[:, : 6 - beside]
    merged = grown(Binned(narrow, (3,)).take(rows, x[rows, 6 - beside :]), y)
    whole = grown(Binned(x, (3,)).take(rows), y)
    np.testing.assert_array_equal(merged.predict(x), whole.predict(x))
    assert merged.feature_importance()[-1] > 0


def test_all_rows_of_a_binned_table_train_the_same_trees():
    x = table()
    y, every = outcome(x), np.arange(ROWS)
    whole, taken = (grown(d, y) for d in (Binned(x, (3,)).data, Binned(x, (3,)).take(every)))
    np.testing.assert_array_equal(whole.predict(x), taken.predict(x))


def test_binned_tables_stay_in_their_process():
    tables = BinnedTables()
    tables.last["source",] = object()
    assert not pickle.loads(pickle.dumps(tables)).last  # noqa: S301
