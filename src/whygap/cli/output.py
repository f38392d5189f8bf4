"""Where things go: results to stdout, progress and warnings to stderr, files whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import typer

from whygap.errors import ResultError


STREAMS = {"quiet": False, "verbose": False}  # options of the whole program, set by `main`


def print_result(words: str, values: Any, as_json: bool) -> None:
    """Print a result on stdout.

    Args:
        words: the result as text.
        values: the result as plain values.
        as_json: print the values instead of the words.
    """
    from whygap.results.files import plain

    if as_json:
        words = json.dumps(plain(values), ensure_ascii=False, allow_nan=False, indent=1)
    typer.echo(words.rstrip("\n"))


def note(text: str) -> None:
    """Print something worth knowing on stderr."""
    if not STREAMS["quiet"]:
        typer.echo(text, err=True)


def save(result: Any, path: Path | None) -> None:
    """Save a result where a file was named."""
    if path is not None:
        result.save(path)
        note(f"Wrote {path}")


def check_writable(path: Path | None, ending: str = "") -> None:
    """Refuse an output that cannot be written, before any work is done.

    Args:
        path: of the file; None where no file was named.
        ending: ".json" or ".html" refuse names of other kinds of files.
    """
    from whygap.results import files

    if path is None:
        return
    if ending:
        files.require_ending(path, ending)
    if reason := _obstacle(path):
        raise ResultError(
            f"The file '{path}' cannot be written",
            got=reason,
            hint="Check that its folder exists and may be written to.",
        )


def make_folder(folder: Path) -> Path:
    """Return a folder, made where missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise ResultError(
            f"The folder '{folder}' cannot be made",
            got=err.strerror,
            hint="Name another folder with -o.",
        ) from err
    check_writable(folder / "file")
    return folder


def _obstacle(path: Path) -> str:
    folder = path.parent
    if path.is_dir():
        return "a folder of that name"
    if not folder.exists():
        return f"no folder '{folder}'"
    if not folder.is_dir():
        return f"'{folder}', which is not a folder"
    if not os.access(folder, os.W_OK):
        return f"no permission to write into '{folder}'"
    return ""
