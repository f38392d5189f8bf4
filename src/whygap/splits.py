"""The short way of scikit-learn: features and outcomes apart, a fitted model -> a `Study`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from whygap.errors import InputError, TableError
from whygap.study import Study

__all__ = ["SPLITS", "from_splits"]

SPLITS = ("X_source", "y_source", "X_target", "y_target")
OUTCOME = "outcome"  # what outcomes without a name are called


def from_splits(X_source: Any, y_source: Any, X_target: Any, y_target: Any, **roles: Any) -> Study:
    """The study of two splits, as `train_test_split` makes them.

    A source that the model was trained on flatters it: take rows it has not seen.

    Args:
        X_source: features of the source: a table of any kind, or an array.
        y_source: its outcomes, one per row.
        X_target: features of the target, the same columns.
        y_target: its outcomes.
        roles: `model=` and whatever else a `Study` takes; columns of an array are called x0, x1,
            ..., unless the model knows their names.

    Returns:
        A study whose outcome has the name of `y_source`, or is called "outcome".
    """
    outcome = roles.pop("outcome", None) or name_of(y_source)
    names = names_known_to(roles.get("model"))
    source = joined(X_source, y_source, outcome, names, "source")
    target = joined(X_target, y_target, outcome, names, "target")
    return Study(source, target, outcome=outcome, **roles)


def name_of(outcomes: Any) -> str:
    name = getattr(outcomes, "name", None)
    return name if isinstance(name, str) and name else OUTCOME


def names_known_to(model: Any) -> Sequence[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def joined(X: Any, y: Any, outcome: str, names: Sequence[str] | None, label: str) -> Any:
    """One table; rows are matched by their place, whatever index they have."""
    table = named(X, names, label)
    frame = nw.from_native(table, eager_only=True)
    if outcome in frame.columns:
        raise InputError(
            f"The features of the {label} hold a column named like the outcome, '{outcome}'",
            hint="Drop it from X, or name the outcome: outcome='readmitted'.",
        )
    values = np.asarray(y)
    values = values.ravel() if values.shape[1:] == (1,) else values
    if values.shape != (len(frame),):
        raise InputError(
            f"X_{label} and y_{label} must have as many rows",
            got=f"{len(frame)} and shape {values.shape}",
        )
    column = nw.new_series(outcome, values.tolist(), backend=frame.implementation)
    if nw.dependencies.is_pandas_dataframe(table):
        return table.assign(**{outcome: values})
    return frame.with_columns(column).to_native()


def named(X: Any, names: Sequence[str] | None, label: str) -> Any:
    """A table with names: its own, the model's, or x0, x1, ..."""
    if hasattr(X, "toarray"):
        raise InputError(
            f"X_{label} is a sparse matrix",
            got=f"an object of type {type(X).__name__}",
            hint="Give the table from before it was encoded, and a pipeline as the model.",
        )
    if isinstance(X, np.ndarray | list | tuple):
        return table_of(np.asarray(X), names, label)
    if nw.dependencies.is_pandas_dataframe(X):
        known = all(isinstance(name, str) for name in X.columns)
        return X if known else X.set_axis(numbered(X.shape[1], names), axis=1)
    from whygap.tables.open import open_table  # needs what reads files

    opened = open_table(X, label)
    return opened.load(opened.names)


def table_of(values: Any, names: Sequence[str] | None, label: str) -> pa.Table:
    if values.ndim != 2 or not values.shape[1]:
        raise TableError(
            f"X_{label} must have rows and columns",
            got=f"an array of shape {values.shape}",
            hint="One column: X.reshape(-1, 1).",
        )
    called = numbered(values.shape[1], names)
    return pa.table({name: values[:, place].tolist() for place, name in enumerate(called)})


def numbered(width: int, names: Sequence[str] | None) -> Sequence[str]:
    """The model's names where they are as many as the columns."""
    return names if names is not None and len(names) == width else [f"x{i}" for i in range(width)]
