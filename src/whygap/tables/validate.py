"""Enough rows, of both outcome values, in enough clusters."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import TableError
from whygap.tables.design import Design

__all__ = ["LEAST_ROWS", "check_sizes", "require_both_outcomes", "require_rows"]

LEAST_ROWS = 50
LEAST_OF_EACH = 5
ROWS_PER_FOLD = 10
CLUSTERS_PER_FOLD = 2


def require_rows(rows: ByDomain[int]) -> None:
    """The least any analysis needs."""
    for domain, number in (("source", rows.source), ("target", rows.target)):
        if number < LEAST_ROWS:
            raise TableError(
                f"The {domain} table has too few usable rows",
                got=f"{number}",
                hint=f"At least {LEAST_ROWS} rows with outcome and prediction are needed.",
            )


def require_both_outcomes(what: str, outcome: ByDomain[Array], least: int = LEAST_OF_EACH) -> None:
    """Both outcome values in both domains."""
    for domain, values in (("source", outcome.source), ("target", outcome.target)):
        for value in (0, 1):
            number = int(np.sum(values == value))
            if number < least:
                raise TableError(
                    f"{what} equals {value} in too few {domain} rows",
                    got=f"{number}",
                    hint=f"At least {least} rows of each outcome value are needed in each domain.",
                )


def check_sizes(design: Design, folds: int) -> None:
    """Whether every fold of both domains can be filled; raises TableError when not.

    A fold needs 10 rows, one row of each outcome value, and 2 clusters where there are any.
    """
    for domain, rows in (("source", design.rows.source), ("target", design.rows.target)):
        if rows < ROWS_PER_FOLD * folds:
            raise TableError(
                f"The {domain} table has too few rows for {folds} folds",
                got=f"{rows}",
                hint=f"At least {ROWS_PER_FOLD * folds} are needed; use fewer folds.",
            )
    require_both_outcomes("The outcome", design.outcome, least=max(LEAST_OF_EACH, folds))
    if design.clusters is None:
        return
    for domain, clusters in (
        ("source", design.clusters.source),
        ("target", design.clusters.target),
    ):
        number = len(np.unique(clusters))
        if number < CLUSTERS_PER_FOLD * folds:
            raise TableError(
                f"The {domain} table has too few clusters for {folds} folds",
                got=f"{number}",
                hint=f"At least {CLUSTERS_PER_FOLD * folds} are needed; use fewer folds.",
            )
