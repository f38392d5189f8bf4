"""Value an s-partial covariate shift: v_Z(s) of equation (2), by Algorithm 3."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Subset
from whygap.estimate import Estimate
from whygap.paper.learners import LearnerName
from whygap.paper.nuisances import Nuisances
from whygap.study import Study


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
