"""Enough rows, of both outcome values."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import TableError

__all__ = ["LEAST_ROWS", "require_both_outcomes", "require_rows"]

LEAST_ROWS = 50
LEAST_OF_EACH = 5


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
