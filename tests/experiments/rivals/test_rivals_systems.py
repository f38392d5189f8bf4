"""DISDE, the region of Liu et al., AUC regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rival_worlds import design_of, world_a, world_b
from scipy import special, stats

from experiments.rivals import auc_regression, disde, region
from whygap.domains import ByDomain
from whygap.errors import FitError, ModelError
from whygap.settings import Settings

SETTINGS = Settings()


def normal_world(rows, seed, target_mean=1.0, flip=0.0):
    """One normal covariate; p_0 and p_1 known, so the shared distribution is too."""
    rng = np.random.default_rng(seed)
    x = ByDomain(rng.normal(0, 1, (rows, 1)), rng.normal(target_mean, 1, (rows, 1)))
    risk = ByDomain(special.expit(2 * x.source[:, 0]), special.expit(2 * x.target[:, 0] - flip))
    outcome = risk.map(lambda p: (rng.random(rows) < p).astype(float))
    return design_of(x, outcome, x.map(lambda block: special.expit(2 * block[:, 0])), baseline=0)


def shared_truth(shift_of_logit):
    """E_S[P(right)] by quadrature, S proportional to p_0 p_1 / (p_0 + p_1)."""
    grid = np.linspace(-8, 9, 40001)
    p_0, p_1 = stats.norm.pdf(grid), stats.norm.pdf(grid - 1)
    crossfit = p_0 * p_1 / (p_0 + p_1)
    risk = special.expit(2 * grid - shift_of_logit)
    right = np.where(grid >= 0, risk, 1 - risk)
    return float(np.sum(crossfit * right) / np.sum(crossfit))


def test_disde_finds_the_four_means():
    design = normal_world(6000, 0, flip=1.5)
    found = disde.decompose(design, SETTINGS)
    assert found.shared_source.value == pytest.approx(
        shared_truth(0.0), abs=4 * found.shared_source.standard_error
    )
    assert found.shared_target.value == pytest.approx(
        shared_truth(1.5), abs=4 * found.shared_target.standard_error
    )
    total = found.source_to_shared + found.outcome + found.shared_to_target
    assert total.value == pytest.approx(found.target.value - found.source.value, abs=1e-12)


def test_disde_weights_are_the_shared_density_whatever_the_sizes():
    """e = a p_1 / (a p_1 + (1 - a) p_0) gives weights proportional to p_1 / (p_0 + p_1)."""
    p_0, p_1 = np.array([0.2, 0.5, 0.9]), np.array([0.6, 0.5, 0.1])
    for rows in (ByDomain(100, 100), ByDomain(100, 900)):
        share = rows.target / (rows.source + rows.target)
        e = share * p_1 / (share * p_1 + (1 - share) * p_0)
        weights = disde.shared_weights(ByDomain(e, e), rows)
        assert weights.source == pytest.approx(p_1 / (p_0 + p_1))
        assert weights.target == pytest.approx(p_0 / (p_0 + p_1))


def test_disde_sees_no_outcome_shift_where_there_is_none():
    found = disde.importance(world_a(3000, 0), SETTINGS)
    assert found.low is not None
    assert found.high is not None
    middle = found.names.index("Y given X: shared")
    assert found.low[middle] < 0 < found.high[middle]


def test_region_finds_the_box():
    rng = np.random.default_rng(0)
    x = ByDomain(*(rng.uniform(-1, 1, (3000, 3)) for _ in range(2)))
    box = x.map(lambda b: (b[:, 1] > 0.2) & (b[:, 2] < 0.4))
    risk = ByDomain(np.full(3000, 0.2), np.where(box.target, 0.9, 0.2))
    outcome = risk.map(lambda p: (rng.random(3000) < p).astype(float))
    design = design_of(x, outcome, x.map(lambda b: np.zeros(len(b))))
    found = region.find_region(design, Settings(folds=3))
    assert {rule.split(" ")[0] for rule in found.rule} <= {"z1", "z2"}
    assert found.difference.value == pytest.approx(0.7, abs=0.1)
    assert found.size.value == pytest.approx(0.28, abs=0.08)
    low, high = found.target_risk.interval()
    assert low < 0.9 < high
    assert found.split_shares.sum() == pytest.approx(1.0)


def test_no_leaf_of_the_tree_is_smaller_than_asked():
    design = normal_world(400, 3, flip=1.5)
    for smallest in (0.05, 0.2):
        rng = np.random.default_rng(0)
        tree = region._grown_tree(design, SETTINGS, rng, depth=3, smallest=smallest).tree_
        weights = tree.weighted_n_node_samples
        leaves = weights[tree.children_left < 0] / weights[0]
        assert len(leaves) > 2
        assert leaves.min() >= smallest - 1e-9


def test_a_region_without_rows_to_measure_is_refused():
    design = world_a(60, 0)
    nobody = design.rows.map(lambda n: np.zeros(n, dtype=bool))
    everybody = design.rows.map(lambda n: np.ones(n, dtype=bool))
    with pytest.raises(FitError) as caught:
        region._measured(design, nobody, everybody, (), np.zeros(3))
    assert str(caught.value) == (
        "The region holds no row of one domain in the half it is measured on. "
        "Give more rows, or ask find_region for larger leaves (smallest=0.2)."
    )


def test_region_risks_are_measured_on_rows_that_did_not_shape_it():
    """With no shift at all an honest measurement must not find one."""
    differences = []
    for seed in range(6):
        found = region.find_region(world_b_null(seed), Settings(seed=seed))
        differences.append(found.difference.value / found.difference.standard_error)
    assert np.abs(np.mean(differences)) < 1.3


def world_b_null(seed):
    design = world_b(800, seed)
    rng = np.random.default_rng(seed + 100)
    flat = design.outcome.map(lambda y: (rng.random(len(y)) < 0.5).astype(float))
    return replace(design, outcome=flat)


def auc_world(rows, seed, slope):
    """The score's separation grows with z in the source and less so in the target."""
    rng = np.random.default_rng(seed)

    def draw(strength):
        z = rng.normal(size=rows)
        y = (rng.random(rows) < 0.5).astype(float)
        score = y * (1 + strength * z) + rng.normal(size=rows)
        return z[:, None], y, score

    parts = [draw(0.5), draw(slope)]
    pairs = [ByDomain(parts[0][i], parts[1][i]) for i in range(3)]
    return design_of(pairs[0], pairs[1], pairs[2].map(special.expit), baseline=0)


