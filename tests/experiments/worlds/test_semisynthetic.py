"""A world made from real tables: its truths are weighted sums over the pool."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.worlds import semisynthetic
from experiments.worlds.untuned import UntunedWorld
from whygap.datasets import load_employment
from whygap.domains import ByDomain


@pytest.fixture(scope="module")
def employment():
    return semisynthetic.from_design(load_employment().study(metric="accuracy").design)


def test_the_pool_is_both_tables(employment):
    assert len(employment.prediction) == 8000 + 3655
    for mass in employment.mass:
        assert mass.sum() == pytest.approx(1)
        assert mass.min() > 0
    odds = employment.mass.target / employment.mass.source
    assert odds.max() / odds.min() <= (0.95 / 0.05) ** 2 * (1 + 1e-9)


def test_truths_by_pandas(employment):
    """The same sums, written with groupby."""
    world, subset, bins = employment, (0,), 20
    columns = list(world.subset_columns(subset))
    frame = pd.DataFrame(world.features[:, columns]).add_prefix("x")
    keys = [*frame.columns, "bin"]
    frame["bin"] = np.floor(world.risk.source * bins + 0.5)
    frame["mass"], frame["top"] = world.mass.target, world.mass.target * world.risk.target
    sums = frame.groupby(keys, dropna=False)[["mass", "top"]].transform("sum")
    m = (sums["top"] / sums["mass"]).to_numpy()
    numerator = np.sum(world.mass.target * (world.risk.target - m) ** 2)
    denominator = np.sum(world.mass.target * (world.risk.target - world.risk.source) ** 2)
    truth = world.outcome_truth(subset, bins)
    assert truth.numerator == pytest.approx(numerator, rel=1e-10)
    assert truth.denominator == pytest.approx(denominator, rel=1e-10)


def test_there_is_a_gap_with_three_parts(employment):
    c = employment.corners()
    assert max(c.baseline, c.covariate, c.outcome) < -0.01
    assert 0 < employment.outcome_truth(()).value < 1
    assert employment.covariate_truth((0,)).value == pytest.approx(0.64, abs=0.1)


def test_drawn_rows_average_to_the_corners(employment):
    design = employment.draw(ByDomain(30_000, 30_000), np.random.default_rng(0))
    c = employment.corners()
    for values, expected in ((design.loss.source, c.mean_000), (design.loss.target, c.mean_111)):
        assert abs(values.mean() - expected) < 4.5 * values.std() / np.sqrt(30_000)


def test_one_seed_gives_one_world():
    design = UntunedWorld().draw(ByDomain(600, 400), np.random.default_rng(0))
    one, two = (semisynthetic.from_design(design, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.risk.source, two.risk.source)
    np.testing.assert_array_equal(one.mass.target, two.mass.target)
    assert one.players == ("Z1", "Z2", "Z3")


def test_survey_weights_multiply_the_masses():
    design = UntunedWorld().draw(ByDomain(600, 400), np.random.default_rng(0))
    weights = design.rows.map(lambda n: np.linspace(0.5, 2, n))
    plain, weighted = (
        semisynthetic.from_design(d) for d in (design, replace(design, weights=weights))
    )
    ratio = weighted.mass.source / plain.mass.source / np.concatenate(list(weights))
    assert np.ptp(ratio) < 1e-12


def test_missing_values_form_a_level_of_their_own():
    design = UntunedWorld().draw(ByDomain(600, 400), np.random.default_rng(1))
    holed = design.features.map(lambda x: np.where(x == 3, np.nan, x))
    world = semisynthetic.from_design(replace(design, features=holed))
    level = world.codes((1,))
    assert len(np.unique(level)) == 4
    assert np.isfinite(world.outcome_truth((0,)).value)
