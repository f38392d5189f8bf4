"""A model of any kind -> a `Predictor`: what it wants to see and how its answer is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from whygap.errors import ModelError
from whygap.tables import model_files
from whygap.tables.model_adapters import adapted, read_by_lightgbm
from whygap.tables.predictor import Answer, Predictor, Sees

__all__ = ["Predictor", "predictor_of"]


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
