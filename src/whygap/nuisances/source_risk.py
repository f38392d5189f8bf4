"""The source risk as one more column: G = (W, Z_s, q_bin).

Each twin has its own: the risk fitted on its half of the source rows, so that the errors of the two
risks are independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from whygap.domains import Array, ByDomain, Domain
from whygap.equations import binning
from whygap.equations.binning import BINS
from whygap.learning.blocks import BlockSet
from whygap.learning.features import Extra, View
from whygap.learning.models import Learner
from whygap.learning.primitives import Fits, MeanTask, fit_means
from whygap.learning.ridge import logit_clipped
from whygap.nuisances.channels import Channel, channels
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import block_sorted, everywhere, mean_task, twins, twins_of_values

COMPARED = "p_1 - p_0 (twins)"
"""What the learner of the two risks that are compared is chosen as."""

Risks = Mapping[BlockSet, ByDomain[Array]]


@dataclass(frozen=True, slots=True, eq=False)
class SourceRisk:
    """p_0 given W and Z, fitted on halves of the source rows."""

    learner: Learner  # who fitted it
    fits: Fits
    p_0: Risks  # what every training set says at all rows (in sample at its own)


def fit_source_risks(crossfit: CrossFit) -> tuple[SourceRisk, ...]:
    """Twins of E_0[Y | W, Z], for several classes of each."""
    return tuple(_fit(crossfit, channel) for channel in channels(crossfit.design))


def _fit(crossfit: CrossFit, channel: Channel) -> SourceRisk:
    task = _task(crossfit, "source", channel)
    learner = _learner(crossfit, f"p_0 (twins){channel.name}", (task,), "outcome, source")
    fits = fit_means(crossfit.features, learner, task)
    source, target = everywhere(fits, "source"), everywhere(fits, "target")
    p_0 = {half: ByDomain(source[half], target[half]) for half in crossfit.halves}
    return SourceRisk(learner, fits, p_0)


def fit_compared_risks(crossfit: CrossFit, source: SourceRisk) -> ByDomain[ByDomain[Array]]:
    """Twins of p_0 and of p_1 to be set against each other, at the rows of both domains.

    One learner, chosen on the rows of both domains: what it does to both risks drops out of their
    difference, and where one domain shows that trees are needed the other is not left behind. The
    source risk is fitted again only where its own learner is another one.
    """
    (channel,) = channels(crossfit.design)
    tasks = ByDomain(_task(crossfit, "source", channel), _task(crossfit, "target", channel))
    learner = _learner(crossfit, COMPARED, tuple(tasks), "outcome, each domain")
    features = crossfit.features
    fits = ByDomain(
        source.fits if learner == source.learner else fit_means(features, learner, tasks.source),
        fit_means(features, learner, tasks.target),
    )
    return fits.map(lambda one: ByDomain(twins(one, "source"), twins(one, "target")))


def _learner(crossfit: CrossFit, name: str, tasks: Sequence[MeanTask], target: str) -> Learner:
    learner: Learner = crossfit.menu.twin_learner(
        name, lambda: tasks, crossfit.features, columns="W, Z", target=target
    )
    return learner


def _task(crossfit: CrossFit, domain: Domain, channel: Channel) -> MeanTask:
    name, columns = "p_0" if domain == "source" else "p_1", crossfit.all_columns()
    features, outcome = crossfit.features, channel.outcome[domain]
    return mean_task(features, name, channel.kind, columns, domain, outcome, crossfit.halves)


def twins_of_risks(crossfit: CrossFit, risks: Risks) -> ByDomain[Array]:
    """Twins, from what every training set says at all rows."""

    def picked(domain: Domain) -> Array:
        values = {half: both[domain] for half, both in risks.items()}
        return twins_of_values(crossfit.blocks, domain, values)

    return ByDomain(picked("source"), picked("target"))


def risk_columns(crossfit: CrossFit, risks: Risks) -> dict[BlockSet, Extra]:
    """Own values at target rows; at source rows the two sides on which the risk may move."""
    if (known := crossfit.design.source_risk) is not None:
        return dict.fromkeys(risks, _binned(crossfit, known))
    return {half: _binned(crossfit, risk) for half, risk in risks.items()}


def _binned(crossfit: CrossFit, risk: ByDomain[Array]) -> Extra:
    """Bin numbers; at source rows those above and below the nearest edge.

    The two end bins hold the rows whose risk is near 0 or 1: there m varies a lot within a bin,
    so each gets its own terms when enough rows fall into it.
    """
    risk = block_sorted(crossfit.blocks, risk)
    own, down = binning.bin_index(risk.target, BINS), binning.edge_index(risk.source, BINS)
    centres = np.clip(np.arange(BINS + 1) / BINS, 0.25 / BINS, 1 - 0.25 / BINS)
    # An end bin gets terms of its own where it holds rows enough to fit them.
    ends = [end for end in (0, BINS) if np.mean(own == end) >= 0.02]
    scale = logit_clipped(centres[own.astype(int)])
    middle, spread = float(scale.mean()), float(scale.std()) or 1.0

    def main(position: Array) -> list[Array]:
        level = (logit_clipped(centres[position.astype(int)]) - middle) / spread
        return [level, *((position == end).astype(float) for end in ends)]

    below, above = (View("source", _single(side)) for side in (down, down + 1))
    views = {"own": View("target", _single(own)), "down": below, "up": above}
    return Extra.of(main, views, count=BINS + 1)


def _single(numbers: Array) -> Array:
    """Whole numbers in single precision, which has room for them: there are many such columns."""
    return cast(Array, numbers.astype(np.float32))
