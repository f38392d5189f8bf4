"""A model of any kind -> a `Predictor`: what it wants to see and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from whygap.errors import ModelError
from whygap.tables import model_files
from whygap.tables.design import Note

__all__ = ["Predictor", "predictor_of"]

Answer = Literal["probability", "score", "any"]
Sees = Literal["table", "frame", "pandas", "matrix"]


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A model, ready to be asked."""

    name: str  # what messages call it
    ask: Callable[[Any], Any]  # table (or matrix) -> the model's own answer
    answer: Answer  # what the answer is: probabilities, scores cut at 0, or any kind (labels too)
    columns: tuple[str, ...] | None = None  # it was trained with, in order, when it says so
    # The number of columns it was trained with, when it says only that; None also when it takes a
    # matrix of any width
    width: int | None = None
    # "table" (the caller's own kind), "frame" (the same, but pandas for files and pyarrow),
    # "pandas", or "matrix" (numbers only)
    sees: Sees = "table"
    classes: tuple[Any, ...] | None = None  # in the order of the answer's columns; None: sorted
    notes: tuple[Note, ...] = ()  # what the user must know about it


def predictor_of(model: Any, *, unsafe_pickle: bool = False) -> Predictor:
    """Find out how to ask a fitted estimator, a LightGBM booster, a callable(table), or a file.

    Files are .onnx, .skops, `module:name`; `unsafe_pickle` allows .pkl, .pickle and .joblib, which
    run code when they are loaded.
    """
    if isinstance(model, str | Path):
        if str(model).lower().endswith(".onnx"):
            return onnx_predictor(model)
        loaded = model_files.load_model(model, unsafe_pickle=unsafe_pickle)
        return replace(predictor_of(loaded), notes=model_files.load_notes(model))
    if all(callable(getattr(model, name, None)) for name in BOOSTER):
        return booster_predictor(model)
    for method, answer in METHODS.items():
        if callable(getattr(model, method, None)):
            return estimator_predictor(model, method, answer)
    if callable(model):
        return callable_predictor(model)
    raise ModelError(
        "The model must have predict_proba, decision_function or predict, or be a callable",
        got=f"an object of type {type(model).__name__}",
    )


BOOSTER = ("predict", "feature_name", "num_feature")  # what a LightGBM booster can do
METHODS: dict[str, Answer] = {
    "predict_proba": "probability",
    "decision_function": "score",
    "predict": "any",
}


def estimator_predictor(model: Any, method: str, answer: Answer) -> Predictor:
    """A fitted estimator in the manner of scikit-learn; LightGBM's cannot read polars."""
    if isinstance(model, type):
        raise ModelError(
            f"The model is the class {model.__name__}, not a fitted model",
            hint=f"Fit it first: model = {model.__name__}(...).fit(X, y).",
        )
    columns = names_of(model)
    width = getattr(model, "n_features_in_", None) if columns is None else None
    kind = type(model)
    named: Sees = "pandas" if kind.__module__.startswith("lightgbm") else "frame"
    return Predictor(
        name=kind.__name__,
        ask=getattr(model, method),
        answer=answer,
        columns=columns,
        width=None if width is None else int(width),
        sees=named if width is None else "matrix",
        classes=two_classes(kind.__name__, model),
    )


def names_of(model: Any) -> tuple[str, ...] | None:
    for attribute in ("feature_names_in_", "feature_names_"):
        names = getattr(model, attribute, None)
        if names is not None and len(names):
            return tuple(str(name) for name in names)
    return None


def two_classes(name: str, model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    labels = tuple(classes.tolist() if hasattr(classes, "tolist") else classes)
    if len(labels) != 2:
        got = f"{len(labels)} classes"
        raise ModelError(f"The model {name} must tell two classes apart", got=got)
    return labels


def callable_predictor(model: Any) -> Predictor:
    """Any callable(table) -> array; a bound method speaks for its estimator."""
    owner = getattr(model, "__self__", None)
    columns = names_of(owner)
    name = getattr(model, "__name__", type(model).__name__)
    sees: Sees = "table" if columns is None else "frame"
    classes = two_classes(name, owner)
    return Predictor(name, model, "any", columns=columns, sees=sees, classes=classes)


def booster_predictor(model: Any) -> Predictor:
    """A LightGBM booster: its answer is a probability for a binary objective."""
    names: Sequence[str] = model.feature_name()
    unnamed = all(name == f"Column_{i}" for i, name in enumerate(names))
    return Predictor(
        name="Booster",
        ask=model.predict,
        answer="any",
        columns=None if unnamed else tuple(names),
        width=int(model.num_feature()) if unnamed else None,
        sees="pandas" if getattr(model, "pandas_categorical", None) else "matrix",
    )


def onnx_predictor(path: str | Path) -> Predictor:
    onnx, name = model_files.open_onnx(path), Path(path).name
    if onnx.takes_matrix:
        return Predictor(name, onnx.ask, "any", width=onnx.width, sees="matrix")
    return Predictor(name, onnx.ask, "any", columns=tuple(onnx.types), sees="table")
