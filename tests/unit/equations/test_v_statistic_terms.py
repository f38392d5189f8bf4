"""Averages over pairs and the estimate made of them, on numbers small enough to check by hand."""

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.equations.v_statistic import (
    Pairs,
    PlainValues,
    denominator,
    numerator,
    pair_averages,
)
from whygap.estimate import Sample


def values() -> PlainValues:
    return PlainValues(
        sample=Sample.of(ByDomain(2, 3)),
        outcome=ByDomain(np.array([0.0, 1.0]), np.array([1.0, 0.0, 1.0])),
        intercept=ByDomain(np.array([0.5, 0.0]), np.array([0.0, 1.0, 0.5])),
        slope=ByDomain(np.array([1.0, -1.0]), np.array([1.0, -1.0, 2.0])),
        p_0=ByDomain(np.array([0.2, 0.4]), np.array([0.5, 0.5, 0.5])),
        p_1=ByDomain(np.array([0.4, 0.4]), np.array([0.75, 0.25, 0.5])),
        pi_wz=np.array([0.5, 1.5]),
    )


def pairs(row, **changed) -> Pairs:
    size = len(row)
    known = {
        "weight": np.full(size, 0.5),
        "intercept": np.full(size, 0.3),
        "slope": np.full(size, 2.0),
        "p_1": np.full(size, 0.8),
        "pi": np.ones(size),
    }
    return Pairs(row=np.array(row), **(known | changed))


def test_denominator_by_hand():
    # target: e = .25, .25, 0; residuals l - mu_1 = .25, .25 (slope -1, y 0), 1
    # source: e = .2, 0; residual of the first row: -.2
    target = np.mean([0.0625 + 2 * 0.25 * 0.25, 0.0625 + 2 * 0.25 * 0.25, 0.0])
    source = np.mean([-2 * 0.2 * -0.2 * 0.5, 0.0])
    found = denominator(values())
    assert found.value == pytest.approx(target + source)
    assert found.plugin == pytest.approx((0.0625 + 0.0625) / 3)


def test_numerator_by_hand():
    m = np.array([0.5, 0.25, 0.0])
    # xi = b (p_1 - m) = .25, 0, 1
    averages = np.array([0.1, 0.2, -0.3])
    target = [0.0625 + 2 * 0.25 * 0.25 - 0.2, -0.4, 1.0 + 2 * 1.0 * 1.0 + 0.6]
    found = numerator(values(), m, averages)
    assert found.value == pytest.approx(np.mean(target))
    assert found.plugin == pytest.approx((0.0625 + 1.0) / 3)
    assert not found.influence.source.any()


def test_one_pair_by_hand():
    # xi = 2 (.8 - .5), l - mu_s = 2 (1 - .5), weight .5, ratio 3
    found = pair_averages([pairs([1], pi=np.array([3.0]))], np.array([0.0, 1.0]), np.full(2, 0.5))
    np.testing.assert_allclose(found, [0.0, 0.5 * 3 * 0.6 * 1.0])


def test_the_intercept_cancels():
    outcome, m = np.array([1.0]), np.array([0.4])
    low = pair_averages([pairs([0], intercept=np.zeros(1))], outcome, m)
    high = pair_averages([pairs([0], intercept=np.full(1, 7.0))], outcome, m)
    np.testing.assert_allclose(low, high)


def test_pieces_of_a_stream_add_up():
    outcome, m = np.array([1.0, 0.0]), np.array([0.4, 0.6])
    whole = pair_averages([pairs([0, 1, 0])], outcome, m)
    pieces = pair_averages([pairs([0]), pairs([1, 0])], outcome, m)
    np.testing.assert_allclose(whole, pieces)


def test_self_normalised_weights_forget_a_factor_of_the_ratio():
    outcome, m = np.array([1.0]), np.array([0.4])
    stream = [pairs([0, 0], p_1=np.array([0.8, 0.2]), pi=np.array([1.0, 3.0]))]
    tripled = [pairs([0, 0], p_1=np.array([0.8, 0.2]), pi=np.array([3.0, 9.0]))]
    one = pair_averages(stream, outcome, m, self_normalised=True)
    two = pair_averages(tripled, outcome, m, self_normalised=True)
    np.testing.assert_allclose(one, two)
    np.testing.assert_allclose(one, [(0.25 * 2 * 0.4 + 0.75 * 2 * -0.2) * 2 * 0.6])


def test_a_row_without_pairs_gets_zero():
    found = pair_averages([pairs([0])], np.ones(2), np.full(2, 0.5), self_normalised=True)
    assert found[1] == 0.0
    assert found[0] != 0.0
