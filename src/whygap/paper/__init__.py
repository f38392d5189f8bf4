"""Decompose a gap by the method as published (arXiv 2402.14254), readable beside the paper.

from whygap import paper

paper.aggregate(study).covariate.interval(0.9)                  # Algorithm 1
paper.value_covariate(study, ["age"]).value                     # Algorithm 3
paper.value_outcome(study, ["age"], form="v_statistic").value   # Algorithm 2
paper.detailed(study, learner="fast").outcome.values["age"]     # Algorithm 4

Every row is used once: 80% of them fit the nuisances, 20% evaluate (no cross-fitting). The error
of the binned source risk is not in the intervals, since eq. (6) calls it negligible. For intervals
that hold at the sizes of real tables take `whygap.explain`. An estimate has `.interval(0.9)`, and
the plug-in estimate as `.plugin`.

Errors of print that are corrected:

- Section 4.2, Algorithms 2 and 3: values are one minus the ratio, as eq. (2) says.
- Eq. (4): a row is not recombined with itself, and a recombined row keeps the bin of the row it
  was made from; pi is 0 where that is not its own.
- Condition B.1: density ratios are bounded; they are not between 0 and 1.
- Eqs (12) to (14): contributions are centred within each domain, not over both; variances are
  those of two samples. The same holds for eqs (17) and (49).
- Eq. (13): mu_.00(W) is subtracted on target rows.
- Appendix D: p_1 is fitted on the target, where p_0 is printed; eq. (9) is a mean given w, not
  given z_s; and the phantom ratio needs the bin of the row that gives W and Z_s.
- Algorithm 4: sizes k of subsets are drawn with chances in proportion to 1 / (k (p - k)).

Equations that are no computation: (1) factors the joint law (`Aggregate`), (6) is a rate, (11) the
expansion behind all intervals, (15) states that the parts are asymptotically linear, and (16) is
the mean under the other domain's covariates that E_100 and E_110 are instances of.
"""

from whygap.paper.shapley import Detailed, Revision, Shares, detailed, revise
from whygap.paper.values import Aggregate, SubsetValue, aggregate, value_covariate, value_outcome

__all__ = ["Aggregate", "Detailed", "Revision", "Shares", "SubsetValue", "aggregate"]
__all__ += ["detailed", "revise", "value_covariate", "value_outcome"]
