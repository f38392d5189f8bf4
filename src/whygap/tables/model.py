"""A model of any kind -> a `Predictor`: what it wants to see and how its answer is read.

Models of other libraries are known by their classes; no library is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from whygap.errors import ModelError
from whygap.notes import Note
from whygap.tables import model_files

__all__ = ["Answer", "Predictor", "predictor_of"]

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
    hint: str = ""  # what to write instead when it fails on the table


def predictor_of(model: Any, *, unsafe_pickle: bool = False) -> Predictor:
    """Find out how to ask a fitted estimator, another library's model, a callable, or a file.

    Files are .onnx, .skops, `module:name`; `unsafe_pickle` allows .pkl, .pickle and .joblib, which
    run code when they are loaded.
    """
    if isinstance(model, str | Path):
        if str(model).lower().endswith(".onnx"):
            return onnx_predictor(model)
        loaded = model_files.load_model(model, unsafe_pickle=unsafe_pickle)
        return replace(predictor_of(loaded), notes=model_files.load_notes(model))
    foreign = adapted(model)
    if foreign is not None:
        return foreign
    several = len(classes_of(model) or ()) > 2
    for method, answer in METHODS.items():
        # Scores of several classes come in several shapes: such a model is asked for labels.
        if callable(getattr(model, method, None)) and not (several and answer == "score"):
            return read_by_lightgbm(model, estimator_predictor(model, method, answer))
    if callable(model):
        return callable_predictor(model)
    raise ModelError(
        "The model must have predict_proba, decision_function or predict, or be a callable",
        got=f"an object of type {type(model).__name__}",
    )


METHODS: dict[str, Answer] = {
    "predict_proba": "probability",
    "decision_function": "score",
    "predict": "any",
}


def estimator_predictor(model: Any, method: str, answer: Answer) -> Predictor:
    """A fitted estimator in the manner of scikit-learn."""
    if isinstance(model, type):
        raise ModelError(
            f"The model is the class {model.__name__}, not a fitted model",
            hint=f"Fit it first: model = {model.__name__}(...).fit(X, y).",
        )
    columns = names_of(model)
    width = getattr(model, "n_features_in_", None) if columns is None else None
    kind = type(model)
    return Predictor(
        name=kind.__name__,
        ask=getattr(model, method),
        answer=answer,
        columns=columns,
        width=None if width is None else int(width),
        sees="frame" if width is None else "matrix",
        classes=classes_of(model),
    )


def names_of(model: Any) -> tuple[str, ...] | None:
    for attribute in ("feature_names_in_", "feature_names_"):
        names = getattr(model, attribute, None)
        if names is not None and len(names):
            return tuple(str(name) for name in names)
    return None


def classes_of(model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    return tuple(classes.tolist() if hasattr(classes, "tolist") else classes)


def callable_predictor(model: Any) -> Predictor:
    """Any callable(table) -> array; a bound method speaks for its estimator."""
    owner = getattr(model, "__self__", None)
    columns = names_of(owner)
    name = getattr(model, "__name__", type(model).__name__)
    sees: Sees = "table" if columns is None else "frame"
    classes = classes_of(owner)
    return Predictor(name, model, "any", columns=columns, sees=sees, classes=classes)


def onnx_predictor(path: str | Path) -> Predictor:
    onnx, name = model_files.open_onnx(path), Path(path).name
    if onnx.takes_matrix:
        return Predictor(name, onnx.ask, "any", width=onnx.width, sees="matrix")
    return Predictor(name, onnx.ask, "any", columns=tuple(onnx.types), sees="table")


# -- models of other libraries ---------------------------------------------------------------------

TEXT_HINT = (
    "Columns of text must be what it was trained on: categories, or numbers. Otherwise give a "
    "callable: model=lambda table: model.predict(prepare(table))."
)
CONSTANT = ("const", "Intercept")  # what statsmodels calls the column of ones


def adapted(model: Any) -> Predictor | None:
    """How to ask a model of a library that has ways of its own; None for all others."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    found = (adapt(model) for library, adapt in ADAPTERS.items() if library in libraries)
    return next(found, None)


def of_lightgbm(model: Any) -> Predictor | None:
    """A booster; its answer is a probability for a binary objective."""
    if type(model).__name__ != "Booster":
        return None
    names: Sequence[str] = model.feature_name()
    unnamed = all(name == f"Column_{i}" for i, name in enumerate(names))
    categories = bool(getattr(model, "pandas_categorical", None))
    return Predictor(
        name="Booster",
        ask=with_categories(model.predict) if categories else model.predict,
        answer="any",
        columns=None if unnamed else tuple(names),
        width=int(model.num_feature()) if unnamed else None,
        sees="pandas" if categories else "matrix",
        hint=TEXT_HINT if categories else "",
    )


