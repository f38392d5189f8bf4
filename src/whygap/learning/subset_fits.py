"""Fits of the fast learner on a column set that comes again and again, by `together`.

What such a fit starts from is known from a fit on all columns; least squares needs no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whygap.domains import DOMAINS, Array, Domain, IntArray
from whygap.learning.blocks import BlockSet
from whygap.learning.descent import factor_of, logistic_together, solve
from whygap.learning.features import Extra, Features, at
from whygap.learning.models import BasisModel, Fast, Scale
from whygap.learning.ridge import Curvature
from whygap.learning.together import Heads, Segment, Together

if TYPE_CHECKING:
    from whygap.learning.primitives import MeanTask

Known = Callable[[BlockSet], Curvature]
Found = dict[BlockSet, BasisModel]


@dataclass(frozen=True, slots=True, eq=False)
class _Trained:
    """One training set: its target and the target's scale, its total weight, its extra column."""

    blocks: BlockSet
    target: Array
    scale: Scale
    weight: float
    light: Array  # 1 for each lightly penalised basis column, -1 for closed ones, else 0
    known: Curvature
    extra: Extra | None = None
    place: IntArray | None = None  # of what is known among its coefficients, if it is not all


def means_together(features: Features, learner: Fast, task: MeanTask, known: Known) -> Found:
    """A model per training set, but of those that have nothing to learn.

    Least squares needs all second derivatives; where some are not known, fits are left alone.
    """
    nothing_seen = not task.columns and task.extra is None
    if nothing_seen or (task.kind == "real" and task.common is not None):
        return {}
    functions = features.dictionary.select(task.columns)
    groups: dict[tuple[int, int], list[_Trained]] = defaultdict(list)
    for blocks in task.trained_on:
        one = _trained(features, task, functions, blocks, known)
        if float(np.ptp(at(one.target, features.blocks.training_rows(task.domain, blocks)))) == 0:
            continue
        # Extra columns of several training sets may differ in their terms.
        shape = (0, 0) if one.extra is None else (one.extra.width, one.extra.heads)
        groups[shape].append(one)
    found: Found = {}
    for group in groups.values():
        if task.kind == "real":
            found |= {one.blocks: _exactly(learner, one) for one in group}
            continue
        used = sorted(frozenset[int]().union(*(one.blocks for one in group)))
        segments = [_segment(features, task.domain, block, group, functions) for block in used]
        found |= _fitted(learner, segments, group)
    return found


def ratios_together(
    features: Features, learner: Fast, columns: tuple[int, ...], known: Known
) -> Found:
    """A domain classifier per training set, likewise."""
    if not columns:
        return {}
    functions, blocks = features.dictionary.select(columns), features.blocks
    light = features.light("source", functions, None)
    segments = []
    for domain in DOMAINS:
        label = np.full(len(features.weights[domain]), float(domain == "target"))
        group = [
            _Trained(one, label, Scale(), _weight(features, DOMAINS, one), light, known(one))
            for one in blocks.complements()
        ]
        used = sorted(frozenset[int]().union(*blocks.complements()))
        segments += [_segment(features, domain, block, group, functions) for block in used]
    return _fitted(learner, segments, group)


def _trained(
    features: Features, task: MeanTask, functions: IntArray, blocks: BlockSet, known: Known
) -> _Trained:
    target = task.targets[blocks] if isinstance(task.targets, Mapping) else task.targets
    rows = features.blocks.training_rows(task.domain, blocks)
    light = features.light(task.domain, functions, blocks)
    extra, place = None if task.extra is None else task.extra[blocks], None
    if extra is not None:
        times = features.times(functions, extra)
        added = extra.width + sum(int(mask.sum()) for mask in times)
        light = np.concatenate([light, np.arange(added) < extra.heads])
        if task.common is not None and task.common[blocks] is not extra:
            place = _place_beside(len(functions), times, extra, task.common[blocks])
    scale = Scale.of(task.kind, at(target, rows))
    weight = _weight(features, (task.domain,), blocks)
    return _Trained(blocks, target, scale, weight, light, known(blocks), extra, place)


def _place_beside(
    functions: int, times: Sequence[NDArray[np.bool_]], extra: Extra, common: Extra
) -> IntArray:
    """Where coefficients of a common extra column are among those of one with more terms.

    Those are the first multiplying terms, and the first of the other terms.
    """
    first, heads = 1 + functions, common.heads
    others, products = first + len(times), first + extra.width
    stop = products + sum(int(mask.sum()) for mask in times[:heads])
    spans = (0, first + heads), (others, others + common.width - heads), (products, stop)
    return np.concatenate([np.arange(*span) for span in spans])


def _weight(features: Features, domains: Sequence[Domain], blocks: BlockSet) -> float:
    rows = {domain: features.blocks.training_rows(domain, blocks) for domain in domains}
    return sum(float(at(features.weights[domain], some).sum()) for domain, some in rows.items())


def _segment(
    features: Features, domain: Domain, block: int, group: Sequence[_Trained], functions: IntArray
) -> Segment:
    (rows,) = features.blocks.training_rows(domain, frozenset([block]))
    models = np.flatnonzero([block in one.blocks for one in group])
    own = [one for one in group if block in one.blocks]
    heads = None
    if own[0].extra is not None:
        views = {id(one.extra): one.extra for one in own if one.extra is not None}
        positions = [(view, view.views["own"].position[rows]) for view in views.values()]
        terms = np.stack([view.terms(position).T for view, position in positions])
        heads = Heads(terms, features.times(functions, own[0].extra))
    return Segment(
        models,
        features.across(domain, rows, functions).astype(np.float64, copy=False),
        np.stack([one.scale.put(one.target[rows]) for one in own]),
        features.weights[domain][rows],
        heads,
    )


def _fitted(learner: Fast, segments: Sequence[Segment], group: Sequence[_Trained]) -> Found:
    fits = Together([segment for segment in segments if segment.weight.size], len(group))
    ridge = np.stack([_ridge(learner, one) for one in group])
    starts = [_start(*each) for each in zip(group, ridge, strict=True)]
    known = [start.factor for start in starts if start.factor is not None]
    coefficients = logistic_together(
        fits, ridge, np.stack([start.coefficients for start in starts]), known or None
    )
    each = zip(group, coefficients, strict=True)
    return {one.blocks: BasisModel(found, one.scale) for one, found in each}


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    coefficients: Array
    factor: Array | None  # of second derivatives, where all are known


def _start(one: _Trained, ridge: Array) -> _Start:
    """One step from what is known; coefficients of which nothing is known are 0."""
    if one.place is None:
        factor = factor_of(one.known.gram, ridge)
        return _Start(solve(factor, one.known.moments), factor)
    coefficients = np.zeros(len(ridge))
    factor = factor_of(one.known.gram, ridge[one.place])
    coefficients[one.place] = solve(factor, one.known.moments)
    return _Start(coefficients, None)


def _exactly(learner: Fast, one: _Trained) -> BasisModel:
    return BasisModel(_start(one, _ridge(learner, one)).coefficients, one.scale)


def _ridge(learner: Fast, one: _Trained) -> Array:
    return np.concatenate([[0.0], learner.penalties(one.light)]) * one.weight
