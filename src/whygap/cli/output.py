"""Where things go: results to stdout, progress and warnings to stderr, files whole or not."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from whygap.errors import ResultError


@dataclass(frozen=True, slots=True)
class Speaker:
    """How one command speaks; every command has these options."""

    as_json: Annotated[bool, Option("--json", help="Print JSON instead of words.")] = False
    quiet: Annotated[bool, Option("--quiet", "-q", help="No progress, no warnings.")] = False
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Say more; show tracebacks on failure.")
    ] = False

    def result(self, words: str, values: Any) -> None:
        """The answer, on stdout: words, or the same as JSON."""
        from whygap.results.files import plain

        if self.as_json:
            words = json.dumps(plain(values), ensure_ascii=False, allow_nan=False, indent=1)
        typer.echo(words.rstrip("\n"))

    def note(self, text: str) -> None:
        """Something worth knowing, on stderr."""
        if not self.quiet:
            typer.echo(text, err=True)

    def warn(self, texts: Iterable[str]) -> None:
        """Warnings, one line each, on stderr."""
        for text in texts:
            self.note(f"Warning: {text}")

    def write(self, path: Path | None, text: str) -> None:
        """A file, where one was asked for, and a word about it."""
        from whygap.results import files

        if path is not None:
            files.write_whole(path, text)
            self.note(f"Wrote {path}")

    def write_csv(self, path: Path | None, table: Any) -> None:
        """Comma-separated text, the same for every kind of table, where a file was asked for."""
        records = records_of(table)
        text = io.StringIO()
        names = list(records[0]) if records else []
        writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        self.write(path, text.getvalue())


def records_of(table: Any) -> list[dict[str, Any]]:
    """One mapping per row of any dataframe."""
    import narwhals as nw

    return list(nw.from_native(table, eager_only=True).iter_rows(named=True))


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


def check_ending(path: Path | None, ending: str) -> None:
    """Refuse an output whose name says that it is of another kind, before any work is done."""
    from whygap.results import files

    if path is not None:
        files.require_ending(path, ending)


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
