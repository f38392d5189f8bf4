"""Value an s-partial outcome shift: v_Y(s) of section 3 and equation (3), by Algorithm 2."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from whygap.domains import Array, Subset
from whygap.errors import SettingsError, require_known
from whygap.estimate import Estimate
from whygap.paper.covariate_value import SubsetValue
from whygap.paper.learners import LearnerName, Predict
from whygap.paper.nuisances import Nuisances, Recombined, binned
from whygap.study import Study

Form = Literal["identity", "v_statistic"]


def value_outcome(
    study: Study,
    s: str | Sequence[str],
    *,
    form: Form = "identity",
    bins: int = 20,
    n_draws: int = 2000,
    model: Predict | None = None,
    learner: LearnerName = "paper",
    seed: int = 0,
) -> SubsetValue:
    """Estimate v_Y(s) by Algorithm 2, and count the rows that violate Condition 4.2.

    Args:
        study: see `aggregate`; its `source_risk` is not used.
        s: names of covariates; () is a recalibration of the source risk.
        form: "v_statistic" averages over pairs of rows; "identity" needs no pairs.
        bins: B of the binned source risk.
        n_draws: rows that each row is recombined with; 0, or as many as there are: all.
        model: predictions at rows of `study.design.features`, which the V-statistic needs for
            metrics other than accuracy and 0-1 loss.
        learner: "paper" or "fast".
        seed: of the split, the forests and the draws.
    """
    n = Nuisances.from_study(study, learner, seed, bins)
    numerator = outcome_numerator(n, n.players(s), form, n_draws, model)
    place = n.p_0.target[n.evaluation.target] * bins + 0.5
    edges = np.isclose(place, np.round(place), rtol=0, atol=1e-12)
    return SubsetValue(numerator, outcome_denominator(n), int(edges.sum()))


def outcome_denominator(n: Nuisances) -> Estimate:
    """Estimate the denominator of v_Y by eq. (5); influence function eq. (49)."""
    loss = n.design.loss
    e = n.mu_1_wz.zip(n.mu_0_wz, np.subtract)
    return n.average(
        source=-2 * e.source * (loss.source - n.mu_0_wz.source) * n.pi_wz.source,
        target=e.target**2 + 2 * e.target * (loss.target - n.mu_1_wz.target),
        plugin=e.target**2,
    )


def outcome_numerator(
    n: Nuisances, s: Subset, form: Form = "identity", n_draws: int = 0, model: Predict | None = None
) -> Estimate:
    """Estimate the numerator of v_Y(s) by eq. (4), on target rows.

    The double average of a row is h(G) (Y - m(G)), G = (W, Z_s, q_bin), because Y is binary: the
    identity. The paper takes q_bin as known, since eq. (6) makes its error negligible. All
    covariates give exactly 0.
    """
    require_known(form, ("identity", "v_statistic"), f"No form '{form}'", "Forms", SettingsError)
    loss = n.design.loss
    zero = loss.map(np.zeros_like)
    if len(s) == len(n.design.players):
        return n.average(*zero)
    m = n.m(s)
    xi = n.mu_1_wz.target - n.loss_at(m).target
    if form == "identity":
        h = n.h(s, m).target
    else:
        i = n.evaluation.target
        h = np.zeros_like(xi)
        h[i] = v_statistic(n.recombined(s, model), m.target[i], n.bins, n_draws, n.seed)
    phantom = h * (n.design.outcome.target - m.target)
    return n.average(
        source=zero.source,
        target=xi**2 + 2 * xi * (loss.target - n.mu_1_wz.target) - 2 * phantom,
        plugin=xi**2,
    )


def v_statistic(
    parts: Recombined, m: Array, bins: int, n_draws: int, seed: int, distinct: bool = True
) -> Array:
    """Average xi (l - mu_..s) pi / (Y - m) of eq. (4) over rows that give their Z_-s: (rows,).

    At a recombined row xi = b (p_1 - m) and l - mu_..s = b (Y - m), so the loss itself is not
    needed. A recombined row that leaves the bin of the row it was made from has pi = 0. Other rows
    are all rows, or `n_draws` of them for each row; `distinct` leaves out the row itself.
    """
    rng = np.random.default_rng([seed, 2])
    rows = parts.rows
    size = len(rows)
    mass = parts.weights / parts.weights.sum()
    exact = n_draws == 0 or (distinct and n_draws >= size)
    bin_of = binned(parts.q(rows), bins)
    average = np.zeros(size)
    for i in range(size):
        donor = np.arange(size) if exact else rng.choice(size, size=n_draws, p=mass)
        weight = mass[donor] if exact else np.ones(len(donor))
        weight = np.where(distinct & (donor == i), 0.0, weight)
        phantom = np.where(parts.swapped, rows[donor], rows[i])
        same_bin = (binned(parts.q(phantom), bins) == bin_of[i]) & (weight > 0)
        if same_bin.any():
            phantom = phantom[same_bin]
            share = weight[same_bin] / weight.sum()
            xi = parts.slope(phantom) ** 2 * (parts.p_1(phantom) - m[i])
            average[i] = share @ (xi * parts.ratio(phantom, bin_of[i]))
    return average
