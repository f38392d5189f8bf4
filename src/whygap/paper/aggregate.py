"""Decompose the gap into three parts: section 4.1, Algorithm 1, equations (12) to (14)."""

from dataclasses import dataclass

import numpy as np

from whygap.estimate import Estimate
from whygap.paper.learners import LearnerName
from whygap.paper.nuisances import Nuisances
from whygap.study import Study


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Hold the parts by the factors of eq. (1); Lambda_W, Lambda_Z and Lambda_Y sum to the gap.

    Each estimate has `.interval(0.9)`, and the plug-in estimate as `.plugin`.
    """

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
    """Estimate the parts from nuisances; influence functions eqs (12), (13) and (14)."""
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
