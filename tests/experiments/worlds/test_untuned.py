import numpy as np
import pytest

from experiments.worlds.untuned import UntunedWorld, null_world, quadrature_atoms
from experiments.worlds.world import all_subsets
from whygap.domains import ByDomain
from whygap.errors import InputError

ROWS = ByDomain(60_000, 40_000)


@pytest.fixture(scope="module")
def drawn():
    world = UntunedWorld(metric="brier")
    return world, world.draw(ROWS, np.random.default_rng(0))


def close(values, expected, sds=4.5):
    assert abs(values.mean() - expected) < sds * values.std() / np.sqrt(len(values))


def test_truths_do_not_depend_on_the_grid():
    coarse, fine = (quadrature_atoms(UntunedWorld(), n) for n in (121, 161))
    for subset in all_subsets(3):
        assert coarse.covariate_truth(subset).value == pytest.approx(
            fine.covariate_truth(subset).value, abs=2e-3
        )
        assert coarse.outcome_truth(subset).value == pytest.approx(
            fine.outcome_truth(subset).value, abs=4e-3
        )


def test_there_is_something_to_explain():
    world = UntunedWorld()
    corners = world.corners()
    assert min(abs(corners.baseline), abs(corners.covariate), abs(corners.outcome)) > 0.01
    assert world.covariate_truth(()).denominator > 0.005
    assert world.outcome_truth(()).denominator > 0.01
    assert 0.05 < world.outcome_truth(()).value < 0.5


def test_drawn_rows_average_to_the_corners(drawn):
    world, design = drawn
    close(design.loss.source, world.corners().mean_000)
    close(design.loss.target, world.corners().mean_111)
    assert design.rows == ROWS


def test_reweighted_source_rows_average_to_the_middle_corner(drawn):
    world, design = drawn
    ratio = world.pi_wz(design.features.source)
    close(ratio, 1.0)
    close(ratio * design.loss.source, world.corners().mean_110)


def test_continuous_columns_are_correlated(drawn):
    x = drawn[1].features.source
    same = (x[:, 0] == 1) & (x[:, 1] == 2)
    assert np.corrcoef(x[same, 2], x[same, 3])[0, 1] == pytest.approx(0.5, abs=0.03)


def test_risks_have_a_product_and_a_slope_of_their_own(drawn):
    world, _ = drawn
    logit = [
        np.log(r / (1 - r))
        for r in (
            world.risk("source", np.array([[0.0, level, a, b]]))[0]
            for level, a, b in [(2, 1, 0), (2, 0, 0), (0, 1, 0), (0, 0, 0), (0, 1, 1), (0, 0, 1)]
        )
    ]
    assert (logit[0] - logit[1]) - (logit[2] - logit[3]) == pytest.approx(0.7)
    assert (logit[4] - logit[5]) - (logit[2] - logit[3]) == pytest.approx(0.35)


def test_identical_domains_have_nothing_to_explain():
    world = null_world("identical")
    c = world.corners()
    assert [c.baseline, c.covariate, c.outcome] == pytest.approx([0, 0, 0], abs=1e-12)
    assert np.isnan(world.covariate_truth(()).value)
    assert np.isnan(world.outcome_truth(()).value)


def test_a_shift_of_the_baseline_only_leaves_the_details_undefined():
    world = null_world("baseline_only")
    c = world.corners()
    assert abs(c.baseline) > 0.02
    assert [c.covariate, c.outcome] == pytest.approx([0, 0], abs=1e-12)
    assert np.isnan(world.covariate_truth(()).value)
    assert np.isnan(world.outcome_truth(()).value)


def test_a_recalibration_is_explained_by_no_variable():
    world = null_world("recalibrated")
    assert abs(world.corners().outcome) > 0.05
    assert world.outcome_truth(()).value == pytest.approx(1, abs=0.005)
    assert np.isnan(world.covariate_truth(()).value)


def test_an_unknown_null_world_is_refused():
    with pytest.raises(InputError) as error:
        null_world("identicle")
    assert str(error.value) == "There is no null world 'identicle'. Did you mean 'identical'?"


def test_the_smooth_form_is_refused():
    with pytest.raises(InputError) as error:
        UntunedWorld().outcome_truth((), None)
    message = "This world has no smooth outcome values. Ask for bins=20."
    assert str(error.value) == message
