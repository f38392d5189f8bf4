"""The walk from the source's metric to the target's: its corners and lines, fitted."""

from __future__ import annotations

from functools import partial

import numpy as np

from whygap.domains import ByDomain
from whygap.equations.corners import plain_means
from whygap.equations.lines import Term, Walk, mean_line, smooth, smooth_line, walk
from whygap.equations.pairs import pair_line, plain_pair_means
from whygap.estimate import Estimate, Sample
from whygap.nuisances.ranks import fit_pairs
from whygap.nuisances.terms import Shared, by_term, fitted_given, given_second
from whygap.tables.design import Design

__all__ = ["fit_walk", "plain_values"]


def fit_walk(shared: Shared) -> Walk:
    """Corners and lines of the design's metric."""
    design, metric = shared.design, shared.design.metric
    how = {"has_baseline": bool(design.baseline), "outcome_first": bool(design.given)}
    of, gradient = metric.of, metric.gradient
    if metric.pairs:
        pairs = fit_pairs(shared)
        return walk(lambda p, q: pair_line(pairs, p, q, of, gradient), **how)
    terms = _terms(shared)
    if metric.is_mean:
        return walk(partial(mean_line, terms[0]), **how)
    return walk(lambda p, q: smooth_line(terms, p, q, of, gradient), **how)


def plain_values(sample: Sample, design: Design) -> ByDomain[Estimate]:
    """The metric of each table."""
    metric, terms = design.metric, by_term(design.terms)
    if metric.is_mean:
        return plain_means(sample, terms[0])
    means = (
        plain_pair_means(sample, terms)
        if metric.pairs
        else [plain_means(sample, term) for term in terms]
    )
    return ByDomain(
        smooth([mean.source for mean in means], metric.of, metric.gradient),
        smooth([mean.target for mean in means], metric.of, metric.gradient),
    )


def _terms(shared: Shared) -> list[Term]:
    """The metric's terms; E_0[u | W, Z] = a + b p_0 needs no fit of its own."""
    design = shared.design
    losses = by_term(design.terms)
    mu_00_w = fitted_given(shared, "mu_00_w", design.baseline, "W", losses)
    if shared.risk is None:
        mu_0_wz = fitted_given(shared, *given_second(design), losses)
        known = zip(losses, mu_00_w, mu_0_wz, strict=True)
        return [Term(shared.known(u, w, wz), u) for u, w, wz in known]
    affine = zip(*map(by_term, design.affine_terms()), strict=True)
    terms = []
    for loss, given_w, (a, b) in zip(losses, mu_00_w, affine, strict=True):
        given_wz = a.zip(b.zip(shared.risk, np.multiply), np.add)
        terms.append(Term(shared.known(loss, given_w, given_wz), loss, a, b))
    return terms
