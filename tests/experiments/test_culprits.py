"""Points, groups and budgets in replicates: named as their truths, near them, light to run."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments import culprits
from experiments.pools import is_current, load_pool
from experiments.replicates import Config, replicate
from experiments.simulation import Order, config_truths
from experiments.summary import summarise
from experiments.worlds.few_levels import employment_of_few_levels

QUICK = {config.world: config for config, _ in culprits.plan(quick=True)}


@pytest.fixture(autouse=True)
def pool_is_found(monkeypatch):
    monkeypatch.chdir(culprits.__file__.rpartition("/experiments/")[0])


@pytest.mark.parametrize("world", ["untuned", "gaussian", "pool"])
def test_every_truth_is_estimated_and_lies_within_reach(world):
    config = replace(QUICK[world], rows=(2000, 2000))
    known, estimates = config_truths(config), replicate(config, 0)["estimates"]
    assert set(known) <= set(estimates)
    for name, truth in known.items():
        value, error, *_ = estimates[name]
        assert abs(value - truth) < 5 * error + 1e-3, name


def test_points_add_up_to_the_parts_in_truth_and_in_estimates():
    config = QUICK["untuned"]
    known = config_truths(config)
    estimates = {name: row[0] for name, row in replicate(config, 1)["estimates"].items()}
    # true parts and true points come from two grids, with errors of 2e-5 at the model's jump
    for values, slack in ((known, 5e-5), (estimates, 1e-6)):
        for part in ("baseline", "covariate"):
            points = math.fsum(v for k, v in values.items() if k.startswith(f"points {part} "))
            assert points == pytest.approx(values[f"aggregate {part}"], abs=slack)
        shares = [v for k, v in values.items() if k.startswith("recoverable here ")]
        total = values["recoverable here (total)"]
        assert math.fsum(shares) - total == pytest.approx(total, abs=1e-6)


def test_budgets_that_are_nothing_are_left_out():
    known = config_truths(QUICK["gaussian"])
    assert "recoverable here Z1" in known
    assert not [name for name in known if "at_home" in name or "on_target_mix" in name]


def test_real_rows_have_budgets_that_rows_can_show():
    known = [name for name in config_truths(QUICK["pool"]) if name.startswith("recoverable")]
    assert len(known) == 5
    assert all(name.endswith(("(total)", "(recalibration)")) for name in known)


def test_labels_differ_and_name_one_configuration():
    steps = culprits.plan(quick=False)
    labels = [config.label for config, _ in steps]
    assert len(set(labels)) == len(labels) == 16


def test_the_world_of_few_levels_is_the_one_that_is_kept():
    made, kept = employment_of_few_levels(), load_pool(culprits.POOL)
    assert is_current(culprits.POOL, culprits.POOL_OF)
    assert len(made.prediction) < 1200
    assert made.mass.source.sum() == pytest.approx(1)
    np.testing.assert_array_equal(made.features, kept.features)
    for name in ("prediction", "intercept", "slope"):
        np.testing.assert_allclose(getattr(made, name), getattr(kept, name))
    for mine, stored in ((made.mass, kept.mass), (made.risk, kept.risk)):
        np.testing.assert_allclose(mine.target, stored.target, rtol=1e-6)


def test_the_verdict_says_what_misses_the_bar():
    config = Config(world="gaussian", parts=culprits.CULPRITS)
    rng = np.random.default_rng(0)

    def line(seed):
        right, wrong = rng.normal(0, 0.1), rng.normal(0.1, 0.1)
        rows = {
            name: [value, 0.1, value - 0.1645, value + 0.1645, value]
            for name, value in (("points covariate Z1", right), ("points covariate Z2", wrong))
        }
        return {"config": config.label, "seed": seed, "estimates": rows, "defined": {},
                "effective_rows": {"pi_wz": 100.0 + seed}}  # fmt: skip

    lines = [line(seed) for seed in range(400)]
    rows = summarise(config, lines, {"points covariate Z1": 0.0, "points covariate Z2": 0.0})
    said = culprits.verdict([(config, 400)], rows, {config.label: lines})
    assert "| gaussian | defaults | 2,000+2,000 | 400 | 300 | " in said
    assert "**1 of 2 miss**, 1 by covering less | – | – |" in said


def test_the_page_is_written_from_what_is_kept(tmp_path):
    order = Order(tmp_path, quick=True, jobs=0)
    text = culprits.run(order).read_text(encoding="utf-8")
    assert "## Pool: rows of the shipped employment tables" in text
    assert text.count("Not run.") == 4
