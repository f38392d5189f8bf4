"""Model files: ONNX and skops are safe, `module:name` is the user's own code, a pickle is not."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from whygap.errors import ModelError, did_you_mean_file, first_line
from whygap.notes import Note

__all__ = ["PICKLES", "import_model", "is_reference", "load_model", "load_notes", "open_onnx"]

PICKLES = (".pkl", ".pickle", ".joblib")
REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
ONNX_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def load_model(path: str | Path, *, unsafe_pickle: bool) -> Any:
    """A model from a skops file, `module:name`, or (when allowed) a pickle."""
    text = str(path)
    if is_reference(text) and not Path(text).exists():
        return import_model(text, Path.cwd())
    file = Path(path).expanduser()
    require_file(file)
    if file.suffix.lower() == ".skops":
        return load_skops(file, trust_all=unsafe_pickle)
    if file.suffix.lower() in PICKLES:
        return load_pickle(file, allowed=unsafe_pickle)
    raise ModelError(
        f"The model '{path}' is of an unknown format",
        got=f"'{file.suffix}'",
        hint="Use .onnx, .skops or module:name.",
    )


def require_file(file: Path) -> None:
    if not file.is_file():
        raise ModelError(f"The model '{file}' does not exist", hint=did_you_mean_file(file))


def optional(module: str, package: str, extra: str, file: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as err:
        raise ModelError(
            f"The model '{file}' needs {package}",
            hint=f"Install it: pip install 'whygap[{extra}]'.",
        ) from err


def is_reference(text: str) -> bool:
    """Whether a text reads as `module:name`."""
    return REFERENCE.fullmatch(text) is not None


def import_model(reference: str, folder: Path, what: str = "model") -> Any:
    """`module:name` from a folder or the installed packages."""
    module_name, _, attribute = reference.partition(":")
    here = str(folder.resolve())
    sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as err:  # the user's module may fail in any way
        raise ModelError(
            f"The {what} '{reference}' cannot be imported", got=f"{type(err).__name__}: {err}"
        ) from err
    finally:
        sys.path.remove(here)
    return found


def load_skops(file: Path, *, trust_all: bool) -> Any:
    """A skops file; types it does not know to be safe are refused unless allowed."""
    io = optional("skops.io", "skops", "skops", file)
    try:
        unknown = io.get_untrusted_types(file=file)
        if unknown and not trust_all:
            raise ModelError(
                f"The model '{file}' holds types that are not known to be safe",
                got=", ".join(sorted(unknown)[:3]),
                hint="If you trust the file: unsafe_pickle=True (--unsafe-pickle).",
            )
        return io.load(file, trusted=unknown)
    except ModelError:
        raise
    except Exception as err:  # damaged files fail in many ways
        raise unloadable(file, err) from err


def load_notes(path: str | Path) -> tuple[Note, ...]:
    """What the user must know about a model that was loaded."""
    file = Path(path)
    if file.suffix.lower() not in PICKLES:
        return ()
    return (Note("pickle", "warning", {"file": file.name}),)


def load_pickle(file: Path, *, allowed: bool) -> Any:
    """A pickle runs code when it is loaded: only behind an explicit flag, and said again."""
    if not allowed:
        raise ModelError(
            f"The model '{file}' is a pickle, which can run any code when it is loaded",
            hint="Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle).",
        )
    import joblib

    try:
        return joblib.load(file)
    except Exception as err:  # damaged files fail in many ways
        raise unloadable(file, err) from err


def unloadable(file: Path, err: Exception) -> ModelError:
    return ModelError(
        f"The model '{file}' cannot be loaded",
        got=first_line(err, with_type=True),
        hint="It may be damaged, or written by another version.",
    )


def onnx_session(file: Path) -> Any:
    require_file(file)
    onnxruntime = optional("onnxruntime", "onnxruntime", "onnx", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as err:  # damaged files fail in many ways
        raise unloadable(file, err) from err


@dataclass(frozen=True, slots=True, eq=False)
class OnnxModel:
    """An ONNX session; `width` is that of its one matrix, where it takes one and says so."""

    session: Any
    types: dict[str, Any]
    takes_matrix: bool
    width: int | None

    def ask(self, shown: Any) -> Any:
        """Probabilities where the model gives any, its labels otherwise; of a matrix or a table."""
        if self.takes_matrix:
            feed = {name: shown.astype(kind) for name, kind in self.types.items()}
        else:
            frame = nw.from_native(shown, eager_only=True)
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
    """An ONNX file on one thread: one matrix, or one input per column."""
    session = onnx_session(Path(path).expanduser())
    inputs = session.get_inputs()
    for node in inputs:
        if node.type not in ONNX_TYPES:
            raise ModelError("The ONNX model has an input of an unknown type", got=node.type)
    types = {node.name: ONNX_TYPES[node.type] for node in inputs}
    width = inputs[0].shape[1] if len(inputs) == 1 and len(inputs[0].shape) == 2 else None
    size = width if isinstance(width, int) and width > 0 else None
    return OnnxModel(session, types, len(inputs) == 1 and width != 1, size)
