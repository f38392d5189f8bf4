import numpy as np
import pytest

from experiments.worlds import finite
from experiments.worlds.atoms_answers import AtomsAnswers
from experiments.worlds.rounded import with_rounded_scores
from whygap._metrics import metric_named


@pytest.mark.parametrize("metric", ["accuracy", "brier", "log_loss"])
def test_rounded_scores_leave_something_to_variables(metric):
    pool = finite.random_world(4, z_levels=(3, 4, 5), metric=metric)
    rounded = with_rounded_scores(pool, metric)
    assert len(np.unique(pool.prediction)) == len(pool.prediction)
    assert len(np.unique(rounded.prediction)) <= 11
    before, after = (AtomsAnswers(world).budget("target") for world in (pool, rounded))
    assert before.recalibration == pytest.approx(before.total)
    assert after.recalibration < 0.9 * after.total
    assert before.irreducible == pytest.approx(after.irreducible)


def test_the_metric_is_that_of_the_rounded_scores():
    rounded = with_rounded_scores(finite.random_world(4), "brier", digits=2)
    expected = metric_named("brier").coefficients(rounded.prediction, 0.5)
    assert rounded.intercept == pytest.approx(expected[0])
    assert rounded.slope == pytest.approx(expected[1])
    assert rounded.prediction.min() >= 0.01
