"""Odd studies, from tables to parts: they work, and what is wrong with them is said."""

from __future__ import annotations

import numpy as np
import pytest
from small_study import fast, make_study, tables, warnings_of

import whygap as wg


@pytest.fixture(scope="module")
def pair():
    return tables(200, 150)


def finite_parts(gap: wg.Gap) -> bool:
    parts = [gap.total, *gap.parts.values()]
    return all(np.isfinite([e.value, e.standard_error]).all() for e in parts)


@pytest.mark.parametrize(("column", "where"), [("a", "all variables"), ("w", "baseline variables")])
def test_separable_domains_give_numbers_and_a_warning(pair, column, where):
    source, target = pair
    gap = wg.explain(
        make_study(source, target.assign(**{column: target[column] + 100})),
        detail=(),
        settings=fast(support="all"),
    )
    assert finite_parts(gap)
    separated = gap.problems()[-1]
    assert separated.startswith(f"Column '{column}' looks recorded differently in the two tables")
    text = " ".join(gap.problems())
    assert f"The domains overlap poorly on {where}: the weights average 0.00 instead of 1" in text


@pytest.mark.parametrize("learner", ["fast", "boosted"])
def test_a_category_of_ten_thousand_levels_is_a_player_like_others(learner):
    rng = np.random.default_rng(0)
    # A few levels are frequent, so that the column is kept; most rows have a level of their own.
    pair = [
        t.assign(c=[f"L{k}" for k in np.where(rng.random(len(t)) < 0.3, 1, many)])
        for t, many in ((t, rng.integers(0, 10_000, len(t))) for t in tables(300, 250))
    ]
    gap = wg.explain(make_study(*pair), detail=(), settings=fast(learner=learner))
    assert "c" in gap.about.players
    assert finite_parts(gap)


def test_a_category_of_rare_levels_only_is_left_out_and_named():
    rng = np.random.default_rng(0)
    pair = [
        t.assign(c=[f"L{k}" for k in rng.integers(0, 10_000, len(t))]) for t in tables(300, 250)
    ]
    gap = wg.explain(make_study(*pair), detail=(), settings=fast())
    assert any("all levels are rare" in text and "'c'" in text for text in warnings_of(gap))
    assert "c" not in gap.about.players


def test_a_constant_prediction_is_no_obstacle(pair):
    gap = wg.explain(
        make_study(*(t.assign(risk=0.3) for t in pair)), detail="shares", settings=fast()
    )
    assert finite_parts(gap)
    assert gap.total.value == pytest.approx((1 - pair[1]["y"]).mean() - (1 - pair[0]["y"]).mean())


def test_a_model_that_is_always_right_has_no_gap(pair):
    with pytest.warns(
        wg.errors.WhygapWarning, match="The prediction gives the outcome in every row"
    ):
        gap = wg.explain(
            make_study(*(t.assign(risk=0.1 + 0.8 * t["y"]) for t in pair)),
            detail=(),
            settings=fast(),
        )
    assert gap.total.value == 0
    assert finite_parts(gap)
    assert gap.source.value == gap.target.value == 1


def test_one_column_and_no_baseline(pair):
    gap = wg.explain(
        make_study(*pair, covariates=["a"], baseline=[]), detail="shares", settings=fast()
    )
    assert finite_parts(gap)
    assert "baseline" not in gap.parts
    assert list(gap.shares["outcome"].values) in ([], ["a"])
