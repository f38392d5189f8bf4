"""Student's t by degrees of freedom: few units, few effective rows, files, ratios."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from result_factory import make_gap
from scipy import stats

from whygap.domains import ByDomain
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance
from whygap.estimate.influence import Influence
from whygap.estimate.student import as_normal, as_student, two_sided
from whygap.results import Points, files


def normal_shaped(size: int) -> np.ndarray:
    """Values with the kurtosis of a normal distribution: mean 0, fourth moment 3."""
    values = stats.norm.ppf((np.arange(size) + 0.5) / size)
    return values / values.std()


def test_normal_values_have_welchs_degrees_of_freedom():
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=4000), 3 * rng.normal(size=1000)
    found = Influence(source, target).degrees_of_freedom()
    v = [np.var(values, ddof=1) / len(values) for values in (source, target)]
    welch = sum(v) ** 2 / (v[0] ** 2 / 3999 + v[1] ** 2 / 999)
    assert found == pytest.approx(welch, rel=0.1)


def test_degrees_of_freedom_by_hand():
    source, target = np.array([0.0, 0.0, 0.0, 0.0, 5.0, -1.0]), np.array([1.0, 0.0, 0.0])
    total = doubt = 0.0
    for values in (source, target):
        variance = np.var(values, ddof=1) / len(values)
        kurtosis = max(stats.kurtosis(values, fisher=False), 3.0)
        total += variance
        doubt += (kurtosis - 1) * variance**2 / (len(values) - 1)
    found = Influence(source, target).degrees_of_freedom()
    assert found == pytest.approx(2 * total**2 / doubt, rel=1e-12)


@pytest.mark.parametrize("units", [2, 3, 8])
def test_few_units_have_one_degree_less_whatever_they_show(units):
    """Two values always have a kurtosis of 1: that shows nothing."""
    values = np.where(np.arange(units) % 2 == 0, 1.0, -1.0)
    influence = Influence(values, np.zeros(50))
    assert influence.degrees_of_freedom() == pytest.approx(units - 1, rel=1e-12)


def test_clusters_count_not_rows():
    rng = np.random.default_rng(1)
    groups = ByDomain(np.repeat(np.arange(8), 100), np.arange(3000))
    values = rng.normal(size=8)[groups.source] + 0.1 * rng.normal(size=800)
    sample = Sample.of(groups.map(len), clusters=groups)
    found = Estimate.from_contributions(sample, source=values, target=0.01 * rng.normal(size=3000))
    assert found.degrees_of_freedom < 7.5
    low, high = found.interval(0.9)
    half = stats.t.ppf(0.95, found.degrees_of_freedom) * found.standard_error
    assert (low, high) == pytest.approx((found.value - half, found.value + half), rel=1e-9)
    assert found.p_value(high) == pytest.approx(0.1, rel=1e-9)


def test_a_few_heavy_rows_have_few_degrees_of_freedom():
    """Their number is as uncertain as a Poisson one of mean 20, and with it the variance."""
    values = np.concatenate([np.full(10, 30.0), np.full(10, -30.0), np.full(2000, 0.1)])
    found = Influence(values, np.zeros(10)).degrees_of_freedom()
    assert found == pytest.approx(2 * 20, rel=0.05)


def test_noise_of_fits_is_known_from_its_blocks_alone():
    """Three halvings a block: two degrees of freedom each, on average."""
    rng = np.random.default_rng(2)
    rows = np.zeros(100)
    found = []
    for _ in range(2000):
        entries = rng.normal(size=(3, 5))
        fits = (entries - entries.mean(axis=0)).ravel()
        total = Influence(rows, rows, fits=fits)
        found.append((total.variance(), 2 * total.variance() ** 2 / total.degrees_of_freedom()))
    sizes, doubts = np.array(found).T
    assert doubts.mean() == pytest.approx(sizes.var(), rel=0.1)


def test_what_is_known_adds_to_the_variance_and_nothing_to_the_doubt():
    values = normal_shaped(20)
    plain = Influence(values, np.zeros(20))
    size = math.sqrt(plain.variance())
    for name in ("draws", "repeats"):
        more = replace(plain, **{name: np.array([size])})
        assert more.degrees_of_freedom() == pytest.approx(4 * plain.degrees_of_freedom())


def test_no_variance_has_no_doubt():
    assert Influence(np.zeros(5), np.zeros(5)).degrees_of_freedom() == math.inf
    assert Estimate(1.0, 0.1).degrees_of_freedom == math.inf
    assert Estimate(1.0, 0.1).interval(0.9)[1] == 1 + 0.1 * stats.norm.ppf(0.95)


@pytest.mark.parametrize("freedom", [1.0, 2.5, 30.0, 1e6, math.inf])
def test_quantiles_and_tails_are_scipys(freedom):
    known = stats.norm if math.isinf(freedom) else stats.t(freedom)
    for z in (0.0, 1.0, 3.0, 6.0):
        t = as_student(z, freedom)
        assert two_sided(t, freedom) == pytest.approx(2 * stats.norm.sf(z), rel=1e-7)
        assert known.sf(t) == pytest.approx(stats.norm.sf(z), rel=1e-6)
        both = as_normal(np.array([t, -t]), np.array([freedom, freedom]))
        assert both == pytest.approx([z, -z], rel=1e-6)


def test_endless_distances_stay_endless():
    t = np.array([math.inf, -math.inf, 0.0])
    assert as_normal(t, np.array([3.0, 3.0, 3.0])).tolist() == [math.inf, -math.inf, 0.0]


def test_arithmetic_keeps_and_combines_degrees_of_freedom():
    rng = np.random.default_rng(3)
    sample = Sample.of(ByDomain(12, 900))
    few, many = (
        Estimate.from_contributions(
            sample, source=a * rng.normal(size=12), target=b * rng.normal(size=900)
        )
        for a, b in ((1.0, 0.1), (0.01, 10.0))
    )
    assert few.degrees_of_freedom < 13
    assert many.degrees_of_freedom > 500
    assert (2 - 3 * few).degrees_of_freedom == pytest.approx(few.degrees_of_freedom)
    assert few.degrees_of_freedom < (few + many).degrees_of_freedom < many.degrees_of_freedom


def test_files_keep_degrees_of_freedom_without_influence_values(tmp_path):
    gap = make_gap(rows=(30, 25))
    path = gap.save(tmp_path / "gap.json")
    back = files.load(path)
    assert gap.total.degrees_of_freedom < 60
    assert back.total.interval(0.9) == gap.total.interval(0.9)
    assert back.total.p_value() == gap.total.p_value()
    for ours, theirs in zip(gap.points.values(), back.points.values(), strict=True):
        assert theirs.simultaneous(0.9) == ours.simultaneous(0.9)
        assert (theirs.ranking(0.9), theirs.first(0.9)) == (ours.ranking(0.9), ours.first(0.9))
    assert back.affected["outcome"].simultaneous(0.9) == gap.affected["outcome"].simultaneous(0.9)


def test_files_from_before_have_normal_intervals(tmp_path):
    gap = make_gap(rows=(30, 25))
    path = gap.save(tmp_path / "gap.json")
    text = json.dumps(without(json.loads(path.read_text()), "degrees_of_freedom"))
    path.write_text(text)
    old = files.load(path).total
    half = stats.norm.ppf(0.95) * gap.total.standard_error
    assert old.interval(0.9) == pytest.approx((old.value - half, old.value + half), rel=1e-12)


def without(value, name):
    if isinstance(value, dict):
        return {key: without(item, name) for key, item in value.items() if key != name}
    return [without(item, name) for item in value] if isinstance(value, list) else value


def test_many_at_once_are_students_too():
    """One name rests on eight rows of 500: it alone is widened much."""
    rng = np.random.default_rng(4)
    sample = Sample.of(ByDomain(500, 500))
    heavy = np.where(np.arange(500) < 8, 60.0, 0.0) * rng.normal(size=500)
    made = {
        "heavy": Estimate.from_contributions(sample, source=heavy, target=np.zeros(500)) + 1.0,
        "light": Estimate.from_contributions(
            sample, source=rng.normal(size=500), target=rng.normal(size=500)
        ),
    }
    joint = Points(made, joint_covariance(list(made.values())))
    normal = {name: replace(e, degrees_of_freedom=math.inf) for name, e in joint.items()}
    flat = Points(normal, joint.covariance)

    def width(found, name):
        low, high = found.simultaneous(0.95)[name]
        return high - low

    assert width(joint, "heavy") > 1.1 * width(flat, "heavy")
    assert width(joint, "light") < 1.01 * width(flat, "light")
    for method in ("holm", "max_t"):
        ours, theirs = (one.adjusted_p_values(method) for one in (joint, flat))
        assert ours["heavy"] > theirs["heavy"]
