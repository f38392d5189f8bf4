"""MeanChange, WuShift, ParametricChange, ParametricAcc, RandomForestAcc."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from rival_worlds import design_of, world_a, world_b
from scipy import stats

from experiments.rivals import covariate_rivals
from experiments.rivals.covariate_rivals import mean_change, subset_change, wu_shift
from experiments.rivals.importances import random_stream
from experiments.rivals.outcome_rivals import parametric_acc, parametric_change, random_forest_acc
from whygap.domains import ByDomain
from whygap.settings import Settings
from whygap.tables.design import Player

SETTINGS = Settings()


@pytest.fixture(scope="module")
def large_a():
    return world_a(4000, 1)


@pytest.fixture(scope="module")
def large_b():
    return world_b(4000, 1)


def plain(source, target, kind="numeric"):
    features = ByDomain(source, target)
    flat = features.map(lambda block: np.arange(len(block)) % 2.0)
    return design_of(features, flat, flat, baseline=0, kinds={0: kind})


def test_mean_change_is_welch_for_a_number():
    rng = np.random.default_rng(0)
    source, target = rng.normal(0, 1, (800, 1)), rng.normal(0.05, 2, (900, 1))
    found = mean_change(plain(source, target), SETTINGS)
    welch = stats.ttest_ind(source[:, 0], target[:, 0], equal_var=False).pvalue
    assert found.values[0] == pytest.approx(1 - welch, abs=2e-3)


def test_mean_change_of_a_category_is_close_to_the_chi_square_test():
    rng = np.random.default_rng(1)
    source = rng.choice([0.0, 1, 2], (900, 1), p=[0.5, 0.3, 0.2])
    target = rng.choice([0.0, 1, 2], (900, 1), p=[0.48, 0.3, 0.22])
    found = mean_change(plain(source, target, "category"), SETTINGS)
    table = [np.bincount(block[:, 0].astype(int), minlength=3) for block in (source, target)]
    assert found.values[0] == pytest.approx(1 - stats.chi2_contingency(table).pvalue, abs=5e-3)


def test_mean_change_leaves_missing_values_out():
    rng = np.random.default_rng(2)
    source, target = rng.normal(0, 1, (500, 1)), rng.normal(0.1, 1, (500, 1))
    source[::3], target[::7] = np.nan, np.nan
    found = mean_change(plain(source, target), SETTINGS)
    welch = stats.ttest_ind(source, target, equal_var=False, nan_policy="omit").pvalue[0]
    assert found.values[0] == pytest.approx(1 - welch, abs=3e-3)


def test_mean_change_counts_clusters():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(40), 25)
    blocks = [(rng.normal(size=40)[groups])[:, None] for _ in range(2)]
    alone = plain(*blocks)
    together = replace(alone, clusters=ByDomain(groups, groups))
    naive = mean_change(alone, SETTINGS).values[0]
    assert mean_change(together, SETTINGS).values[0] < naive


def test_mean_change_calls_every_moved_variable_important(large_a):
    assert mean_change(large_a, SETTINGS).values == pytest.approx([1.0, 1.0], abs=1e-9)


def test_wu_shift_cannot_tell_the_follower_from_the_leader(large_a):
    """Exact shares by simulation: -.0148 for z1, which shifted, and -.0150 for z2."""
    found = wu_shift(large_a, SETTINGS)
    assert found.values == pytest.approx([-0.0148, -0.0150], abs=0.009)
    whole = subset_change(large_a, (0, 1), 0) - subset_change(large_a, (), 0)
    assert found.values.sum() == pytest.approx(whole, abs=0.004)


def test_wu_shift_from_sampled_subsets_still_adds_up(monkeypatch):
    monkeypatch.setattr(covariate_rivals, "SUBSETS", 2)
    rng = np.random.default_rng(0)
    blocks = ByDomain(*(rng.normal(size=(150, 6)) for _ in range(2)))
    flat = blocks.map(lambda b: (b[:, 0] > 0).astype(float))
    design = design_of(blocks, flat, flat.map(np.zeros_like), baseline=0)
    found = wu_shift(design, SETTINGS)
    seed = int(random_stream(SETTINGS, "wu_shift").integers(2**31))
    whole = subset_change(design, tuple(range(6)), seed)
    none = subset_change(design, (), seed)
    assert found.values.sum() == pytest.approx(whole - none, abs=1e-9)
    assert found.ranking()[0] == "z1"


def test_parametric_change_equals_a_fully_written_logistic_model(large_b):
    found = parametric_change(large_b, SETTINGS)
    features = np.vstack(list(large_b.features))
    domain = np.repeat([0.0, 1.0], list(large_b.rows))[:, None]
    exog = np.column_stack([np.ones(len(domain)), domain, features, domain * features[:, 1:]])
    peer = sm.Logit(np.concatenate(list(large_b.outcome)), exog).fit(disp=False, cov_type="HC0")
    spread = features[:, 1:].std(axis=0)
    assert found.values == pytest.approx(peer.params[-5:] * spread, rel=1e-3, abs=1e-3)
    assert found.high is not None
    error = (found.high - found.values) / stats.norm.ppf(0.975)
    assert error == pytest.approx(peer.bse[-5:] * spread, rel=0.05)
    assert found.ranking()[0] == "z2"


def test_parametric_acc_is_flat_where_the_shift_is(large_b):
    found = parametric_acc(large_b, SETTINGS)
    assert found.ranking()[0] != "z1"
    assert np.abs(found.values).max() < 0.3


def test_parametric_acc_brings_any_loss_to_the_unit_interval(large_b):
    scaled = replace(
        large_b,
        term_intercept=large_b.term_intercept.map(lambda a: 5 * a - 2),
        term_slope=large_b.term_slope.map(lambda b: 5 * b),
    )
    here = parametric_acc(large_b, SETTINGS).values
    assert parametric_acc(scaled, SETTINGS).values == pytest.approx(here, abs=1e-9)


def test_random_forest_finds_what_makes_rows_hard_not_what_shifted(large_b):
    found = random_forest_acc(large_b, SETTINGS)
    assert found.ranking()[0] == "z2"
    assert 0 < found.values.sum() < 1


def test_random_forest_repeats_with_the_seed():
    design = world_a(300, 0)
    one, two, other = (random_forest_acc(design, Settings(seed=seed)).values for seed in (1, 1, 2))
    assert (one == two).all()
    assert not (one == other).all()


@pytest.mark.parametrize(
    "rival",
    [mean_change, parametric_change, parametric_acc, random_forest_acc, wu_shift],
)
def test_a_group_of_columns_is_one_player(rival):
    design = world_b(400, 0)
    grouped = replace(design, players=(Player("pair", (1, 2)), Player("rest", (3, 4, 5))))
    found = rival(grouped, SETTINGS)
    assert found.names == ("pair", "rest")
    assert np.isfinite(found.values).all()
    assert found.assumptions
    assert found.misleads
