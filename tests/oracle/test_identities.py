"""What must happen when a metric is rescaled, labels are swapped, or nothing differs."""

from dataclasses import replace

import numpy as np
import pytest
from neighbours import locate
from oracle_inputs import BINS, METRICS, Oracle, worlds

from experiments.worlds import finite
from experiments.worlds.atoms import Atoms
from experiments.worlds.exact import pi_w, pi_wz, table_of
from experiments.worlds.world import all_subsets
from whygap._metrics import metric_named
from whygap.domains import ByDomain
from whygap.equations import corners
from whygap.equations.corners import AggregateValues

SUBSETS = all_subsets(3)


def everything(world: Atoms) -> dict[str, float]:
    """All estimates and standard errors of a world, by name."""
    oracle = Oracle(world, sample=table_of(world).sample())
    parts = corners.decompose(oracle.aggregate())
    named = {"gap": parts.total, **parts.parts}
    for s in SUBSETS:
        named[f"covariate value {s}"] = oracle.covariate_value(s)
        named[f"outcome value {s}"] = oracle.outcome_value(s)
        named[f"covariate numerator {s}"] = oracle.covariate_numerator(s)
        named[f"outcome numerator {s}"] = oracle.outcome_numerator(s)
    numbers = {}
    for name, estimate in named.items():
        numbers[name] = estimate.value
        numbers[name + " error"] = estimate.standard_error
    return numbers


@pytest.mark.parametrize("metric", METRICS)
def test_rescaling_the_metric(metric):
    """Metric 5 - 3 l: parts times -3, numerators times 9, values unchanged, errors alike."""
    world = worlds(metric)
    scaled = finite.with_metric(world, 5 - 3 * world.intercept, -3 * world.slope)
    before, after = everything(world), everything(scaled)
    for name, value in before.items():
        factor = 9 if "numerator" in name else 1 if "value" in name else 3
        sign = -1 if factor == 3 and "error" not in name else 1
        assert after[name] == pytest.approx(sign * factor * value, rel=1e-9, abs=1e-10), name


@pytest.mark.parametrize("metric", ["accuracy", "brier", "log_loss"])
def test_swapping_the_outcome_labels(metric):
    """Call 1 what was 0, in outcomes and predictions alike: nothing changes."""
    world = worlds(metric)
    prediction = 1 - world.prediction
    intercept, slope = metric_named(metric).coefficients(prediction, 0.5)
    swapped = replace(
        world,
        risk=world.risk.map(lambda r: 1 - r),
        prediction=prediction,
        intercept=intercept,
        slope=slope,
    )
    before, after = everything(world), everything(swapped)
    for name, value in before.items():
        assert after[name] == pytest.approx(value, rel=1e-9, abs=1e-10), name


def test_accuracy_and_zero_one_loss_mirror_each_other():
    right, wrong = everything(worlds("accuracy")), everything(worlds("zero_one"))
    for part in ("gap", "baseline", "covariate", "outcome"):
        assert wrong[part] == pytest.approx(-right[part], abs=1e-13)
        assert wrong[part + " error"] == pytest.approx(right[part + " error"], rel=1e-12)


def test_swapping_the_domains_reverses_the_gap():
    world = worlds("brier")
    swap = replace(
        world,
        mass=ByDomain(world.mass.target, world.mass.source),
        risk=ByDomain(world.risk.target, world.risk.source),
    )
    gaps = [
        corners.decompose(Oracle(w, sample=table_of(w).sample()).aggregate()) for w in (world, swap)
    ]
    assert gaps[1].total.value == pytest.approx(-gaps[0].total.value, abs=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_identical_domains_have_no_parts(metric):
    world = worlds(metric)
    same = replace(
        world,
        mass=ByDomain(world.mass.source, world.mass.source),
        risk=ByDomain(world.risk.source, world.risk.source),
    )
    truth = same.corners()
    for part in ("baseline", "covariate", "outcome", "gap"):
        assert getattr(truth, part) == pytest.approx(0, abs=1e-13)
    assert same.outcome_truth((), BINS).denominator == 0
    assert np.isnan(same.outcome_truth((), BINS).value)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_identical_domains_give_parts_within_their_intervals(seed):
    world = worlds("brier")
    same = replace(
        world,
        mass=ByDomain(world.mass.source, world.mass.source),
        risk=ByDomain(world.risk.source, world.risk.source),
    )
    design = same.draw(ByDomain(800, 500), np.random.default_rng(seed))
    cells = design.features.map(lambda x: locate(same, x))
    n = same.nuisances
    values = AggregateValues(
        sample=design.sample(),
        loss=design.loss,
        mu_00_w=cells.map(lambda c: n.mu_00_w[c]),
        mu_0_wz=cells.map(lambda c: n.mu_0_wz[c]),
        pi_w=pi_w(same)[cells.source],
        pi_wz=pi_wz(same)[cells.source],
    )
    means = {k: getattr(corners, f"mean_{k}")(values) for k in ("000", "100", "110", "111")}
    for part in corners.decompose(means).parts.values():
        low, high = part.interval(0.999)
        assert low < 0 < high
