"""Nuisances of the walk: every term of the metric given W, and given W and Z, in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.equations.corners import AggregateValues, plain_means
from whygap.equations.lines import CornerName, Term, Walk, mean_line, smooth, smooth_line, walk
from whygap.equations.pairs import (
    Fitted,
    Pair,
    PairValues,
    fitted,
    pair_line,
    plain_pair_means,
)
from whygap.estimate import Estimate, Sample
from whygap.learning.features import Features
from whygap.learning.menu import Menu, mean_probes
from whygap.learning.models import Kind
from whygap.learning.primitives import MeanTask, fit_means
from whygap.nuisances.held_out import mean_task, out_of_fold
from whygap.tables.design import Design

__all__ = ["Shared", "fit_walk", "loss_kind", "plain_values"]

# Terms on which the learner of all terms of a kind is chosen: a metric may have many classes.
_PROBED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What all terms have in common; `risk` is the source risk of a binary outcome, at all rows."""

    design: Design
    features: Features
    menu: Menu
    sample: Sample
    rows: ByDomain[IntArray]  # the evaluated ones
    pi_w: Array
    pi_wz: Array
    risk: ByDomain[Array] | None

    def evaluated(self, values: ByDomain[Array]) -> ByDomain[Array]:
        """Keep the evaluated rows."""
        return values.zip(self.rows, lambda v, rows: v[rows])

    def known(
        self, loss: ByDomain[Array], mu_00_w: ByDomain[Array], mu_0_wz: ByDomain[Array]
    ) -> AggregateValues:
        """What the corner means of one term need."""
        return AggregateValues(self.sample, loss, mu_00_w, mu_0_wz, self.pi_w, self.pi_wz)


def fit_walk(shared: Shared) -> Walk:
    """Corners and lines of the design's metric."""
    metric, has_baseline = shared.design.metric, bool(shared.design.baseline)
    of, gradient = metric.of, metric.gradient
    if metric.pairs:
        pairs = _pairs(shared)
        return walk(lambda p, q: pair_line(pairs, p, q, of, gradient), has_baseline=has_baseline)
    terms = _terms(shared, _by_term(shared.design.terms))
    if metric.is_mean:
        return walk(partial(mean_line, terms[0]), has_baseline=has_baseline)
    return walk(lambda p, q: smooth_line(terms, p, q, of, gradient), has_baseline=has_baseline)


def plain_values(sample: Sample, design: Design) -> ByDomain[Estimate]:
    """The metric of each table."""
    metric, terms = design.metric, _by_term(design.terms)
    if metric.is_mean:
        return plain_means(sample, terms[0])
    if metric.pairs:
        count = len(terms) // 2
        grids = [grid_of(score) for score in terms[count:]]
        means = [plain_pair_means(sample, y, g) for y, g in zip(terms[:count], grids, strict=True)]
        means = [one.rho for one in means] + [one.kappa for one in means]
    else:
        means = [plain_means(sample, term) for term in terms]
    source, target = (
        smooth([mean[d] for mean in means], metric.of, metric.gradient)
        for d in ("source", "target")
    )
    return ByDomain(source, target)


def loss_kind(loss: ByDomain[Array]) -> Kind:
    """0/1 losses are probabilities to learn, losses within [0, 1] are bounded, others are real."""
    both = np.concatenate([loss.source, loss.target])
    if np.isin(both, (0.0, 1.0)).all():
        return "probability"
    return "bounded" if both.min() >= 0 and both.max() <= 1 else "real"
