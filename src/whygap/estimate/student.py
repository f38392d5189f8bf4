"""Student's t where a variance is estimated: quantiles and tails by degrees of freedom.

A simultaneous quantile is worked out for normal values, then read as Student's by each estimate.
"""

import math

import numpy as np
from scipy import special

from whygap.domains import Array


def normal_quantile(level: float) -> float:
    """Return the z of a two-sided interval of some level.

    Args:
        level: of the interval, between 0 and 1.
    """
    return float(special.ndtri(0.5 + level / 2))


def as_student(critical: float, freedom: float) -> float:
    """Return the t that is exceeded as rarely as a normal value exceeds `critical` (0 or more).

    Args:
        critical: normal quantile, 0 or more.
        freedom: degrees of freedom; infinite for a normal.
    """
    if math.isinf(freedom):
        return critical
    return abs(float(special.stdtrit(freedom, special.ndtr(-critical))))


def two_sided(distance: float, freedom: float = math.inf) -> float:
    """Return the chance of a t at least `distance` standard errors from 0.

    Args:
        distance: from 0 in standard errors, 0 or more.
        freedom: degrees of freedom; infinite for a normal.
    """
    return float(2 * special.stdtr(freedom, -distance))


def as_normal(t: Array, freedom: Array) -> Array:
    """Return the normal values that are exceeded as rarely as signed t-values, (m,).

    Args:
        t: signed t-values, (m,).
        freedom: degrees of freedom of each, (m,).
    """
    exact = np.isinf(freedom) | np.isinf(t)
    finite = np.where(exact, 1.0, freedom)
    scores = np.sign(t) * np.abs(special.ndtri(special.stdtr(finite, -np.abs(t))))
    return np.asarray(np.where(exact, t, scores))
