"""Mixtures of two worlds reach the other one, in one domain."""

import numpy as np
import pytest
from neighbours import locate, mixed, random_direction

from experiments.worlds import finite


@pytest.fixture(scope="module")
def world():
    return finite.random_world(11, w_levels=2, z_levels=(3, 2), metric="log_loss")


@pytest.mark.parametrize("domain", ["source", "target"])
def test_mixing_reaches_the_other_world_and_leaves_the_other_domain(world, domain):
    other = random_direction(world, np.random.default_rng(1))
    far = mixed(world, other, domain, 1.0)
    np.testing.assert_allclose(far.mass[domain], other.mass[domain], atol=1e-15)
    np.testing.assert_allclose(far.risk[domain], other.risk[domain], atol=1e-15)
    still = "target" if domain == "source" else "source"
    assert far.mass[still] is world.mass[still]
    half = mixed(world, other, domain, 0.25)
    joint = 0.75 * world.mass[domain] * world.risk[domain]
    joint += 0.25 * other.mass[domain] * other.risk[domain]
    np.testing.assert_allclose(half.mass[domain] * half.risk[domain], joint, atol=1e-15)


def test_rows_are_found_again(world):
    assert locate(world, world.features[[4, 0, 4]]).tolist() == [4, 0, 4]
    with pytest.raises(KeyError):
        locate(world, np.array([[0.0, 7.0, 0.0]]))
