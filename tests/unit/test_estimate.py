"""The Estimate algebra against numerical derivatives, replicated rows and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from whygap.domains import ByDomain
from whygap.errors import InputError, ResultError
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import linear_map, median_of
from whygap.estimate.fieller import Ratio
from whygap.estimate.influence import Influence

ROWS = ByDomain(60, 45)


@pytest.fixture
def sample() -> Sample:
    return Sample.of(ROWS)


def means(sample: Sample, count: int, seed: int = 0) -> list[Estimate]:
    """Estimates with both source and target rows, correlated with each other."""
    rng = np.random.default_rng(seed)
    shared = sample.weights.map(lambda w: rng.normal(size=len(w)))
    made = []
    for k in range(count):
        noise = sample.weights.map(lambda w: rng.normal(1, 1, len(w)))
        both = noise.zip(shared, lambda own, common: own + 0.7 * common)
        made.append(
            Estimate.from_contributions(sample, source=both.source, target=both.target, plugin=-k)
            + 2.0 * k
        )
    return made


def delta_error(function, estimates: list[Estimate]) -> float:
    """Numerical delta method: gradient by central differences, covariance from the influences."""
    values = np.array([e.value for e in estimates])
    step = 1e-6
    gradient = np.array(
        [
            (function(*(values + step * unit)) - function(*(values - step * unit))) / (2 * step)
            for unit in np.eye(len(values))
        ]
    )
    covariance = np.array(
        [[a.influence.covariance(b.influence) for b in estimates] for a in estimates]
    )
    return math.sqrt(gradient @ covariance @ gradient)


EXPRESSIONS = {
    "sum": lambda a, b, c: a + b + c,
    "difference": lambda a, b, c: a - b - 2 + 0 * c,
    "product": lambda a, b, c: a * b * 3 - c,
    "ratio": lambda a, b, c: a / (b + c),
    "value": lambda a, b, c: 1 - (a - c) / b,
    "nested": lambda a, b, c: (a * b - c / 2) / (b + 5) + 1,
    "negative": lambda a, b, c: -a + (2 - b) * c,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_expression_has_the_delta_methods_standard_error(sample, name):
    function, parts = EXPRESSIONS[name], means(sample, 3)
    result = function(*parts)
    assert result.value == pytest.approx(function(*(e.value for e in parts)), rel=1e-12)
    assert result.standard_error == pytest.approx(delta_error(function, parts), rel=1e-6)


def test_plugins_go_through_the_same_arithmetic(sample):
    a, b, c = means(sample, 3)
    assert (1 - (a - c) / b).plugin == 1 - (0 - 2) / 1
    assert math.isnan((b / a).plugin), "the plug-in of the denominator is 0"


def test_the_variance_is_that_of_two_independent_means(sample):
    (e,) = means(sample, 1)
    rng = np.random.default_rng(0)
    shared = ROWS.map(lambda n: rng.normal(size=n))
    noise = ROWS.map(lambda n: rng.normal(1, 1, n))
    both = noise.zip(shared, lambda own, common: own + 0.7 * common)
    expected = sum(np.var(v, ddof=1) / len(v) for v in both)
    assert e.standard_error == pytest.approx(math.sqrt(expected), rel=1e-12)


def test_centring_is_within_the_domain(sample):
    """A difference of level between the domains adds nothing to the variance."""
    source, target = np.arange(60.0), np.arange(45.0)
    low = Estimate.from_contributions(sample, source=source, target=target)
    high = Estimate.from_contributions(sample, source=source + 1e6, target=target)
    assert high.standard_error == pytest.approx(low.standard_error, rel=1e-9)


def test_weights_equal_replicated_rows():
    rng = np.random.default_rng(3)
    values = ByDomain(rng.normal(size=30), rng.normal(size=20))
    counts = values.map(lambda v: rng.integers(1, 4, len(v)))
    weighted = Estimate.from_contributions(
        Sample.of(ByDomain(30, 20), counts.map(lambda c: c.astype(float))),
        source=values.source,
        target=values.target,
    )
    rows = values.zip(counts, np.repeat)
    units = ByDomain(
        *(np.repeat(np.arange(100, 100 + len(c)) * k, c) for k, c in enumerate(counts, 1))
    )
    replicated = Estimate.from_contributions(
        Sample.of(rows.map(len), clusters=units), source=rows.source, target=rows.target
    )
    assert weighted.value == pytest.approx(replicated.value, rel=1e-12)
    assert weighted.standard_error == pytest.approx(replicated.standard_error, rel=1e-12)


def test_cluster_errors_agree_with_a_cluster_bootstrap():
    rng = np.random.default_rng(4)
    groups = ByDomain(np.repeat(np.arange(80), 5), np.repeat(np.arange(60), 4))
    values = groups.map(lambda g: rng.normal(size=g.max() + 1)[g] + rng.normal(size=len(g)))
    sample = Sample.of(groups.map(len), clusters=ByDomain(groups.source, groups.target + 80))
    clustered = Estimate.from_contributions(sample, source=values.source, target=values.target)
    by_group = values.zip(groups, lambda v, g: np.bincount(g, weights=v) / np.bincount(g))
    draws = [
        sum(means[rng.integers(0, len(means), len(means))].mean() for means in by_group)
        for _ in range(2000)
    ]
    assert clustered.standard_error == pytest.approx(np.std(draws), rel=0.1)
    alone = Estimate.from_contributions(
        Sample.of(groups.map(len)), source=values.source, target=values.target
    )
    assert alone.standard_error < 0.75 * clustered.standard_error


def test_cluster_numbers_may_be_any_whole_numbers():
    values = ByDomain(np.array([1.0, 2.0, 5.0, 9.0]), np.array([3.0, 4.0]))
    named = ByDomain(np.array([7, 7, -3, 900]), np.array([5, 5000]))
    plain = ByDomain(np.array([0, 0, 1, 2]), np.array([3, 4]))
    errors = [
        Estimate.from_contributions(
            Sample.of(ByDomain(4, 2), clusters=c), source=values.source, target=values.target
        ).standard_error
        for c in (named, plain)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-12)


def people_in_both_tables(rng, shared=60):
    """Effects of people, of whom some have rows in both tables; their own sizes."""
    people = ByDomain(np.arange(80), np.arange(80 - shared, 140 - shared))
    groups = ByDomain(np.repeat(people.source, 5), np.repeat(people.target, 3))
    effect = rng.normal(size=140)
    return groups, groups.map(lambda g: effect[g] + rng.normal(size=len(g)))


def test_errors_of_clusters_in_both_tables_agree_with_a_bootstrap_of_people():
    rng = np.random.default_rng(4)
    groups, values = people_in_both_tables(rng)
    sums = groups.zip(values, lambda g, v: np.bincount(g, weights=v, minlength=140))
    counts = groups.map(lambda g: np.bincount(g, minlength=140))
    people = np.unique(np.concatenate(list(groups)))

    both = list(zip(sums, counts, strict=True))

    def difference(drawn):
        return float(np.diff([s[drawn].sum() / n[drawn].sum() for s, n in both])[0])

    draws = [difference(people[rng.integers(0, len(people), len(people))]) for _ in range(2000)]
    sample = Sample.of(groups.map(len), clusters=groups)
    own = Estimate.from_contributions(sample, source=-values.source, target=values.target)
    assert own.standard_error == pytest.approx(np.std(draws), rel=0.08)
    apart = ByDomain(groups.source, groups.target + 1000)
    naive = Estimate.from_contributions(
        Sample.of(groups.map(len), clusters=apart), source=-values.source, target=values.target
    )
    assert naive.standard_error > 1.3 * own.standard_error
    assert naive.value == own.value


def test_few_clusters_in_both_tables_leave_the_errors_of_the_others_alone():
    """The one that is in both has no say: the estimate is as if tables shared nobody."""
    rng = np.random.default_rng(5)
    groups = ByDomain(np.arange(12), np.arange(11, 21))
    values = groups.map(lambda g: rng.normal(size=len(g)))
    values.source[-1] = values.source[:-1].mean()
    pair = {"source": values.source, "target": values.target}
    together = Estimate.from_contributions(Sample.of(ByDomain(12, 10), clusters=groups), **pair)
    alone = Estimate.from_contributions(Sample.of(ByDomain(12, 10)), **pair)
    assert together.standard_error == pytest.approx(alone.standard_error, rel=1e-12)


def test_effective_size_is_kishs():
    weights = ByDomain(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0]))
    assert Sample.of(ByDomain(3, 2), weights).effective_size() == ByDomain(
        pytest.approx(16 / 6), pytest.approx(2.0)
    )


def test_two_studies_do_not_mix():
    (a,), (b,) = means(Sample.of(ROWS), 1), means(Sample.of(ROWS), 1)
    with pytest.raises(ResultError) as caught:
        a + b
    assert str(caught.value) == (
        "Estimates of two different studies cannot be combined. Their rows differ, so their "
        "covariance is unknown. Combine estimates of one result only."
    )


def test_estimates_without_influence_values_do_not_combine(sample):
    (a,) = means(sample, 1)
    with pytest.raises(ResultError) as caught:
        a - Estimate(1.0, 0.1)
    assert str(caught.value) == (
        "Estimates without influence values cannot be combined. Save the result with "
        "gap.save(path, influence=True) to keep contrasts possible."
    )


def test_a_ratio_over_exactly_zero_is_refused(sample):
    (a,) = means(sample, 1)
    with pytest.raises(ResultError) as caught:
        a / (a - a)
    assert str(caught.value) == (
        "A ratio of estimates is undefined: its denominator is exactly 0. Look at the "
        "denominator's interval before dividing."
    )


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_a_level_outside_0_and_1_is_refused(sample, level):
    (a,) = means(sample, 1)
    with pytest.raises(InputError) as caught:
        a.interval(level)
    assert str(caught.value) == (
        f"The level of an interval must lie between 0 and 1. Got {level}. Try 0.95."
    )


def test_normal_intervals_and_p_values():
    e = Estimate(2.0, 0.5)
    low, high = e.interval(0.9)
    z = stats.norm.ppf(0.95)
    assert (low, high) == pytest.approx((2 - z / 2, 2 + z / 2), rel=1e-12)
    assert e.p_value() == pytest.approx(2 * stats.norm.sf(4), rel=1e-12)
    assert e.p_value(2.0) == 1.0
    assert Estimate(1.0, 0.0).p_value() == 0.0
    assert Estimate(1.0, 0.0).p_value(1.0) == 1.0


def test_an_estimate_formats_with_its_interval():
    assert f"{Estimate(0.25, 0.1):.2f}" == "0.25 (0.05 to 0.45)"
    assert str(Estimate(0.25, 0.1)) == "0.25 (0.054 to 0.446)"


def test_fieller_covers_where_the_delta_method_does_not():
    """A weak denominator: 90% Fieller intervals cover, delta-method intervals do not."""
    rng = np.random.default_rng(5)
    cov = np.array([[0.01, -0.02], [-0.02, 0.09]])
    truth, fieller, delta, bounded = 2.0 / 1.0, 0, 0, 0
    draws = rng.multivariate_normal([2.0, 1.0], cov, 4000)
    for top, bottom in draws:
        ratio = Ratio(top, bottom, cov[0, 0], cov[1, 1], cov[0, 1])
        low, high = ratio.interval(stats.norm.ppf(0.95))
        fieller += low <= truth <= high
        bounded += math.isfinite(high)
        delta += abs(top / bottom - truth) <= stats.norm.ppf(0.95) * ratio.standard_error()
    # Binomial 99% band of 4000 draws; where the set is unbounded it always covers.
    assert 0.888 <= fieller / 4000 <= 0.912 + (4000 - bounded) / 4000
    assert delta / 4000 < 0.888


def test_fieller_equals_the_set_of_ratios_that_are_not_rejected(sample):
    a, b, _ = means(sample, 3)
    low, high = (a / b).interval(0.95)
    for end in (low, high):
        t = (a - b * end).value / (a - b * end).standard_error
        critical = stats.t.ppf(0.975, (a / b).degrees_of_freedom)
        assert abs(t) == pytest.approx(critical, rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_p_values_of_ratios_agree_with_their_intervals(sample, level):
    a, b, _ = means(sample, 3)
    share = 1 - a / b
    for end in share.interval(level):
        assert share.p_value(end) == pytest.approx(1 - level, rel=1e-9)
    assert share.p_value(share.value) == 1.0
    assert share.distance(share.value) == 0.0


def test_a_share_whose_interval_leaves_zero_out_is_significant(sample):
    """Wald and Fieller disagree where the denominator is noisy; one answer is given."""
    share = Estimate(0.4, 0.21, ratio=Ratio(0.4, 1.0, 0.03, 0.1, 0.0))
    low, _ = share.interval(0.95)
    assert low > 0
    assert share.p_value() < 0.05 < 2 * stats.norm.sf(share.value / share.standard_error)


def test_fieller_survives_affine_maps(sample):
    a, b, _ = means(sample, 3)
    low, high = (a / b).interval(0.9)
    assert (1 - a / b).interval(0.9) == pytest.approx((1 - high, 1 - low), rel=1e-12)
    assert (a / b * -2 + 1).interval(0.9) == pytest.approx((1 - 2 * high, 1 - 2 * low), rel=1e-12)


def test_fieller_is_unbounded_without_a_denominator():
    weak = Ratio(1.0, 0.1, 0.01, 0.04, 0.0)
    assert weak.interval(1.96) == (-math.inf, math.inf)


def test_linear_maps_equal_the_same_sums_written_out(sample):
    parts = means(sample, 3)
    matrix = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]])
    first, second = linear_map(matrix, parts)
    written = parts[0] - parts[1] * 2 + parts[2] * 0.5
    assert first.value == pytest.approx(written.value, rel=1e-12)
    assert first.standard_error == pytest.approx(written.standard_error, rel=1e-12)
    assert first.plugin == pytest.approx(written.plugin)
    expected = (written * 1).influence.covariance((parts[1] + parts[2]).influence)
    assert first.influence.covariance(second.influence) == pytest.approx(expected, rel=1e-9)


def test_sampling_errors_add_to_the_variance_and_are_reported_apart(sample):
    parts = means(sample, 2)
    factor = np.array([[0.3, -0.3], [0.1, 0.2]])
    with_draws = linear_map(np.eye(2), parts, draws=factor)
    for k, (plain, drawn) in enumerate(zip(parts, with_draws, strict=True)):
        extra = float(factor[:, k] @ factor[:, k])
        assert drawn.sampling_error == pytest.approx(math.sqrt(extra), rel=1e-12)
        assert drawn.standard_error**2 == pytest.approx(plain.standard_error**2 + extra, rel=1e-12)
    total = with_draws[0] + with_draws[1]
    assert total.sampling_error == pytest.approx(math.hypot(0.0, 0.3), rel=1e-12)


def test_draws_of_different_length_are_padded():
    left = Influence(np.zeros(2), np.zeros(2), np.array([1.0, 2.0]))
    right = Influence(np.zeros(2), np.zeros(2), np.array([3.0]))
    assert left.plus(right).draws.tolist() == [4.0, 2.0]
    assert right.plus(left).draws.tolist() == [4.0, 2.0]
    assert left.covariance(right) == 3.0


def test_one_repeat_is_itself_and_several_take_the_median(sample):
    (e,) = means(sample, 1)
    assert median_of([e]) is e
    moved = [e, e + 0.5, e + 5.0]
    middle = median_of(moved)
    assert middle.value == pytest.approx(e.value + 0.5, rel=1e-12)
    between = (0.5**2 + 0 + 4.5**2) / 3
    assert middle.standard_error**2 == pytest.approx(e.standard_error**2 + between, rel=1e-9)


def test_contrasts_of_medians_know_how_repeats_moved_together(sample):
    a, b = means(sample, 2)
    left, right = median_of([a, a + 1.0, a + 2.0]), median_of([b, b + 1.0, b + 2.0])
    assert (left - right).standard_error == pytest.approx((a - b).standard_error, rel=1e-9)


def test_the_noise_of_fits_adds_to_the_variance_and_goes_through_the_algebra(sample):
    a, b, _ = means(sample, 3)
    fits = np.array([0.3, -0.1])
    noisy = a.with_errors(fits=fits)
    assert noisy.value == a.value
    assert noisy.standard_error**2 == pytest.approx(a.standard_error**2 + fits @ fits, rel=1e-12)
    assert noisy.sampling_error == 0
    assert (noisy - noisy).standard_error == pytest.approx(0.0, abs=1e-12)
    expected = (a - b * 2).standard_error ** 2 + fits @ fits
    assert (noisy - b * 2).standard_error ** 2 == pytest.approx(expected, rel=1e-9)


def square(plugin: float) -> Estimate:
    return Estimate(0.3, 0.1, plugin=plugin).growing()


@pytest.mark.parametrize("plugin", [0.5, 0.2, 0.01, -1.0])
def test_a_square_reaches_further_up_by_the_variance_it_would_have_there(plugin):
    grown, plain = square(plugin), Estimate(0.3, 0.1)
    low, high = grown.interval(0.9)
    assert low == plain.interval(0.9)[0]
    signal = max(plugin, 0.1)
    variance = 0.1**2 * (1 + (high - 0.3) / signal)
    assert (high - 0.3) ** 2 == pytest.approx(stats.norm.ppf(0.95) ** 2 * variance, rel=1e-12)
    assert grown.p_value(high) == pytest.approx(0.1, rel=1e-9)
    assert grown.p_value(low) == pytest.approx(0.1, rel=1e-9)
    assert grown.p_value() == plain.p_value()


def test_the_longer_side_of_a_square_goes_through_affine_maps_and_no_further(sample):
    low, high = square(0.2).interval()
    assert (1 - 2 * square(0.2)).interval() == pytest.approx((1 - 2 * high, 1 - 2 * low))
    a, b = means(sample, 2)
    assert (a.growing() - b).interval() == (a - b).interval()


def test_a_square_without_error_is_a_point():
    assert Estimate(0.3, 0.0, plugin=0.3).growing().interval() == (0.3, 0.3)
    assert Estimate(0.0, 0.0, plugin=0.0).growing().interval() == (0.0, 0.0)
