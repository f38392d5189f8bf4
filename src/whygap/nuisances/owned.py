"""Errors that no row shows, owned by the estimates that have them.

*What a learner gets wrong on average.* Twins leave its square. It cannot be seen, but the learner
was chosen where one more unit of the twins' variance V buys `VARIANCE_CHARGE` units less of it; if
the two trade off as powers h^2s and h^-d of some width h, the squared bias there is d / 2s times
charge V. So charge V is its size. Budgets own it; so do the denominator of the outcome shares, for
either risk, and numerators: p_1's like the denominator, less m's, and the source risk's as far as m
follows that. What both own of one risk is one error, so that values have less of it.

*Which learner was chosen*, on the rows that are averaged over: see `learning.choose`.
"""

from __future__ import annotations

import numpy as np

from whygap.domains import Array
from whygap.estimate import Estimate
from whygap.learning.choose import VARIANCE_CHARGE

SOURCES = (
    *("p_1", "p_0", "choice of p_1 - p_0", "choice of m"),
    *("m_s here", "choice here", "m_s at home", "choice at home"),
)
"""Each has a place among the errors, so that estimates of one source err together."""


def owning(estimate: Estimate, sizes: dict[str, float]) -> Estimate:
    """The estimate with errors of these sizes; the sign says which way a source pulls it."""
    return estimate.with_errors(bias=np.array([sizes.get(name, 0.0) for name in SOURCES]))


def squared_bias(twins: Array, adds: Array) -> float:
    """Its size in a mean over rows, from twins (halvings, 2, rows).

    One unit of it `adds` so much at each row, weights included.
    """
    variance = ((twins[:, 0] - twins[:, 1]) ** 2).mean(axis=0) / 2
    return VARIANCE_CHARGE * float(np.mean(adds * variance))
