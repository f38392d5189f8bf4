"""Model files: ONNX and skops are safe, `module:name` is the user's own code, a pickle is not."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from whygap.errors import ModelError, did_you_mean_file, first_line
from whygap.tables.design import Note

__all__ = [
    "LoadedModel",
    "import_model",
    "is_reference",
    "load_model",
    "onnx_columns",
    "onnx_type",
    "open_onnx",
    "run_onnx",
]

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


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model from a file, and what the user must know about it."""

    model: Any
    notes: tuple[Note, ...] = ()


def load_model(path: str | Path, *, unsafe_pickle: bool) -> LoadedModel:
    """A model from a skops file, `module:name`, or (when allowed) a pickle."""
    text = str(path)
    if is_reference(text) and not Path(text).exists():
        return LoadedModel(import_model(text, Path.cwd()))
    file = Path(path).expanduser()
    require_file(file)
    if file.suffix.lower() == ".skops":
        return LoadedModel(load_skops(file, trust_all=unsafe_pickle))
    if file.suffix.lower() in PICKLES:
        return load_pickle(file, allowed=unsafe_pickle)
    raise ModelError(
        f"The model '{path}' is of an unknown format",
        got=f"'{file.suffix}'",
        hint="Use .onnx, .skops or module:name.",
    )


def require_file(file: Path) -> None:
    """The file exists."""
    if not file.is_file():
        raise ModelError(f"The model '{file}' does not exist", hint=did_you_mean_file(file))


def optional(module: str, package: str, extra: str, file: Path) -> Any:
    """A library that comes with an extra."""
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


def load_pickle(file: Path, *, allowed: bool) -> LoadedModel:
    """A pickle runs code when it is loaded: only behind an explicit flag, and said again."""
    if not allowed:
        raise ModelError(
            f"The model '{file}' is a pickle, which can run any code when it is loaded",
            hint="Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle).",
        )
    import joblib

    try:
        model = joblib.load(file)
    except Exception as err:  # damaged files fail in many ways
        raise unloadable(file, err) from err
    text = f"The model '{file.name}' was loaded from a pickle, which can run any code."
    return LoadedModel(model, (Note("warning", text),))


def unloadable(file: Path, err: Exception) -> ModelError:
    """A file that exists and cannot be loaded."""
    return ModelError(
        f"The model '{file}' cannot be loaded",
        got=first_line(err, with_type=True),
        hint="It may be damaged, or written by another version.",
    )


def open_onnx(path: str | Path) -> Any:
    """An ONNX session on one thread."""
    file = Path(path).expanduser()
    require_file(file)
    onnxruntime = optional("onnxruntime", "onnxruntime", "onnx", file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as err:  # damaged files fail in many ways
        raise unloadable(file, err) from err


def onnx_type(name: str) -> Any:
    """The numpy type of an ONNX tensor."""
    if name not in ONNX_TYPES:
        raise ModelError("The ONNX model has an input of an unknown type", got=name)
    return ONNX_TYPES[name]


def onnx_columns(table: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """One (rows, 1) array per input."""
    frame = nw.from_native(table, eager_only=True)
    return {
        node.name: frame.get_column(node.name)
        .to_numpy()
        .astype(onnx_type(node.type))
        .reshape(-1, 1)
        for node in inputs
    }


def run_onnx(session: Any, feed: dict[str, Any]) -> Any:
    """The probabilities where the model gives any, its labels otherwise."""
    outputs = session.run(None, feed)
    for output in outputs:
        if isinstance(output, list) and output and isinstance(output[0], dict):
            keys = sorted(output[0])
            return np.array([[row[key] for key in keys] for row in output])
        if np.ndim(output) == 2 and np.shape(output)[1] == 2:
            return output
    return outputs[0]
