"""Part of a design's rows, as a design."""

from __future__ import annotations

from dataclasses import replace

from whygap.domains import ByDomain
from whygap.tables.design import Design

__all__ = ["rows_of"]


def rows_of(design: Design, keep: ByDomain) -> Design:  # type: ignore[type-arg]
    """The design restricted to some rows (masks or positions) of each domain."""

    def part(pair):  # type: ignore[no-untyped-def]
        return None if pair is None else pair.zip(keep, lambda values, rows: values[rows])

    return replace(
        design,
        features=part(design.features),
        outcome=part(design.outcome),
        prediction=part(design.prediction),
        intercept=part(design.intercept),
        slope=part(design.slope),
        weights=part(design.weights),
        clusters=part(design.clusters),
        source_risk=part(design.source_risk),
    )
