"""Results as versioned JSON: written whole or not at all, read back equal, no pickle.

`mapping` says what is in the file; here are the file itself and what can be wrong with it.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

from whygap.errors import ResultError, path_of
from whygap.results import Gap
from whygap.storage.mapping import SCHEMA, VERSION, from_mapping, to_mapping


def save(gap: Gap, path: str | Path, influence: bool = False) -> Path:
    """Write a result; with `influence=True` also what arithmetic on its estimates needs."""
    return write_whole(require_ending(path, ".json"), to_text(gap, influence))


def to_text(gap: Gap, influence: bool = False) -> str:
    """What `save` writes."""
    mapping = to_mapping(gap, influence=influence)
    return json.dumps(mapping, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


TABLE = "The table of all estimates is gap.to_frame(), or: whygap table gap.json --format csv."
FIGURE = "gap.plot().savefig(path) draws it."
KINDS = {
    ".json": "gap.save(path) writes it.",
    ".html": "gap.report(path) writes it.",
    ".pdf": "Write .html and print it from a browser; gap.plot().savefig(path) draws one figure.",
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".parquet", ".tex", ".md"), TABLE),
    **dict.fromkeys((".png", ".svg", ".jpg"), FIGURE),
    ".toml": "That is the ending of a study file, which is not written over.",
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), "gap.save(path) writes JSON, no pickle."),
}


def require_ending(path: str | Path, ending: str) -> Path:
    """Refuse a file whose name says that it is of another kind."""
    file = path_of(path, "A file", ResultError)
    found = file.suffix.lower()
    if found in KINDS and found != ending:
        what = {".json": "A result is saved as JSON", ".html": "A report is a page of HTML"}[ending]
        raise ResultError(what, got=f"'{file.name}'", hint=KINDS[found])
    return file


def load(path: str | Path) -> Gap:
    """Read a result that `save` wrote."""
    path = path_of(path, "A result file", ResultError)
    try:
        mapping = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ResultError(f"The result file '{path}' cannot be read", got=err.strerror) from err
    except (UnicodeDecodeError, json.JSONDecodeError) as err:
        raise ResultError(
            f"The file '{path}' is not a whole whygap result",
            got=str(err),
            hint="It may be half written or of another kind; run 'whygap explain' again.",
        ) from err
    _check_schema(mapping, path)
    try:
        return from_mapping(mapping)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as err:
        missing = f"no field {err}" if isinstance(err, KeyError) else str(err)
        raise ResultError(
            f"The file '{path}' is not a whole whygap result",
            got=missing,
            hint="It was changed after it was written; run 'whygap explain' again.",
        ) from err


def write_whole(path: str | Path, text: str) -> Path:
    """Write text so that the file is whole or not there."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write to a temporary file in the same folder, then rename: never half a file."""
    path = path_of(path, "A file", ResultError)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(_mode(path))
        Path(temporary).replace(path)
    except BaseException as err:  # an interrupt leaves no litter either
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if not isinstance(err, OSError):
            raise
        raise ResultError(
            f"The file '{path}' cannot be written",
            got=err.strerror,
            hint="Check that its folder exists and may be written to.",
        ) from err
    return path


def _mode(path: Path) -> int:
    """Who may read and write the file: as before, where it is written over."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _check_schema(mapping: object, path: Path) -> None:
    schema = mapping.get("schema") if isinstance(mapping, dict) else None
    family, _, version = str(schema).partition("/")
    if family != "whygap" or not version.isdigit():
        raise ResultError(
            f"The file '{path}' is not a whygap result",
            got="no 'schema' field" if schema is None else f"schema {schema!r}",
            hint="Give a file written by 'whygap explain' or gap.save(path).",
        )
    if int(version) > VERSION:
        raise ResultError(
            f"The file '{path}' was written by a newer whygap",
            got=f"schema {schema!r}, while this version reads up to '{SCHEMA}'",
            hint="Update whygap to read it.",
        )
