"""The mean metric when some columns move to the target: Psi(S) = E_1[E_0[l | X_S]].

X_S comes from the target domain, everything else follows as in the source. Psi(empty) is the
source mean, Psi(W) the corner 100 and Psi(W and Z) the corner 110, so that Shapley shares of Psi
are signed points, in the metric's own units, that add up to parts of the gap: over the columns of
W to the baseline part, over the players of Z (from Psi(W) on) to the covariate part.

Not in the paper. One conditional mean and one density ratio for every S; first-order, so that no
twins are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate, Sample


@dataclass(frozen=True, slots=True, eq=False)
class TransportedValues:
    """What Psi(S) needs of one set of columns S."""

    sample: Sample
    loss: Array  # the metric at source rows
    mu_s: ByDomain[Array]  # E_0[l | X_S] at every row
    pi_s: Array  # density ratio target/source of X_S, at source rows


def transported_mean(values: TransportedValues) -> Estimate:
    """Psi(S), debiased: (l - mu_S) pi_S at source rows, mu_S at target rows."""
    return Estimate.from_contributions(
        values.sample,
        source=(values.loss - values.mu_s.source) * values.pi_s,
        target=values.mu_s.target,
        plugin=values.sample.mean(values.mu_s).target,
    )
