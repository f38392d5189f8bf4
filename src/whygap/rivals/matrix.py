"""Encoded columns as plain numbers, for the methods that need a linear predictor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.tables.design import Column, Design

__all__ = ["NumericMatrix", "numeric_matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class NumericMatrix:
    """Columns without gaps and without codes.

    Attributes:
        values: (rows, columns) in each domain.
        names: one per column, such as `age`, `state = NE` or `income (missing)`.
        owner: position in the design of the column each one came from.
    """

    values: ByDomain[Array]
    names: tuple[str, ...]
    owner: IntArray

    def where(self, positions: tuple[int, ...]) -> IntArray:
        """Columns that came from these columns of the design."""
        return np.flatnonzero(np.isin(self.owner, positions))

    def pooled_sd(self) -> Array:
        """Standard deviation over the rows of both domains."""
        return np.asarray(np.vstack(list(self.values)).std(axis=0))


def numeric_matrix(design: Design, positions: tuple[int, ...] | None = None) -> NumericMatrix:
    """Expand categories to indicators (first level left out) and fill gaps.

    A missing number becomes the pooled mean and an indicator of its own; a missing category is a
    level of its own. Columns that are constant over both domains are left out.
    """
    wanted = positions if positions is not None else design.baseline + design.covariates
    pooled = np.vstack(list(design.features))
    parts = [_expanded(design.columns[j], pooled[:, j]) for j in wanted]
    block = np.column_stack([np.zeros((len(pooled), 0)), *(values for values, _ in parts)])
    names = [name for _, labels in parts for name in labels]
    owner = np.repeat(np.array(wanted, dtype=np.int64), [len(labels) for _, labels in parts])
    varies = np.flatnonzero(np.ptp(block, axis=0) > 0)
    cut = design.rows.source
    return NumericMatrix(
        values=ByDomain(block[:cut, varies], block[cut:, varies]),
        names=tuple(names[i] for i in varies),
        owner=owner[varies],
    )


def _expanded(column: Column, values: Array) -> tuple[Array, list[str]]:
    missing = np.isnan(values)
    if column.kind == "category":
        codes = np.unique(values[~missing])[1:]
        labels = [f"{column.name} = {_level(column, code)}" for code in codes]
        block = (values[:, None] == codes[None, :]).astype(float)
    else:
        filled = np.where(missing, np.nanmean(values) if not missing.all() else 0.0, values)
        labels = [column.name]
        block = filled[:, None]
    if missing.any():
        labels.append(f"{column.name} (missing)")
        block = np.column_stack([block, missing.astype(float)])
    return block, labels


def _level(column: Column, code: float) -> str:
    place = int(code)
    return column.levels[place] if place < len(column.levels) else f"{code:g}"
