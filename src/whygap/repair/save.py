"""The revised model as a file: skops, or a pickle (which can run code when it is loaded)."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path

from whygap.errors import ModelError
from whygap.repair.model import RevisedModel
from whygap.storage.files import write_bytes

__all__ = ["check_model_file", "save_model"]

PICKLES = (".pkl", ".pickle", ".joblib")


def check_model_file(path: str | Path) -> None:
    """Refuse a format that cannot be written, before anything is computed."""
    kind = Path(path).suffix.lower()
    if kind not in (".skops", *PICKLES):
        raise ModelError(
            f"The revised model cannot be written to '{path}'",
            got=f"the format '{kind}'",
            hint="Use .skops, or .pkl for a pickle.",
        )
    if kind == ".skops" and importlib.util.find_spec("skops") is None:
        raise ModelError(
            f"Writing '{path}' needs skops",
            hint="Install it: pip install 'whygap[skops]'; or write a .pkl.",
        )


def save_model(model: RevisedModel, path: str | Path) -> Path:
    """Write the model whole or not at all; returns the path."""
    check_model_file(path)
    if Path(path).suffix.lower() != ".skops":
        return write_bytes(path, pickle.dumps(model))
    from skops import io

    return write_bytes(path, io.dumps(model))
