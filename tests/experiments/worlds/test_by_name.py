"""Every world that knows its points says so in the same words."""

import pytest

from experiments.worlds import finite
from experiments.worlds.answers import Above
from experiments.worlds.by_name import answers_of, make_world
from experiments.worlds.clustered import ClusteredWorld
from whygap.errors import InputError

KNOWING = {
    "gaussian": lambda: make_world("gaussian", "brier", {}),
    "clustered": lambda: ClusteredWorld(metric="brier"),
    "untuned": lambda: make_world("untuned", "brier", {}),
    "correlated": lambda: make_world("correlated", "brier", {}),
    "finite": lambda: finite.random_world(1, metric="brier"),
}


@pytest.mark.parametrize("name", KNOWING)
def test_answers_agree_with_the_corners(name):
    world = KNOWING[name]()
    answers, corners = answers_of(world), world.corners()
    columns = len(world.players) + (2 if name == "correlated" else 1)
    assert answers.transported_mean(()) == pytest.approx(corners.mean_000, abs=1e-6)
    assert answers.transported_mean(range(columns)) == pytest.approx(corners.mean_110, abs=1e-6)
    here = answers.recoverable().here
    assert here.total + here.irreducible == pytest.approx(corners.mean_111, abs=1e-5)
    assert 0 < answers.group(Above(0.5)).target_share < 1


def test_a_world_that_does_not_know():
    with pytest.raises(InputError, match="does not know its points"):
        answers_of(make_world("comparison_a", "accuracy", {}))
