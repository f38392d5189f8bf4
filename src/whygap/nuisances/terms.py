"""Per-row terms of a metric: what they have in common, and E_0[u | columns] of several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.corners import AggregateValues
from whygap.estimate import Sample
from whygap.learning.features import Features
from whygap.learning.menu import Menu, mean_probes
from whygap.learning.models import Kind
from whygap.learning.primitives import fit_means
from whygap.nuisances.held_out import mean_task, out_of_fold
from whygap.tables.design import Design

__all__ = ["Shared", "by_term", "fitted_given", "given_second", "loss_kind"]

# Probabilities on which their learner is chosen: a metric may have terms of many classes.
_PROBED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What all terms have in common; `risk` is the source risk of a binary outcome, at all rows."""

    design: Design
    features: Features
    menu: Menu
    sample: Sample
    pi_w: Array
    pi_wz: Array
    risk: ByDomain[Array] | None

    def known(
        self, loss: ByDomain[Array], mu_00_w: ByDomain[Array], mu_0_wz: ByDomain[Array]
    ) -> AggregateValues:
        """What the corner means of one term need."""
        return AggregateValues(self.sample, loss, mu_00_w, mu_0_wz, self.pi_w, self.pi_wz)


def loss_kind(loss: ByDomain[Array]) -> Kind:
    """0/1 losses are probabilities to learn, losses within [0, 1] are bounded, others are real."""
    both = np.concatenate([loss.source, loss.target])
    if np.isin(both, (0.0, 1.0)).all():
        return "probability"
    return "bounded" if both.min() >= 0 and both.max() <= 1 else "real"


def fitted_given(
    shared: Shared,
    name: str,
    columns: tuple[int, ...],
    shown: str,
    targets: Sequence[ByDomain[Array]],
) -> list[ByDomain[Array]]:
    """E_0[. | columns] of some terms, out of fold.

    Terms that are probabilities have one learner; others, which may differ in scale, one each.
    """
    features, halves = shared.features, shared.features.blocks.complements()
    tasks = [
        mean_task(features, name, loss_kind(u), columns, "source", u.source, halves)
        for u in targets
    ]
    likely = [task for task in tasks if task.kind == "probability"][:_PROBED]
    found = []
    for k, task in enumerate(tasks):
        own = task.kind != "probability"
        learner = shared.menu.learner(
            f"{name}, term {k + 1}" if own and len(tasks) > 1 else name,
            partial(mean_probes, features, [task] if own else likely),
            columns=shown,
            target="metric, source",
        )
        fits = fit_means(features, learner, task)
        found.append(ByDomain(out_of_fold(fits, "source"), out_of_fold(fits, "target")))
    return found


def given_second(design: Design) -> tuple[str, tuple[int, ...], str]:
    """What fits at the corner 110 are called, their columns, and these in words."""
    name, shown = ("mu_0_wy", "W, Y") if design.given else ("mu_0_wz", "W, Z")
    return name, design.second, shown


def by_term(terms: ByDomain[Array]) -> list[ByDomain[Array]]:
    """Terms (K, rows) one by one."""
    return [ByDomain(*rows) for rows in zip(*terms, strict=True)]
