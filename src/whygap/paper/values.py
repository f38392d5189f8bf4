"""Decompose the gap (Algorithm 1, section 4.1) and value s-partial shifts (Algorithms 2 and 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap.domains import Array, Subset
from whygap.errors import SettingsError, require_known
from whygap.estimate import Estimate
from whygap.paper.nuisances import LearnerName, Nuisances
from whygap.study import Study

Form = Literal["identity", "v_statistic"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Hold the parts by the factors of eq. (1); Lambda_W, Lambda_Z and Lambda_Y sum to the gap."""

    gap: Estimate
    baseline: Estimate
    covariate: Estimate
    outcome: Estimate


def aggregate(study: Study, *, learner: LearnerName = "paper", seed: int = 0) -> Aggregate:
    """Estimate the parts of the gap by Algorithm 1.

    Args:
        study: outcome with two values, and a metric that is a mean over rows.
        learner: "paper" (forests and polynomials, slow) or "fast" (one spline basis).
        seed: of the 80/20 split and of the forests.
    """
    return aggregate_parts(Nuisances.from_study(study, learner, seed))


def aggregate_parts(n: Nuisances) -> Aggregate:
    """Estimate the parts from nuisances; influence functions eqs (12), (13) and (14).

    Args:
        n: nuisances of the study.
    """
    loss = n.design.loss
    zero = loss.map(np.zeros_like)
    residual_w = (loss.source - n.mu_00_w.source) * n.pi_w.source
    residual_wz = (loss.source - n.mu_0_wz.source) * n.pi_wz.source
    mean_000 = n.average(loss.source, zero.target)
    mean_100 = n.average(residual_w, n.mu_00_w.target, plugin=n.mu_00_w.target)
    mean_110 = n.average(residual_wz, n.mu_0_wz.target, plugin=n.mu_0_wz.target)
    mean_111 = n.average(zero.source, loss.target)
    return Aggregate(
        gap=mean_111 - mean_000,
        baseline=mean_100 - mean_000,  # eq. (12)
        covariate=mean_110 - mean_100,  # eq. (13), with - mu_.00(W) on target rows
        outcome=mean_111 - mean_110,  # eq. (14)
    )


@dataclass(frozen=True, slots=True)
class SubsetValue:
    """Hold v(s) = 1 - numerator / denominator."""

    numerator: Estimate
    denominator: Estimate
    edge_rows: int = 0  # target rows of the evaluation that violate Condition 4.2; outcome only

    @property
    def value(self) -> Estimate:
        """v(s) of eq. (2), with the delta method's interval (not Fieller's, hence no ratio)."""
        return replace(1 - self.numerator / self.denominator, ratio=None)


def value_covariate(
    study: Study, s: str | Sequence[str], *, learner: LearnerName = "paper", seed: int = 0
) -> SubsetValue:
    """Estimate v_Z(s), eq. (2), by Algorithm 3.

    Args:
        study: see `aggregate`, as all that is not named here.
        s: names of covariates.
        learner: "paper" or "fast".
        seed: of the split and of the forests.
    """
    n = Nuisances.from_study(study, learner, seed)
    return SubsetValue(covariate_numerator(n, n.players(s)), covariate_numerator(n, ()))


def covariate_numerator(n: Nuisances, subset: Subset) -> Estimate:
    """Estimate the numerator of v_Z(s) by eq. (10); influence function eq. (17).

    The empty set gives the denominator, all covariates give exactly 0.

    Args:
        n: nuisances of the study.
        subset: s, covariates by number.
    """
    loss = n.design.loss
    if len(subset) == len(n.design.players):
        return n.average(*loss.map(np.zeros_like))
    mu_00_wzs = n.mu_00_wzs(subset) if subset else n.mu_00_w
    mu_s0_w = n.mu_s0_w(mu_00_wzs) if subset else n.mu_00_w
    pi_wzs = n.pi_wzs(subset) if subset else n.pi_w
    d = mu_s0_w.zip(n.mu_10_w, np.subtract)
    residual_s = (loss.source - mu_00_wzs.source) * pi_wzs.source
    residual_1 = (loss.source - n.mu_0_wz.source) * n.pi_wz.source
    rest_s = mu_00_wzs.target - mu_s0_w.target
    rest_1 = n.mu_0_wz.target - n.mu_10_w.target
    return n.average(
        source=2 * d.source * (residual_s - residual_1),
        target=d.target**2 + 2 * d.target * (rest_s - rest_1),
        plugin=d.target**2,
    )


