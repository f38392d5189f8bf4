"""Features, outcomes and predictions that come apart, row by row, joined into tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from whygap.domains import ByDomain
from whygap.errors import InputError, TableError
from whygap.tables.open import open_table

PREDICTION = "prediction"  # name of the column of predictions; for several classes its beginning


def joined_tables(
    X: ByDomain[Any], y: ByDomain[Any], predictions: ByDomain[Any], roles: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a Study: two tables, the roles, and the names of new columns.

    Args:
        X: features: tables of any kind, or arrays.
        y: outcomes.
        predictions: predictions, with a column per class for several classes; or None.
        roles: further arguments of a Study; `outcome` and `model` give names to columns.
    """
    title = getattr(y.source, "name", None)
    outcome = roles.get("outcome") or (title if isinstance(title, str) and title else "outcome")
    columns: ByDomain[dict[str, Any]] = y.map(lambda values: {outcome: values})
    arguments = {**roles, "outcome": outcome}
    if any(values is not None for values in predictions):
        by_class = _class_columns(predictions, y)
        arguments["prediction"] = by_class or PREDICTION
        for domain, values in predictions.items():
            array = np.asarray(values)
            split = dict(zip(by_class.values(), array.T, strict=True)) if by_class else {}
            columns[domain].update(split or {PREDICTION: array})
    names = [str(name) for name in getattr(roles.get("model"), "feature_names_in_", ())]
    source = _joined(X.source, columns.source, names, "source")
    return {"source": source, "target": _joined(X.target, columns.target, names, "target")} | (
        arguments
    )


def _class_columns(predictions: ByDomain[Any], y: ByDomain[Any]) -> dict[str, str]:
    """Map each class to the name of a new column; empty where predictions are a single column."""
    widths = predictions.map(lambda values: np.shape(values)[1:] or (1,))
    if set(widths) == {(1,)}:
        return {}
    classes = [str(label) for label in np.unique(np.concatenate([np.ravel(v) for v in y]))]
    if len(classes) < 3 or set(widths) != {(len(classes),)}:
        raise InputError(
            "Predictions are one value per row, or one column for each of three or more classes",
            got=f"shapes {np.shape(predictions.source)} and {np.shape(predictions.target)}, "
            f"{len(classes)} classes",
            hint="For an outcome with two values: predict_proba(X)[:, 1].",
        )
    return {label: f"{PREDICTION} {label}" for label in classes}


def _joined(X: Any, columns: Mapping[str, Any], names: Sequence[str], label: str) -> Any:
    """Join columns to features; rows are matched by place, whatever the index."""
    table = _with_names(X, names, label)
    frame = nw.from_native(table, eager_only=True)
    is_pandas = nw.dependencies.is_pandas_dataframe(table)
    for name, column in columns.items():
        if name in frame.columns:
            raise InputError(
                f"The features of the {label} hold a column named like another one, '{name}'",
                hint="Drop it from X; the outcome takes another name from outcome='readmitted'.",
            )
        values = np.asarray(column)
        values = values.ravel() if values.shape[1:] == (1,) else values
        if values.shape != (len(frame),):
            raise InputError(
                f"X_{label}, y_{label} and prediction_{label} must have as many rows",
                got=f"{len(frame)} and shape {values.shape}",
            )
        if is_pandas:
            table = table.assign(**{name: values})
        else:
            series = nw.new_series(name, values.tolist(), backend=frame.implementation)
            frame = frame.with_columns(series)
    return table if is_pandas else frame.to_native()


def _with_names(X: Any, names: Sequence[str], label: str) -> Any:
    """Give names to columns that have none: the model's names, or x0, x1, ..."""
    if hasattr(X, "toarray"):
        actual = f"an object of type {type(X).__name__}"
        hint = "Give the table from before it was encoded, and a pipeline as the model."
        raise InputError(f"X_{label} is a sparse matrix", got=actual, hint=hint)
    is_pandas = nw.dependencies.is_pandas_dataframe(X)
    is_array = isinstance(X, np.ndarray | list | tuple)
    if is_pandas and all(isinstance(name, str) for name in X.columns):
        return X
    if not (is_pandas or is_array):
        opened = open_table(X, label)
        return opened.load(opened.names)
    values = X if is_pandas else np.asarray(X)
    if values.ndim != 2 or not values.shape[1]:
        shape = f"an array of shape {values.shape}"
        hint = "One column: X.reshape(-1, 1)."
        raise TableError(f"X_{label} must have rows and columns", got=shape, hint=hint)
    width = values.shape[1]
    titles = names if len(names) == width else [f"x{place}" for place in range(width)]
    if is_pandas:
        return X.set_axis(titles, axis=1)
    return pa.table({name: values[:, place].tolist() for place, name in enumerate(titles)})
