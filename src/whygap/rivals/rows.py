"""Part of a design's rows, as a design."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from whygap.domains import ByDomain
from whygap.tables.design import Design

__all__ = ["rows_of"]

Rows = ByDomain[NDArray[Any]]
ROW_FIELDS = (
    "features",
    "outcome",
    "prediction",
    "intercept",
    "slope",
    "weights",
    "clusters",
    "source_risk",
)


def rows_of(design: Design, keep: Rows) -> Design:
    """The design restricted to some rows (masks or positions) of each domain."""
    parts: dict[str, Any] = {
        name: pair.zip(keep, lambda values, rows: values[rows])
        for name in ROW_FIELDS
        if (pair := getattr(design, name)) is not None
    }
    return replace(design, **parts)
