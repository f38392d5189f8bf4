"""Functions of estimated means: the delta method, and where there is none."""

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.equations.lines import smooth
from whygap.errors import ResultError
from whygap.estimate import Estimate, Sample


def means(*values):
    """Estimates from the same 400 rows."""
    rng, sample = np.random.default_rng(0), Sample.of(ByDomain(400, 2))
    rows = [value + rng.normal(size=400) for value in values]
    return [
        Estimate.from_contributions(
            sample, source=row - row.mean() + value, target=np.zeros(2), plugin=value
        )
        for row, value in zip(rows, values, strict=True)
    ]


def test_a_ratio_has_the_error_of_a_ratio():
    top, bottom = means(2.0, 4.0)
    found = smooth(
        [top, bottom], lambda m: m[0] / m[1], lambda m: np.array([1 / m[1], -m[0] / m[1] ** 2])
    )
    assert found.value == found.plugin == 0.5
    assert found.standard_error == pytest.approx((top / bottom).standard_error, rel=1e-12)


def test_where_a_metric_has_no_value_an_error_says_so():
    with pytest.raises(ResultError) as caught:
        smooth(means(-0.04), lambda m: np.sqrt(m[0]), lambda m: 0.5 / np.sqrt(m))
    assert str(caught.value) == (
        "The metric has no value between the two tables: it is undefined at the estimated means of "
        "its terms. Got -0.04. The tables overlap too little for it, or there are too few rows: "
        "try support='common', or a metric that is a mean over rows."
    )
