"""One Arrow column -> numbers: what kind of column it is and its values, missing as NaN."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, InputError

__all__ = ["RawColumn", "into_levels", "is_number", "one_type", "present", "raw_column"]
__all__ += ["recode", "require_numbers", "to_text"]

RawKind = Literal["number", "boolean", "text", "ordered", "date", "time", "duration", "missing"]

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


@dataclass(frozen=True, slots=True, eq=False)
class RawColumn:
    """One column of one table.

    Attributes:
        kind: what the column holds.
        values: numbers; codes into `levels` for text and ordered; days since 1970-01-01 for dates,
            seconds for times of day, days for durations. Missing is NaN.
        levels: sorted (text) or in the stated order (ordered).
        is_whole: all numbers came from a whole-number type.
        infinite: how many infinite values were turned into missing ones.
    """

    kind: RawKind
    values: Array
    levels: tuple[str, ...] = ()
    is_whole: bool = False
    infinite: int = 0

    @property
    def missing(self) -> int:
        """Number of missing values."""
        return int(np.isnan(self.values).sum())


def raw_column(array: Any, name: str, label: str) -> RawColumn:
    """Read an Arrow array; types that hold no single value are refused.

    Args:
        array: a column as an Arrow array of any type.
        name: the column's name, for messages.
        label: what messages call the table.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _dictionary_column(array, ordered=bool(kind.ordered))
    if any(is_text(kind) for is_text in TEXT_TYPES):
        return _dictionary_column(pc.dictionary_encode(array), ordered=False)
    if pa.types.is_null(kind):
        return RawColumn("missing", np.full(len(array), np.nan))
    if pa.types.is_boolean(kind):
        return RawColumn("boolean", _floats(array.cast(pa.int8())))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number_column(array)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _temporal_column(array)
    message = f"Column '{name}' of {label} holds values that are neither numbers, text nor dates"
    raise ColumnError(message, got=f"type {kind}", hint="Drop it, or turn it into plain columns.")


def require_numbers(
    subject: str, raw: ByDomain[RawColumn], error: type[InputError] = ColumnError, hint: str = ""
) -> ByDomain[Array]:
    """Return the values, which must be numbers (or true and false) in each table.

    Args:
        subject: what messages call the column.
        raw: the column in each table.
        error: the class of the error.
        hint: what to do about values of another kind.
    """
    for domain, column in raw.items():
        if column.kind not in ("number", "boolean"):
            raise error(f"{subject} must hold numbers", got=f"{column.kind} in {domain}", hint=hint)
    return raw.map(lambda column: column.values)


def one_type(values: NDArray[Any], subject: str, error: type[InputError]) -> Any:
    """Make an Arrow array of the values, which must be all numbers or all text.

    Args:
        values: an array of any shape, of Python objects too.
        subject: what messages call the values, in the plural.
        error: the class of the error.
    """
    try:
        return pa.array(values.ravel().tolist(), from_pandas=True)
    except pa.ArrowException as err:
        kinds = sorted({type(value).__name__ for value in values.ravel().tolist()})
        hint = "All must be numbers, or all text."
        raise error(f"{subject} are of several types", got=", ".join(kinds), hint=hint) from err


def _floats(array: Any) -> Array:
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.array(values, dtype=np.float64)


def _number_column(array: Any) -> RawColumn:
    """Read numbers; infinite (or huge) values count as missing and are reported."""
    values = _floats(array)
    infinite = np.abs(values) > 1e100  # sums of squares of larger numbers overflow float64
    values[infinite] = np.nan
    is_whole = bool(pa.types.is_integer(array.type))
    return RawColumn("number", values, is_whole=is_whole, infinite=int(infinite.sum()))


def _temporal_column(array: Any) -> RawColumn:
    kind = array.type
    if pa.types.is_date32(kind):
        return RawColumn("date", _floats(array.cast(pa.int32())))
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    storage = pa.int32() if pa.types.is_time32(kind) else pa.int64()
    seconds = _floats(array.cast(storage)) / PER_SECOND[unit]
    if pa.types.is_time(kind):
        return RawColumn("time", seconds)
    days = seconds / 86_400
    return RawColumn("duration" if pa.types.is_duration(kind) else "date", days)


def _dictionary_column(array: Any, *, ordered: bool) -> RawColumn:
    texts = [None if value is None else str(value) for value in array.dictionary.to_pylist()]
    distinct = dict.fromkeys(text for text in texts if text is not None)
    levels = tuple(distinct) if ordered else tuple(sorted(distinct))
    position = {level: float(i) for i, level in enumerate(levels)}
    new = [np.nan if text is None else position[text] for text in texts]
    values = recode(_floats(array.indices), new)
    if np.isnan(values).all():
        return RawColumn("missing", values)
    if ordered:
        return RawColumn("ordered", values, levels)
    return only_observed(RawColumn("text", values, levels))


def only_observed(raw: RawColumn) -> RawColumn:
    """Drop levels that no row has; the order stays.

    Args:
        raw: a column with levels.
    """
    used = np.unique(present(raw.values)).astype(np.int64)
    if len(used) == len(raw.levels):
        return raw
    new = np.full(len(raw.levels), np.nan)
    new[used] = np.arange(len(used))
    return RawColumn(raw.kind, recode(raw.values, new), tuple(raw.levels[i] for i in used))


def to_text(raw: RawColumn) -> RawColumn:
    """Turn a numeric column into text levels, for a column that is text in the second table.

    Args:
        raw: a column of any kind; text and missing columns are returned as they are.
    """
    if raw.kind in ("text", "missing"):
        return raw
    if raw.kind == "ordered":
        levels = tuple(sorted(raw.levels))
        return only_observed(RawColumn("text", into_levels(raw, levels), levels))
    distinct, place = np.unique(present(raw.values), return_inverse=True)
    words = tuple(f"{value:.15g}" for value in distinct)
    if raw.kind == "boolean":
        words = tuple("True" if value else "False" for value in distinct)
    codes = np.full(len(raw.values), np.nan)
    codes[~np.isnan(raw.values)] = place
    levels = tuple(sorted(set(words)))
    return RawColumn("text", into_levels(RawColumn("text", codes, words), levels), levels)


def into_levels(raw: RawColumn, levels: Sequence[str]) -> Array:
    """Translate codes into a longer list of levels, which holds all of the column's.

    Args:
        raw: a column with levels.
        levels: the longer list, each level once.
    """
    position = {level: float(i) for i, level in enumerate(levels)}
    return recode(raw.values, [position[level] for level in raw.levels])


def recode(codes: Array, new: Sequence[float] | Array) -> Array:
    """Look up each code in a list of new values; missing stays missing.

    Args:
        codes: whole numbers from 0, NaN for missing.
        new: the value that stands for each code, at the code's place.
    """
    values = np.append(np.asarray(new, dtype=float), np.nan)
    return values[np.where(np.isnan(codes), len(new), codes).astype(np.int64)]


def present(values: Array) -> Array:
    """Return the values that are not missing."""
    return values[~np.isnan(values)]


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
