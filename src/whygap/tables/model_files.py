"""Model files: ONNX and skops are safe, `module:name` is the user's own code, a pickle is not."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from whygap.errors import ModelError, did_you_mean_file, first_line

__all__ = ["PICKLES", "OnnxModel", "import_model", "is_reference", "load_model", "open_onnx"]

PICKLES = (".pkl", ".pickle", ".joblib")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def load_model(path: str | Path, *, unsafe_pickle: bool) -> Any:
    """Load a model from a skops file, `module:name`, or (when allowed) a pickle."""
    text = str(path)
    if is_reference(text) and not Path(text).exists():
        return import_model(text, Path.cwd())
    file = Path(path).expanduser()
    _require_file(file)
    if file.suffix.lower() == ".skops":
        return _load_skops(file, trust_all=unsafe_pickle)
    if file.suffix.lower() not in PICKLES:
        raise ModelError(
            f"The model '{path}' is of an unknown format",
            got=f"'{file.suffix}'",
            hint="Use .onnx, .skops or module:name.",
        )
    if not unsafe_pickle:
        raise ModelError(
            f"The model '{file}' is a pickle, which can run any code when it is loaded",
            hint="Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle).",
        )
    import joblib

    return _loaded(file, lambda: joblib.load(file))


def is_reference(text: str) -> bool:
    """Tell `module:name` from a path."""
    return _REFERENCE.fullmatch(text) is not None


def import_model(reference: str, folder: Path, what: str = "model") -> Any:
    """Import `module:name` from a folder or the installed packages.

    Args:
        reference: the module and a (dotted) name in it.
        folder: where the module is looked for first.
        what: what messages call the object.
    """
    module_name, _, attribute = reference.partition(":")
    path = str(folder.resolve())
    sys.path.insert(0, path)
    try:
        model: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            model = getattr(model, part)
    except Exception as err:  # the user's module may fail in any way
        raise ModelError(
            f"The {what} '{reference}' cannot be imported", got=f"{type(err).__name__}: {err}"
        ) from err
    finally:
        sys.path.remove(path)
    return model


def _require_file(file: Path) -> None:
    if not file.is_file():
        raise ModelError(f"The model '{file}' does not exist", hint=did_you_mean_file(file))


def _optional(module: str, extra: str, file: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as err:
        raise ModelError(
            f"The model '{file}' needs {module.partition('.')[0]}",
            hint=f"Install it: pip install 'whygap[{extra}]'.",
        ) from err


def _loaded(file: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except ModelError:
        raise
    except Exception as err:  # damaged files fail in many ways
        raise ModelError(
            f"The model '{file}' cannot be loaded",
            got=first_line(err, with_type=True),
            hint="It may be damaged, or written by another version.",
        ) from err


def _load_skops(file: Path, *, trust_all: bool) -> Any:
    """Load a skops file; types that are not known to be safe are refused unless allowed."""
    io = _optional("skops.io", "skops", file)

    def load() -> Any:
        unknown = io.get_untrusted_types(file=file)
        if unknown and not trust_all:
            raise ModelError(
                f"The model '{file}' holds types that are not known to be safe",
                got=", ".join(sorted(unknown)[:3]),
                hint="If you trust the file: unsafe_pickle=True (--unsafe-pickle).",
            )
        return io.load(file, trusted=unknown)

    return _loaded(file, load)


@dataclass(frozen=True, slots=True, eq=False)
class OnnxModel:
    """An ONNX session that takes one matrix (of `width` columns, where known) or columns."""

    session: Any
    types: dict[str, Any]
    takes_matrix: bool
    width: int | None

    def predict(self, table: Any) -> Any:
        """Return probabilities where the model gives any, its labels otherwise."""
        if self.takes_matrix:
            feed = {name: table.astype(kind) for name, kind in self.types.items()}
        else:
            frame = nw.from_native(table, eager_only=True)
            feed = {
                name: frame.get_column(name).to_numpy().astype(kind).reshape(-1, 1)
                for name, kind in self.types.items()
            }
        outputs = self.session.run(None, feed)
        for output in outputs:
            if isinstance(output, list) and output and isinstance(output[0], dict):
                keys = sorted(output[0])
                return np.array([[row[key] for key in keys] for row in output])
            if np.ndim(output) == 2 and np.shape(output)[1] == 2:
                return output
        return outputs[0]


def open_onnx(path: str | Path) -> OnnxModel:
    """Open an ONNX file on one thread: one matrix, or one input per column."""
    file = Path(path).expanduser()
    _require_file(file)
    onnxruntime = _optional("onnxruntime", "onnx", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    session = _loaded(
        file, lambda: onnxruntime.InferenceSession(str(file), options, providers=providers)
    )
    inputs = session.get_inputs()
    for node in inputs:
        if node.type not in _ONNX_TYPES:
            raise ModelError("The ONNX model has an input of an unknown type", got=node.type)
    types = {node.name: _ONNX_TYPES[node.type] for node in inputs}
    width = inputs[0].shape[1] if len(inputs) == 1 and len(inputs[0].shape) == 2 else None
    size = width if isinstance(width, int) and width > 0 else None
    return OnnxModel(session, types, len(inputs) == 1 and width != 1, size)