def value_outcome(
    study: Study,
    s: str | Sequence[str],
    *,
    form: Form = "identity",
    bins: int = 20,
    n_draws: int = 2000,
    learner: LearnerName = "paper",
    seed: int = 0,
) -> SubsetValue:
    """Estimate v_Y(s) by Algorithm 2, and count the rows that violate Condition 4.2.

    Args:
        study: see `aggregate`; its `source_risk` is not used.
        s: names of covariates; () is a recalibration of the source risk.
        form: "v_statistic" (of accuracy or 0-1 loss) averages over pairs of rows; "identity"
            needs no pairs.
        bins: B of the binned source risk.
        n_draws: rows that each row is recombined with; 0, or as many as there are: all.
        learner: "paper" or "fast".
        seed: of the split, the forests and the draws.
    """
    n = Nuisances.from_study(study, learner, seed, bins)
    numerator = outcome_numerator(n, n.players(s), form, n_draws)
    place = n.p_0.target[n.evaluation.target] * bins + 0.5
    edges = np.isclose(place, np.round(place), rtol=0, atol=1e-12)
    return SubsetValue(numerator, outcome_denominator(n), int(edges.sum()))


def outcome_denominator(n: Nuisances) -> Estimate:
    """Estimate the denominator of v_Y by eq. (5); influence function eq. (49).

    Args:
        n: nuisances of the study.
    """
    loss = n.design.loss
    e = n.mu_1_wz.zip(n.mu_0_wz, np.subtract)
    return n.average(
        source=-2 * e.source * (loss.source - n.mu_0_wz.source) * n.pi_wz.source,
        target=e.target**2 + 2 * e.target * (loss.target - n.mu_1_wz.target),
        plugin=e.target**2,
    )


def outcome_numerator(
    n: Nuisances, s: Subset, form: Form = "identity", n_draws: int = 0
) -> Estimate:
    """Estimate the numerator of v_Y(s) by eq. (4), on target rows.

    The double average of a row is h(G) (Y - m(G)), G = (W, Z_s, q_bin), because Y is binary: the
    identity. The paper takes q_bin as known, since eq. (6) makes its error negligible. All
    covariates give exactly 0.

    Args:
        n: nuisances of the study.
        s: covariates by number.
        form: "identity" or the paper's "v_statistic".
        n_draws: of the V-statistic for each row; 0 takes all rows.
    """
    require_known(form, ("identity", "v_statistic"), f"No form '{form}'", "Forms", SettingsError)
    zero = n.design.loss.map(np.zeros_like)
    if len(s) == len(n.design.players):
        return n.average(*zero)
    m = n.m(s)
    xi = n.mu_1_wz.target - n.loss_at(m).target
    h = zero.target
    if form == "identity":
        h = n.h(s, m).target
    else:
        h[n.evaluation.target] = v_statistic(n, s, m.target, n_draws)
    phantom = h * (n.design.outcome.target - m.target)
    return n.average(
        source=zero.source,
        target=xi**2 + 2 * xi * (n.design.loss.target - n.mu_1_wz.target) - 2 * phantom,
        plugin=xi**2,
    )


def v_statistic(n: Nuisances, s: Subset, m: Array, n_draws: int, distinct: bool = True) -> Array:
    """Average xi (l - mu_..s) pi / (Y - m) of eq. (4) over evaluation rows that give their Z_-s.

    At a recombined row xi = b (p_1 - m) and l - mu_..s = b (Y - m), so the loss itself is not
    needed. A recombined row that leaves the bin of the row it was made from has pi = 0. Other rows
    are all rows, or `n_draws` of them for each row; `distinct` leaves out the row itself.

    Args:
        n: nuisances of the study.
        s: covariates by number.
        m: m(G) per target row, fitted for `s`.
        n_draws: rows drawn for each row; 0 takes all rows.
        distinct: whether a row is never recombined with itself.
    """
    rng = np.random.default_rng([n.seed, 2])
    rows = n.binned_rows[n.evaluation.target]
    m = m[n.evaluation.target]
    size = len(rows)
    mass = n.sample.weights.target / n.sample.weights.target.sum()
    exact = n_draws == 0 or (distinct and n_draws >= size)
    ratio = n.phantom_ratio(s)
    average = np.zeros(size)
    for i in range(size):
        donor = np.arange(size) if exact else rng.choice(size, size=n_draws, p=mass)
        weight = mass[donor] if exact else np.ones(len(donor))
        weight = np.where(distinct & (donor == i), 0.0, weight)
        phantom = np.where(n.swapped(s), rows[donor], rows[i])
        stays = n.stays(phantom) & (weight > 0)
        if stays.any():
            phantom = phantom[stays]
            xi = n.slope_at(phantom) ** 2 * (n.risks.target(phantom[:, :-1]) - m[i])
            average[i] = weight[stays] / weight.sum() @ (xi * ratio(phantom))
    return average
