"""Revise the source risk with a few variables, as the experiments of sections 5.2 and 6 do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap._metrics import metric_named
from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate
from whygap.paper.learners import LearnerName
from whygap.paper.nuisances import Nuisances
from whygap.study import Study


@dataclass(frozen=True, slots=True)
class Revision:
    """Hold the AUC on held-out target rows before and after a revision, and the difference."""

    variables: tuple[str, ...]
    before: Estimate
    after: Estimate
    difference: Estimate


def revise(
    study: Study,
    variables: str | Sequence[str],
    *,
    learner: LearnerName = "paper",
    seed: int = 0,
) -> Revision:
    """Fit p_1(Y=1 | Q, W, Z_s) on 80% of the target rows and measure the AUC on the rest.

    Q is the source risk p_0(Y=1 | W, Z), fitted on source rows.

    Args:
        study: see `aggregate`.
        variables: names of Z_s, for example the first of `detailed(study).outcome.ranking`.
        learner: "paper" or "fast".
        seed: of the split and of the forests.
    """
    n = Nuisances.from_study(study, learner, seed)
    design = n.design
    weights = n.sample.weights
    columns = design.subset_columns(n.players(variables))
    risk = n.mean("target", design.outcome.target, columns, n.p_0)
    auc = metric_named("auc")

    def measure(score: Array) -> Estimate:
        terms = np.stack([design.outcome.target, score])[:, n.evaluation.target]
        centred = ByDomain(np.zeros_like(weights.source), auc.influence(terms, weights.target))
        value = auc.value(terms, weights.target)
        return Estimate.of(value, n.sample.influence(centred), n.sample.key)

    before = measure(design.prediction.target)
    after = measure(risk.target)
    names = tuple(design.players[j].name for j in n.players(variables))
    return Revision(names, before, after, after - before)
