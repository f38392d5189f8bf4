"""The engine of atoms against loops written cell by cell."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from experiments.worlds import finite
from experiments.worlds.atoms import risk_bin
from experiments.worlds.exact import h_of, pi_w, pi_wz, pi_wzs, table_of
from experiments.worlds.world import all_subsets
from whygap.domains import ByDomain
from whygap.errors import InputError

SHAPE = (2, 3, 2)


@pytest.fixture(scope="module")
def world():
    return finite.random_world(11, w_levels=2, z_levels=(3, 2), metric="log_loss")


def cells():
    return list(itertools.product(*(range(k) for k in SHAPE)))


def lookup(world, per_atom):
    return {tuple(int(v) for v in x): a for x, a in zip(world.features, per_atom, strict=True)}


def test_probabilities_sum_to_one_and_stay_away_from_zero(world):
    for mass, risk in zip(world.mass, world.risk, strict=True):
        assert mass.sum() == pytest.approx(1, abs=1e-14)
        assert mass.min() > 0.005
        assert 0.1 <= risk.min() <= risk.max() <= 0.9


def test_corner_100_by_loops(world):
    """Sum of p_1(w) p_0(z | w) p_0(y | w, z) l, literally."""
    p_0, p_1 = (lookup(world, mass) for mass in world.mass)
    risk = lookup(world, world.risk.source)
    a, b = lookup(world, world.intercept), lookup(world, world.slope)
    total = 0.0
    for w, z1, z2 in cells():
        w_0, w_1 = (sum(p[c] for c in cells() if c[0] == w) for p in (p_0, p_1))
        for y in (0, 1):
            p_y = risk[w, z1, z2] if y else 1 - risk[w, z1, z2]
            loss = a[w, z1, z2] + b[w, z1, z2] * y
            total += w_1 * p_0[w, z1, z2] / w_0 * p_y * loss
    assert world.corners().mean_100 == pytest.approx(total, abs=1e-14)


def test_partial_covariate_shift_by_loops(world):
    """E under p_1(w) p_1(z_s | w) p_0(z_-s | z_s, w) p_0(y | w, z) of the loss, s = {Z1}."""
    p_0, p_1 = (lookup(world, mass) for mass in world.mass)
    mu_0 = lookup(world, world.nuisances.mu_0_wz)
    expected = {}
    for w in range(2):
        total = 0.0
        for z1, z2 in itertools.product(range(3), range(2)):
            p_s = sum(p_1[w, z1, k] for k in range(2)) / sum(p_1[c] for c in cells() if c[0] == w)
            p_rest = p_0[w, z1, z2] / sum(p_0[w, z1, k] for k in range(2))
            total += p_s * p_rest * mu_0[w, z1, z2]
        expected[w] = total
    found = lookup(world, world.nuisances.mu_s0_w((0,)))
    for cell in cells():
        assert found[cell] == pytest.approx(expected[cell[0]], abs=1e-14)


@pytest.mark.parametrize("subset", all_subsets(2))
def test_m_and_h_by_loops(world, subset):
    bins = 3
    p_1, r_1 = lookup(world, world.mass.target), lookup(world, world.risk.target)
    q, b = lookup(world, world.risk.source), lookup(world, world.slope)
    found = world.nuisances.m(subset, bins), h_of(world, subset, bins)
    m, h = (lookup(world, values) for values in found)

    def group(cell):
        return (cell[0], *(cell[1 + p] for p in subset), np.floor(q[cell] * bins + 0.5))

    for cell in cells():
        same = [c for c in cells() if group(c) == group(cell)]
        mass = sum(p_1[c] for c in same)
        mean = sum(p_1[c] * r_1[c] for c in same) / mass
        assert m[cell] == pytest.approx(mean, abs=1e-14)
        spread = sum(p_1[c] * b[c] ** 2 * (r_1[c] - mean) for c in same) / mass
        assert h[cell] == pytest.approx(spread, abs=1e-14)


def test_ratios_have_source_mean_one(world):
    for ratio in (pi_w(world), pi_wz(world), pi_wzs(world, (1,))):
        assert world.mean("source", ratio) == pytest.approx(1, abs=1e-13)


def test_smooth_form_groups_by_the_risk_itself(world):
    same_risk = replace(
        world, risk=ByDomain(np.full(len(world.prediction), 0.3), world.risk.target)
    )
    by_w = same_risk.conditional("target", world.risk.target, world.codes((0,)))
    np.testing.assert_allclose(same_risk.nuisances.m((), None), by_w, atol=1e-14)
    np.testing.assert_allclose(world.nuisances.m((), None), world.risk.target, atol=1e-14)


def test_rounding_has_half_bins_at_the_ends():
    risks = np.array([0.0, 0.0249, 0.0251, 0.5, 0.9749, 0.9751, 1.0])
    np.testing.assert_allclose(risk_bin(risks, 20), [0, 0, 0.05, 0.5, 0.95, 1, 1])


def test_drawn_rows_have_the_worlds_probabilities(world):
    design = world.draw(ByDomain(60_000, 60_000), np.random.default_rng(0))
    for domain in ("source", "target"):
        cell = np.ravel_multi_index(design.features[domain].T.astype(int), SHAPE)
        share = np.bincount(cell, minlength=len(world.prediction)) / 60_000
        assert np.abs(share - world.mass[domain]).max() < 0.01
        risk = np.bincount(cell, weights=design.outcome[domain]) / np.bincount(cell)
        assert np.abs(risk - world.risk[domain]).max() < 0.06
    truth = world.corners()
    assert design.loss.source.mean() == pytest.approx(truth.mean_000, abs=0.02)
    assert design.loss.target.mean() == pytest.approx(truth.mean_111, abs=0.02)


def test_weighted_table_is_the_world(world):
    design = table_of(world)
    means = design.sample().mean(design.loss)
    assert means.source == pytest.approx(world.corners().mean_000, abs=1e-14)
    assert means.target == pytest.approx(world.corners().mean_111, abs=1e-14)


def test_one_seed_gives_one_world():
    one, two, other = (finite.random_world(s, metric="random") for s in (4, 4, 5))
    np.testing.assert_array_equal(one.slope, two.slope)
    np.testing.assert_array_equal(one.mass.target, two.mass.target)
    assert not np.array_equal(one.mass.target, other.mass.target)


def tables(p_z):
    flat = ByDomain(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    risk = np.full((2, 2), 0.5)
    return flat, ByDomain(p_z, np.full((2, 2), 0.5)), ByDomain(risk, risk), risk


@pytest.mark.parametrize(
    ("p_z", "message"),
    [
        (
            np.full((2, 3), 1 / 3),
            "The tables of a finite world must have one shape. Got not all (2, 3).",
        ),
        (np.array([[1.0, 0.0], [0.5, 0.5]]), "Probabilities of a finite world must be positive."),
        (np.full((2, 2), 0.4), "Probabilities of a finite world must sum to 1."),
    ],
)
def test_bad_tables_are_refused(p_z, message):
    with pytest.raises(InputError) as error:
        finite.from_tables(*tables(p_z))
    assert str(error.value) == message
