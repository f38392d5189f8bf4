"""Where things go: results to stdout, progress and warnings to stderr, files whole or not."""

import json
import os
from pathlib import Path
from typing import Any

import typer

from whygap.errors import ResultError

STREAMS = {"quiet": False, "verbose": False}  # options of the whole program, set by `main`


def print_result(words: str, values: Any, as_json: bool) -> None:
    """Print a result on stdout: as text, or as JSON."""
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
    """Refuse an output that cannot be written, before any work is done."""
    from whygap.results import files

    if path is None:
        return
    if ending:
        files.require_ending(path, ending)
    folder = path.parent
    obstacles = {
        "a folder of that name": path.is_dir(),
        f"no folder '{folder}'": not folder.exists(),
        f"'{folder}', which is not a folder": not folder.is_dir(),
        f"no permission to write into '{folder}'": not os.access(folder, os.W_OK),
    }
    for obstacle, applies in obstacles.items():
        if applies:
            hint = "Check that its folder exists and may be written to."
            raise ResultError(f"The file '{path}' cannot be written", got=obstacle, hint=hint)


def make_folder(folder: Path) -> Path:
    """Return a folder, made where missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        hint = "Name another folder with -o."
        raise ResultError(
            f"The folder '{folder}' cannot be made", got=err.strerror, hint=hint
        ) from err
    check_writable(folder / "file")
    return folder
