"""Model files: ONNX and skops are safe, `module:name` is the user's own code, a pickle is not."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from whygap.errors import ModelError, did_you_mean_file, first_line

__all__ = ["PICKLES", "import_model", "is_reference", "load_model", "open_onnx"]

PICKLES = (".pkl", ".pickle", ".joblib")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def load_model(path: str | Path, *, unsafe_pickle: bool) -> Any:
    """Load a model from a skops file, `module:name`, or (when allowed) a pickle."""
    text = str(path)
    if is_reference(text) and not Path(text).exists():
        return import_model(text, Path.cwd())
    file = _existing(path)
    if file.suffix.lower() == ".skops":
        return _load_skops(file, trust_all=unsafe_pickle)
    if file.suffix.lower() not in PICKLES:
        what = f"The model '{path}' is of an unknown format"
        raise ModelError(what, got=f"'{file.suffix}'", hint="Use .onnx, .skops or module:name.")
    if not unsafe_pickle:
        what = f"The model '{file}' is a pickle, which can run any code when it is loaded"
        hint = "Use .onnx or .skops; or, if you trust it, unsafe_pickle=True (--unsafe-pickle)."
        raise ModelError(what, hint=hint)
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
        got = f"{type(err).__name__}: {err}"
        raise ModelError(f"The {what} '{reference}' cannot be imported", got=got) from err
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
        what = f"The model '{file}' needs {module.partition('.')[0]}"
        raise ModelError(what, hint=f"Install it: pip install 'whygap[{extra}]'.") from err


def _loaded(file: Path, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as err:  # damaged files fail in many ways
        what = f"The model '{file}' cannot be loaded"
        hint = "It may be damaged, or written by another version."
        raise ModelError(what, got=first_line(err, with_type=True), hint=hint) from err


def _load_skops(file: Path, *, trust_all: bool) -> Any:
    """Load a skops file; types that are not known to be safe are refused unless allowed."""
    io = _optional("skops.io", "skops", file)
    unknown = _loaded(file, lambda: io.get_untrusted_types(file=file))
    if unknown and not trust_all:
        what = f"The model '{file}' holds types that are not known to be safe"
        hint = "If you trust the file: unsafe_pickle=True (--unsafe-pickle)."
        raise ModelError(what, got=", ".join(sorted(unknown)[:3]), hint=hint)
    return _loaded(file, lambda: io.load(file, trusted=unknown))


def open_onnx(path: str | Path) -> Any:
    """Open a session of an ONNX file, on one thread."""
    file = _existing(path)
    runtime = _optional("onnxruntime", "onnx", file)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    where = ["CPUExecutionProvider"]
    return _loaded(file, lambda: runtime.InferenceSession(str(file), options, providers=where))