def read_by_lightgbm(model: Any, predictor: Predictor) -> Predictor:
    """LightGBM's estimators cannot read polars, nor text; others are left as they are."""
    if not type(model).__module__.startswith("lightgbm") or predictor.sees == "matrix":
        return predictor
    booster = getattr(model, "booster_", None)
    categories = bool(getattr(booster, "pandas_categorical", None))
    ask = with_categories(predictor.ask) if categories else predictor.ask
    return replace(predictor, ask=ask, sees="pandas", hint=TEXT_HINT)


def with_categories(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Shows columns of text as categories, which LightGBM codes as it did in training."""

    def asked(table: Any) -> Any:
        others = table.select_dtypes(exclude=["number", "bool", "boolean", "category", "datetime"])
        return ask(table.astype(dict.fromkeys(others.columns, "category")))

    return asked


def of_xgboost(model: Any) -> Predictor | None:
    """A booster, which reads nothing but its own matrices."""
    if type(model).__name__ != "Booster":
        return None
    matrix = sys.modules[type(model).__module__.partition(".")[0]].DMatrix
    names = tuple(model.feature_names or ())
    return Predictor(
        name="Booster",
        ask=lambda table: model.predict(matrix(table, enable_categorical=True)),
        answer="any",
        columns=names or None,
        width=None if names else int(model.num_features()),
        sees="pandas" if names else "matrix",
        hint=TEXT_HINT,
    )


def of_catboost(model: Any) -> Predictor | None:
    """Its plain class answers with logits unless asked; the others are scikit-learn's in manner."""
    classes = np.asarray(getattr(model, "classes_", ())).tolist()
    if type(model).__name__ != "CatBoost" or not classes:
        return None
    return Predictor(
        name="CatBoost",
        ask=lambda table: model.predict(table, prediction_type="Probability"),
        answer="probability",
        columns=tuple(model.feature_names_),
        sees="pandas",
        classes=tuple(classes),
    )


def of_statsmodels(result: Any) -> Predictor | None:
    """A fitted result; a formula finds its columns itself, else the constant is put in."""
    model = getattr(result, "model", None)
    if model is None or not hasattr(result, "params"):
        raise ModelError(
            f"The model {type(result).__name__} is not fitted",
            hint="Give what its fit() returns: result = model.fit().",
        )
    name = type(result).__name__.removesuffix("Wrapper")
    if getattr(model, "formula", None) is not None:
        return Predictor(name, result.predict, "any", sees="pandas")
    terms = tuple(str(term) for term in model.exog_names)
    columns = tuple(term for term in terms if term not in CONSTANT)
    unnamed = all(column == f"x{i + 1}" for i, column in enumerate(columns))
    ones = [place for place, term in enumerate(terms) if term in CONSTANT]

    def ask(matrix: Any) -> Any:
        for place in ones:
            matrix = np.insert(matrix, place, 1.0, axis=1)
        return result.predict(matrix)

    return Predictor(
        name,
        ask,
        "any",
        columns=None if unnamed else columns,
        width=len(columns) if unnamed else None,
        sees="matrix",
    )


def of_keras(model: Any) -> Predictor | None:
    """A network; it is shown the columns as one matrix."""
    if not callable(getattr(model, "predict", None)):
        return None
    shape = getattr(model, "input_shape", None)
    width = shape[-1] if isinstance(shape, tuple) and len(shape) == 2 else None
    return Predictor(
        name=type(model).__name__,
        ask=lambda matrix: model.predict(matrix, verbose=0),
        answer="any",
        width=width,
        sees="matrix",
    )


def of_torch(model: Any) -> Predictor | None:
    """A network whose answer may be anything; its owner knows how to read it."""
    raise ModelError(
        f"The PyTorch model {type(model).__name__} cannot be asked with a table",
        hint="Say how to ask it, and make its answer a probability: "
        "model=lambda table: torch.sigmoid(net(torch.tensor(table.to_numpy(), "
        "dtype=torch.float32))).detach().numpy().ravel().",
    )


ADAPTERS: dict[str, Callable[[Any], Predictor | None]] = {
    "lightgbm": of_lightgbm,
    "xgboost": of_xgboost,
    "catboost": of_catboost,
    "statsmodels": of_statsmodels,
    "keras": of_keras,
    "torch": of_torch,
}
