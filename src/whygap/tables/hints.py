"""What looks wrong without being an error: leakage, separated domains, spread-out categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from whygap._metrics import Task
from whygap.domains import Array, ByDomain, IntArray
from whygap.notes import Fact, Note
from whygap.tables.copies import copy_notes
from whygap.tables.design import Design
from whygap.tables.look import NEARLY_ONE, prediction_notes

if TYPE_CHECKING:  # replicates run without the packages that tables need
    from whygap.tables.encode import EncodedColumn
    from whygap.tables.roles import Roles

__all__ = ["with_hints"]

FEW_VALUES = 50  # up to here, the order of numbers may mean nothing (codes)


def with_hints(
    design: Design,
    columns: Sequence[EncodedColumn],
    roles: Roles,
    names: ByDomain[str],
) -> Design:
    """The design with notes on what looks wrong; `columns` are its columns as they were encoded."""
    grouped = {column for members in roles.groups.values() for column in members}
    hints = (
        *leak_hints(columns, design),
        *prediction_notes(design, names),
        *copy_notes(design, names),
        *spread_categories(columns[len(design.baseline) :], grouped),
        *swap_hint(design, names),
        *label_hint(design),
    )
    return replace(design, notes=design.notes + hints)


def leak_hints(columns: Sequence[EncodedColumn], design: Design) -> Iterator[Note]:
    """Columns that give the outcome away."""
    outcome = np.concatenate(list(design.outcome))
    for column in columns:
        place = places(column.pooled)
        unordered = column.column.kind == "category" or place.max() < FEW_VALUES
        found = given_away(place, outcome, design.task, unordered)
        if found == 1:
            yield Note("gives_outcome", "problem", {"column": column.name})
        elif found > NEARLY_ONE:
            yield Note("nearly_gives_outcome", "warning", {"column": column.name})


def places(values: Array) -> IntArray:
    """Where each value stands among the distinct ones; missing comes last."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def given_away(place: IntArray, outcome: Array, task: Task, unordered: bool) -> float:
    """How well a column alone gives the outcome; 1 is in every row."""
    if task == "binary":
        return best_auc(place, outcome, unordered)
    if task == "regression":
        ranks = np.unique(outcome, return_inverse=True)[1]
        together = np.corrcoef(place, ranks)[0, 1] if place.any() else 0.0
        return round(abs(float(together)), 9)  # rounding is not a difference
    if place.max() >= FEW_VALUES:
        return 0.0  # so many values have a class each by chance
    counts = np.zeros((place.max() + 1, int(outcome.max()) + 1))
    np.add.at(counts, (place, outcome.astype(np.int64)), 1)
    return float(counts.max(axis=1).sum() / len(outcome))


def best_auc(place: IntArray, truth: Array, unordered: bool) -> float:
    """How well the column alone ranks a 0/1 truth, in the better direction."""
    zeros, ones = (np.bincount(place, weights=w).astype(float) for w in (1 - truth, truth))
    return auc_of_counts(zeros, ones, unordered)


def auc_of_counts(zeros: Array, ones: Array, unordered: bool) -> float:
    """The same from how often each value has a 0 and a 1.

    Unordered values are first sorted by their share of ones.
    """
    if unordered:
        order = np.argsort(ones / (ones + zeros), kind="stable")
        ones, zeros = ones[order], zeros[order]
    below, total = np.cumsum(zeros) - zeros, float(ones.sum() * zeros.sum())
    area = float(ones @ (below + zeros / 2)) / total if total > 0 else 0.5
    return max(area, 1 - area)


def spread_categories(columns: Sequence[EncodedColumn], grouped: set[str]) -> Iterator[Note]:
    """0/1 columns with a common prefix of which at most one is 1: one category, spread out."""
    families: dict[str, list[EncodedColumn]] = {}
    for column in columns:
        prefix = column.name.split("_")[0]
        values = column.pooled
        is_flag = column.column.kind == "numeric" and np.all((values == 0) | (values == 1))
        if is_flag and prefix not in ("", column.name) and column.name not in grouped:
            families.setdefault(prefix, []).append(column)
    for prefix, members in families.items():
        if len(members) < 3 or np.max(np.sum([m.pooled for m in members], axis=0)) > 1:
            continue
        names = [m.name for m in members]
        facts: dict[str, Fact] = {"columns": tuple(names), "n_columns": len(names), "group": prefix}
        yield Note("spread_category", "info", facts)


def swap_hint(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    """A model usually does better where it was trained; the other way round is worth a word.

    When it is not chance (rows taken as independent), it is a warning.
    """
    weights = design.weights or design.outcome.map(np.ones_like)
    share = weights.map(lambda values: values / values.sum())
    source, target = design.terms.zip(share, design.metric.value)
    if source == target or design.metric.higher_is_better != (target > source):
        return
    facts: dict[str, Fact] = {
        "metric": design.metric.name,
        "source": names.source,
        "target": names.target,
        "source_value": float(source),
        "target_value": float(target),
    }
    centred = design.terms.zip(share, design.metric.influence)
    variance = sum(share.zip(centred, lambda part, rest: float(part**2 @ rest**2)))
    sure = (target - source) ** 2 > 3.0**2 * variance  # three standard errors are not chance
    yield Note("better_in_target", "warning" if sure else "info", facts)


def label_hint(design: Design) -> Iterator[Note]:
    both = np.concatenate(list(design.prediction))
    if design.metric.wants == "probability" and np.all((both == 0) | (both == 1)):
        yield Note("labels_only", "warning", {"metric": design.metric.name})
