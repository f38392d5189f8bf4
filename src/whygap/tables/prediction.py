"""A column of predictions -> probabilities in [0, 1] or labels 0 and 1."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError, did_you_mean
from whygap.tables.columns import RawColumn
from whygap.tables.outcome import Labels, encode_labels, repr_level

__all__ = ["as_predictions", "scale_hint"]

SLACK = 1e-6


def as_predictions(
    what: str,
    raw: ByDomain[RawColumn],
    labels: Labels,
    error: type[InputError] = ColumnError,
) -> ByDomain[Array]:
    """Probabilities as they are, the outcome's own labels as 0 and 1; missing stays NaN.

    Numbers that are all among the outcome's two values are labels; other numbers must lie in
    [0, 1] (a rounding excess up to 1e-6 is cut off).

    Args:
        what: what messages call the predictions.
        raw: the predictions of both tables.
        labels: the outcome's two values.
        error: the kind of error to raise.
    """
    for table, column in (("source", raw.source), ("target", raw.target)):
        refuse_unusable(what, table, column, error)
    encoded = raw.map(lambda column: encode_labels(column, labels))
    unknown = [level for _, levels in encoded for level in levels]
    if not unknown:
        return encoded.map(lambda pair: pair[0])
    if any(column.kind in ("text", "ordered") for column in raw):
        raise error(
            f"{what} holds {repr_level(unknown[0])}, which is not a value of the outcome",
            got=f"outcome values {labels}",
            hint=did_you_mean(unknown[0], (labels.negative, labels.positive)),
        )
    for table, column in (("source", raw.source), ("target", raw.target)):
        require_unit_interval(what, table, column.values, error)
    return raw.map(lambda column: np.clip(column.values, 0.0, 1.0))


def refuse_unusable(what: str, table: str, column: RawColumn, error: type[InputError]) -> None:
    """All-missing, infinite and dated predictions."""
    if column.infinite:
        raise error(f"{what} holds {column.infinite} infinite values in {table}")
    if column.missing == len(column.values):
        raise error(f"{what} is missing in every row of {table}")
    if column.kind in ("date", "time", "duration"):
        raise error(f"{what} holds dates or times in {table}")


def require_unit_interval(
    what: str, table: str, values: Array, error: type[InputError] = ColumnError
) -> None:
    """Probabilities lie in [0, 1]."""
    seen = values[~np.isnan(values)]
    low, high = float(seen.min()), float(seen.max())
    if low < -SLACK or high > 1 + SLACK:
        raise error(
            f"{what} must be a probability from 0 to 1, or a label",
            got=f"values from {low:g} to {high:g} in {table}",
            hint=scale_hint(low, high),
        )


def scale_hint(low: float, high: float) -> str:
    """What values outside [0, 1] look like."""
    if low >= 0 and 1 < high <= 100:
        return "It looks like percent: divide by 100."
    if low < 0:
        return "It looks like a score or logit: turn it into a probability first."
    return "It looks like a score: turn it into a probability or a label first."