def test_auc_regression_sees_a_changed_separation_and_only_that():
    changed = auc_regression.importance(auc_world(2000, 0, -0.5), SETTINGS)
    assert changed.high is not None
    assert changed.high[0] < 0
    same = [auc_regression.importance(auc_world(1500, s, 0.5), SETTINGS) for s in range(12)]
    covers = [found.low[0] < 0 < found.high[0] for found in same]
    assert sum(covers) >= 9


def test_auc_regression_domain_term_is_the_change_of_the_logit_auc():
    design = auc_world(2500, 3, 0.5)
    empty = replace(design, players=())
    found = auc_regression.regress(replace(empty, players=design.players), SETTINGS)
    assert found.names == ("(domain)", "z1")
    assert abs(found.coefficients[0]) < 4 * np.sqrt(found.covariance[0, 0])


def test_auc_regression_needs_scores():
    design = world_a(200, 0)
    labels = design.prediction.map(lambda p: (p > 0.5).astype(float))
    with pytest.raises(ModelError) as caught:
        auc_regression.importance(replace(design, prediction=labels), SETTINGS)
    assert str(caught.value) == (
        "AUC regression needs the model's scores. Got predictions with at most two distinct "
        "values. Give a column of probabilities, or leave out 'auc_regression'."
    )
