"""Groups of rows: levels or ranges of each column, and of the model's own prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain, IntArray
from whygap.equations.lines import Line
from whygap.equations.where import Group as RowGroup
from whygap.equations.where import target_share
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.cuts import cuts_near, in_words
from whygap.results import AffectedGroup
from whygap.tables.design import MODEL_LABEL, MODEL_SCORE, Column, Design

_MOST_LEVELS = 8  # as many levels as a reader takes in; rarer ones are pooled
# Sextiles: fine enough to see where, coarse enough to measure.
_QUANTILES = tuple(k / 6 for k in range(1, 6))
_LEAST_ROWS = 20  # mean changes within groups of fewer target rows (with weight) say nothing


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """One variable's groups: labels, and the group number of every row."""

    variable: str
    labels: tuple[str, ...]
    codes: ByDomain[NDArray[np.uint8]]  # there are but few groups


def grouped_columns(crossfit: CrossFit) -> list[Grouped]:
    """Every column of W and Z, then what the model said."""
    design = crossfit.design
    found = [group_column(design.columns[j], crossfit.column(j)) for j in crossfit.all_columns()]
    return found + _said(design, design.prediction)


def _said(design: Design, score: ByDomain[Array]) -> list[Grouped]:
    """Classes; else the score, and for two values the label too (one of them if they are one)."""
    if design.task == "multiclass":
        return [group_column(Column(MODEL_LABEL, "category", design.classes), score)]
    found = []
    if design.task == "binary":
        label = score.map(lambda f: (f >= design.threshold).astype(np.uint8))
        found.append(Grouped(MODEL_LABEL, ("0", "1"), label))
    if not found or not all(np.isin(f, (0.0, 1.0)).all() for f in score):
        found.append(group_column(Column(MODEL_SCORE, "numeric"), score))
    return found


def where_groups(crossfit: CrossFit, grouped: Sequence[Grouped]) -> list[AffectedGroup]:
    """Contribution and mean change of every group that has rows."""
    return [
        _group(crossfit.walk.outcome, one.variable, label, inside)
        for one in grouped
        for k, label in enumerate(one.labels)
        if any(map(np.any, inside := ByDomain(*(codes == k for codes in one.codes))))
    ]


def _group(line: Line, variable: str, label: str, inside: RowGroup) -> AffectedGroup:
    points, values = line.contribution(inside), line.term.where_values()
    shares = values.sample.mean(inside.map(lambda mask: mask.astype(float)))
    enough = int((values.sample.weights.target[inside.target] > 0).sum()) >= _LEAST_ROWS
    change = points / target_share(values, inside) if enough else None
    return AffectedGroup(variable, label, shares.source, shares.target, points, change)


def group_column(column: Column, values: ByDomain[Array]) -> Grouped:
    """Levels, or ranges of equal numbers of rows; missing values are a group of their own."""
    both = np.concatenate(list(values))
    known = both[~np.isnan(both)]
    if not len(known):  # all that was known lay outside the region of shared support
        return Grouped(column.name, ("missing",), values.map(lambda v: np.zeros(len(v), np.uint8)))
    distinct, counts = np.unique(known, return_counts=True)
    if column.kind == "category" or len(distinct) <= _MOST_LEVELS:
        labels, codes = _levels(column, distinct, counts, values)
    else:
        labels, codes = _ranges(column, cuts_near(known, _QUANTILES), values)
    if np.isnan(both).any():
        labels = [*labels, "missing"]
        codes = codes.zip(values, lambda c, v: np.where(np.isnan(v), np.uint8(len(labels) - 1), c))
    return Grouped(column.name, tuple(labels), codes)


def _levels(
    column: Column, distinct: Array, counts: IntArray, values: ByDomain[Array]
) -> tuple[list[str], ByDomain[NDArray[np.uint8]]]:
    frequent = np.sort(distinct[np.argsort(-counts, kind="stable")][:_MOST_LEVELS])
    labels = [in_words(column, v) for v in frequent]
    pooled = len(distinct) - len(frequent)

    def code(v: Array) -> NDArray[np.uint8]:
        place = np.clip(np.searchsorted(frequent, v), 0, len(frequent) - 1)
        return np.where(frequent[place] == v, place, len(frequent)).astype(np.uint8)

    return [*labels, f"{pooled} other levels"] if pooled else labels, values.map(code)


def _ranges(
    column: Column, cuts: Sequence[float], values: ByDomain[Array]
) -> tuple[list[str], ByDomain[NDArray[np.uint8]]]:
    """Up to the first cut, above one and up to the next, above the last."""
    at_most, above = ("until", "after") if column.meaning else ("at most", "above")
    names = [in_words(column, cut) for cut in cuts]
    labels = [f"{at_most} {names[0]}"]
    labels += [f"{above} {a} to {b}" for a, b in pairwise(names)]
    labels += [f"{above} {names[-1]}"]
    return labels, values.map(lambda v: np.searchsorted(cuts, v, side="left").astype(np.uint8))
