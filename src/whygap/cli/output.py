"""Where things go: results to stdout, progress and warnings to stderr, files whole or not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from whygap.errors import ResultError

__all__ = ["Speaker", "check_writable", "make_folder"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """How one command speaks."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def result(self, words: str, values: Any) -> None:
        """The answer, on stdout: words, or the same as JSON."""
        if self.as_json:
            from whygap.storage import plain

            typer.echo(json.dumps(plain(values), ensure_ascii=False, allow_nan=False, indent=1))
        else:
            typer.echo(words)

    def note(self, text: str) -> None:
        """Something worth knowing, on stderr."""
        if not self.quiet:
            typer.echo(text, err=True)

    def warn(self, texts: Iterable[str]) -> None:
        """Warnings, one line each, on stderr."""
        for text in texts:
            self.note(f"Warning: {text}")


def check_writable(*paths: Path | None) -> None:
    """Refuse an output that cannot be written, before any work is done."""
    for path in paths:
        reason = "" if path is None else _obstacle(path)
        if reason:
            raise ResultError(
                f"The file '{path}' cannot be written",
                got=reason,
                hint="Check that its folder exists and may be written to.",
            )


def make_folder(folder: Path) -> Path:
    """The folder itself, made where missing."""
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
