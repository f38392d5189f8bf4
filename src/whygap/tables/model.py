"""A model of any kind -> a `Predictor`: what to show it and how to read its answer."""

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np

from whygap.errors import ModelError, did_you_mean_file, first_line
from whygap.notes import Note

__all__ = ["Answer", "Predictor", "import_model", "is_reference", "predictor_of"]

PICKLES = (".pkl", ".pickle", ".joblib")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
Answer = Literal["probability", "score", "any"]


@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A model, ready to be asked.

    Attributes:
        name: what messages call the model.
        ask: table (or matrix) -> the model's own answer.
        answer: probabilities, scores cut at 0, or any kind (labels too).
        columns: the columns it was trained with, in order, where the model says so.
        width: their number, where it says only that; None too for a matrix of any width.
        sees: "table" (the caller's own kind), "frame" (pandas for files and pyarrow), "pandas",
            or "matrix" (numbers only).
        classes: classes in the order of the answer's columns; None: sorted.
        notes: what the user must know about the model.
        hint: what to write instead where the model fails on the table.
    """

    name: str
    ask: Callable[[Any], Any]
    answer: Answer
    columns: tuple[str, ...] | None = None
    width: int | None = None
    sees: Literal["table", "frame", "pandas", "matrix"] = "table"
    classes: tuple[Any, ...] | None = None
    notes: tuple[Note, ...] = ()
    hint: str = ""


_METHODS: dict[str, Answer] = {
    "predict_proba": "probability",
    "decision_function": "score",
    "predict": "any",
}
# Models of other libraries that have ways of their own: one line of the user says how to ask
_HINTS = {
    ("lightgbm", "Booster"): "model=lambda table: booster.predict(table.to_numpy())",
    ("xgboost", "Booster"): "model=lambda table: booster.predict(xgboost.DMatrix(table))",
    ("catboost", "CatBoost"): (
        "model=lambda table: cat.predict(table, prediction_type='Probability')[:, 1]"
    ),
    ("statsmodels", ""): "model=lambda table: result.predict(sm.add_constant(table[columns]))",
    ("keras", ""): "model=lambda table: net.predict(table.to_numpy(), verbose=0).ravel()",
    ("torch", ""): (
        "model=lambda table: torch.sigmoid(net(torch.tensor(table.to_numpy(), "
        "dtype=torch.float32))).detach().numpy().ravel()"
    ),
}
_ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
_LIGHTGBM_HINT = (
    "Columns of text must be what it was trained on: categories, or numbers. Otherwise give a "
    "callable: model=lambda table: model.predict(prepare(table))."
)


def predictor_of(model: Any, *, unsafe_pickle: bool = False) -> Predictor:
    """Find out how to ask a model.

    Args:
        model: a fitted estimator, a callable, or a file (.onnx, .skops, `module:name`).
        unsafe_pickle: allow .pkl, .pickle and .joblib, which run code when they are loaded.
    """
    if isinstance(model, str | Path):
        if str(model).lower().endswith(".onnx"):
            return _onnx_predictor(model)
        predictor = predictor_of(_load_model(model, unsafe_pickle=unsafe_pickle))
        if Path(model).suffix.lower() not in PICKLES:
            return predictor
        return replace(predictor, notes=(Note("pickle", "warning", {"file": Path(model).name}),))
    libraries = {kind.__module__.partition(".")[0] for kind in type(model).__mro__}
    for (library, name), call in _HINTS.items():
        if library in libraries and name in ("", type(model).__name__):
            message = f"The {library} model {type(model).__name__} cannot be asked with a table"
            hint = f"Say how to ask it, and make its answer a probability: {call}."
            raise ModelError(message, hint=hint)
    is_multiclass = len(_classes_of(model) or ()) > 2
    for method, answer in _METHODS.items():
        # Scores of several classes come in several shapes: such a model is asked for labels.
        if callable(getattr(model, method, None)) and not (is_multiclass and answer == "score"):
            return _estimator_predictor(model, method, answer)
    if callable(model):
        owner = getattr(model, "__self__", None)  # a bound method speaks for its estimator
        return Predictor(
            getattr(model, "__name__", type(model).__name__),
            model,
            "any",
            columns=_names_of(owner),
            sees="table" if _names_of(owner) is None else "frame",
            classes=_classes_of(owner),
        )
    message = "The model must have predict_proba, decision_function or predict, or be a callable"
    raise ModelError(message, got=f"an object of type {type(model).__name__}")


def _estimator_predictor(model: Any, method: str, answer: Answer) -> Predictor:
    """Describe a fitted estimator in the manner of scikit-learn."""
    if isinstance(model, type):
        message = f"The model is the class {model.__name__}, not a fitted model"
        raise ModelError(message, hint=f"Fit it first: model = {model.__name__}(...).fit(X, y).")
    columns = _names_of(model)
    width = getattr(model, "n_features_in_", None) if columns is None else None
    predictor = Predictor(
        name=type(model).__name__,
        ask=getattr(model, method),
        answer=answer,
        columns=columns,
        width=None if width is None else int(width),
        sees="frame" if width is None else "matrix",
        classes=_classes_of(model),
    )
    if not type(model).__module__.startswith("lightgbm") or predictor.sees == "matrix":
        return predictor
    # LightGBM's estimators cannot read polars, nor text unless it is shown as categories
    booster = getattr(model, "booster_", None)
    predictor = replace(predictor, sees="pandas", hint=_LIGHTGBM_HINT)

    def _ask_with_categories(table: Any) -> Any:
        text = table.select_dtypes(exclude=["number", "bool", "boolean", "category", "datetime"])
        categories = table.astype(dict.fromkeys(text.columns, "category"))
        return getattr(model, method)(categories)

    has_categories = getattr(booster, "pandas_categorical", None)
    return replace(predictor, ask=_ask_with_categories) if has_categories else predictor


def _names_of(model: Any) -> tuple[str, ...] | None:
    for attribute in ("feature_names_in_", "feature_names_"):
        names = getattr(model, attribute, None)
        if names is not None and len(names):
            return tuple(str(name) for name in names)
    return None


def _classes_of(model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    return tuple(classes.tolist() if hasattr(classes, "tolist") else classes)


def _onnx_predictor(path: str | Path) -> Predictor:
    """Describe an ONNX file that takes a matrix, or an input per column."""
    session = _open_onnx(path)
    name = Path(path).name
    inputs = session.get_inputs()
    for node in inputs:
        if node.type not in _ONNX_TYPES:
            raise ModelError("The ONNX model has an input of an unknown type", got=node.type)
    types = {node.name: _ONNX_TYPES[node.type] for node in inputs}
    width = inputs[0].shape[1] if len(inputs) == 1 and len(inputs[0].shape) == 2 else None

    def _ask_matrix(table: Any) -> Any:
        return _onnx_answer(session, {n: table.astype(kind) for n, kind in types.items()})

    def _ask_columns(table: Any) -> Any:
        columns = nw.from_native(table, eager_only=True).get_column
        values = {n: columns(n).to_numpy().astype(kind) for n, kind in types.items()}
        return _onnx_answer(session, {n: column.reshape(-1, 1) for n, column in values.items()})

    if len(inputs) == 1 and width != 1:
        size = width if isinstance(width, int) and width > 0 else None
        return Predictor(name, _ask_matrix, "any", width=size, sees="matrix")
    return Predictor(name, _ask_columns, "any", columns=tuple(types), sees="table")


def _onnx_answer(session: Any, inputs: dict[str, Any]) -> Any:
    """Return probabilities where the model gives any, labels otherwise."""
    outputs = session.run(None, inputs)
    for output in outputs:
        if isinstance(output, list) and output and isinstance(output[0], dict):
            keys = sorted(output[0])
            return np.array([[row[key] for key in keys] for row in output])
        if np.ndim(output) == 2 and np.shape(output)[1] == 2:
            return output
    return outputs[0]


# -- files: ONNX and skops are safe, `module:name` is the user's own code, a pickle is not ---------


def _load_model(path: str | Path, *, unsafe_pickle: bool) -> Any:
    """Load a model from a skops file, `module:name`, or (when allowed) a pickle."""
    text = str(path)
    if is_reference(text) and not Path(text).exists():
        return import_model(text, Path.cwd())
    file = _existing(path)
    if file.suffix.lower() == ".skops":
        return _load_skops(file, trust_all=unsafe_pickle)
    if file.suffix.lower() not in PICKLES:
        message = f"The model '{path}' is of an unknown format"
        raise ModelError(message, got=f"'{file.suffix}'", hint="Use .onnx, .skops or module:name.")
    if not unsafe_pickle:
        message = f"The model '{file}' is a pickle, which can run any code when it is loaded"
        hint = "Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle)."
        raise ModelError(message, hint=hint)
    import joblib

    return _loaded(file, lambda: joblib.load(file))


def is_reference(text: str) -> bool:
    """Tell `module:name` from a path.

    Args:
        text: what the caller gave as a model.
    """
    return _REFERENCE.fullmatch(text) is not None


def import_model(reference: str, folder: Path, noun: str = "model") -> Any:
    """Import `module:name` from a folder or the installed packages.

    Args:
        reference: the module and a (dotted) name in it.
        folder: where the module is looked for first.
        noun: what messages call the object.
    """
    module_name, _, attribute = reference.partition(":")
    path = str(folder.resolve())
    sys.path.insert(0, path)
    try:
        model: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            model = getattr(model, part)
    except Exception as err:  # the user's module may fail in any way
        actual = f"{type(err).__name__}: {err}"
        raise ModelError(f"The {noun} '{reference}' cannot be imported", got=actual) from err
    finally:
        sys.path.remove(path)
    return model


def _existing(path: str | Path) -> Path:
    file = Path(path).expanduser()
    if not file.is_file():
        raise ModelError(f"The model '{file}' does not exist", hint=did_you_mean_file(file))
    return file


def _optional(module: str, extra: str, file: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as err:
        message = f"The model '{file}' needs {module.partition('.')[0]}"
        raise ModelError(message, hint=f"Install it: pip install 'whygap[{extra}]'.") from err


def _loaded(file: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as err:  # damaged files fail in many ways
        message = f"The model '{file}' cannot be loaded"
        hint = "It may be damaged, or written by another version."
        raise ModelError(message, got=first_line(err, with_type=True), hint=hint) from err


def _load_skops(file: Path, *, trust_all: bool) -> Any:
    """Load a skops file; types that are not known to be safe are refused unless allowed."""
    io = _optional("skops.io", "skops", file)
    unknown = _loaded(file, lambda: io.get_untrusted_types(file=file))
    if unknown and not trust_all:
        message = f"The model '{file}' holds types that are not known to be safe"
        hint = "If you trust the file: unsafe_pickle=True (--unsafe-pickle)."
        raise ModelError(message, got=", ".join(sorted(unknown)[:3]), hint=hint)
    return _loaded(file, lambda: io.load(file, trusted=unknown))


def _open_onnx(path: str | Path) -> Any:
    """Open a session of an ONNX file, on a single thread."""
    file = _existing(path)
    runtime = _optional("onnxruntime", "onnx", file)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    return _loaded(file, lambda: runtime.InferenceSession(str(file), options, providers=providers))
