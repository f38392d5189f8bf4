"""The source risk as one more column: G = (W, Z_s, q_bin) or (W, Z_s, q).

Each twin has its own: the risk fitted on its half of the source rows. So the errors of the two
risks are independent, and the product form of the numerator cancels the variance part of their
second-order effect too. With one shared estimate the first-order correction overshoots by as much
as the plug-in falls short (docs/errata.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whygap.domains import Array, ByDomain, Domain
from whygap.equations import binning
from whygap.learning.blocks import BlockSet
from whygap.learning.conditional_mean import Fits, MeanTask, fit_means
from whygap.learning.features import Extra, View
from whygap.learning.menu import ALL_BLOCKS
from whygap.learning.models import Learner
from whygap.learning.ridge import logit_clipped
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import everywhere

__all__ = [
    "LOGIT_STEP",
    "Risks",
    "fit_compared_risks",
    "known_or",
    "risk_columns",
    "twin_risks",
]

LOGIT_STEP = 0.25
_END_SHARE = 0.02

Risks = dict[BlockSet, ByDomain[Array]]


def fit_compared_risks(crossfit: CrossFit) -> ByDomain[Fits]:
    """Twins of p_0 and p_1 given W and Z, to be set against each other.

    One learner, chosen on the rows of both domains: what it does to both risks drops out of their
    difference, and where one domain shows that trees are needed the other is not left behind.
    """
    tasks = ByDomain(_task(crossfit, "source"), _task(crossfit, "target"))
    learner = _learner(crossfit, "p_1 - p_0 (twins)", tuple(tasks), "outcome, each domain")
    return tasks.map(lambda task: fit_means(crossfit.features, learner, task))


def _learner(crossfit: CrossFit, name: str, tasks: Sequence[MeanTask], target: str) -> Learner:
    learner: Learner = crossfit.menu.twin_learner(
        name, lambda: tasks, crossfit.features, columns="W, Z", target=target, blocks=ALL_BLOCKS
    )
    return learner


def _task(crossfit: CrossFit, domain: Domain) -> MeanTask:
    return MeanTask(
        "p_0" if domain == "source" else "p_1",
        "probability",
        crossfit.all_columns(),
        crossfit.features.plain[domain],
        crossfit.sorted_outcome[domain],
        crossfit.halves,
    )


def twin_risks(crossfit: CrossFit) -> Risks:
    """p_0 of every training set at all rows, block-sorted.

    At source rows of its own blocks a fit is in-sample; the twins of those rows are others.
    """
    task = _task(crossfit, "source")
    learner = _learner(crossfit, "p_0 (twins)", (task,), "outcome, source")
    fits = fit_means(crossfit.features, learner, task)
    at = crossfit.features.plain.map(lambda view: everywhere(fits, view))
    return {h: ByDomain(at.source[h], at.target[h]) for h in crossfit.halves}


def known_or(crossfit: CrossFit, fitted: Risks) -> Risks:
    """The source risk the user knows, for every training set alike; else the fitted one."""
    if crossfit.design.source_risk is None:
        return fitted
    return dict.fromkeys(crossfit.halves, crossfit.sorted_risk)


def risk_columns(crossfit: CrossFit, risks: Risks) -> dict[BlockSet, Extra]:
    """Own values at target rows; at source rows the two sides on which the risk may move."""
    make = _smooth if crossfit.settings.outcome_form == "smooth" else _binned
    if crossfit.design.source_risk is not None:
        one = make(crossfit, crossfit.sorted_risk)
        return dict.fromkeys(risks, one)
    return {half: make(crossfit, risk) for half, risk in risks.items()}


def _binned(crossfit: CrossFit, risk: ByDomain[Array]) -> Extra:
    """Bin numbers; at source rows those above and below the nearest edge.

    The two end bins hold the rows whose risk is near 0 or 1: there m varies a lot within a bin,
    so each gets its own terms when enough rows fall into it.
    """
    bins = crossfit.settings.bins
    own = binning.bin_index(risk.target, bins)
    down = binning.edge_index(risk.source, bins)
    centres = np.clip(np.arange(bins + 1) / bins, 0.25 / bins, 1 - 0.25 / bins)
    ends = [end for end in (0, bins) if np.mean(own == end) >= _END_SHARE]
    scale = logit_clipped(centres[own.astype(int)])
    middle, spread = float(scale.mean()), float(scale.std()) or 1.0

    def main(position: Array) -> list[Array]:
        level = (logit_clipped(centres[position.astype(int)]) - middle) / spread
        return [level, *((position == end).astype(float) for end in ends)]

    views = {
        "own": View("target", own),
        "down": View("source", down),
        "up": View("source", down + 1),
    }
    return Extra.of(main, views)


def _smooth(crossfit: CrossFit, risk: ByDomain[Array]) -> Extra:  # noqa: ARG001 - as _binned
    """The risk on the logit scale; at source rows also a step up and a step down."""
    own = logit_clipped(risk.target)
    here = logit_clipped(risk.source)
    middle, spread = float(own.mean()), float(own.std()) or 1.0

    def main(position: Array) -> list[Array]:
        return [(position - middle) / spread]

    views = {
        "own": View("target", own),
        "here": View("source", here),
        "down": View("source", here - LOGIT_STEP),
        "up": View("source", here + LOGIT_STEP),
    }
    return Extra.of(main, views)
