"""`whygap init`: a commented study file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Json, OutputFile, Quiet, Verbose
from whygap.cli.output import Speaker, check_writable

Source = Annotated[
    Path | None, typer.Option("--source", metavar="FILE", help="Source table, to guess roles.")
]
Target = Annotated[
    Path | None, typer.Option("--target", metavar="FILE", help="Target table, to guess roles.")
]
EXAMPLES = (
    "whygap init > study.toml",
    "whygap init --source before.csv --target after.csv -o study.toml",
)


def command(
    source: Source = None,
    target: Target = None,
    output: OutputFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a commented study file, roles guessed if it can.

    With --source and --target, the roles are guessed from the tables and marked as guesses.
    """
    from whygap import storage
    from whygap.study_file import draft_study

    speaker = Speaker(as_json, quiet, verbose)
    check_writable(output)
    text = draft_study(source, target)
    if output is None:
        speaker.result(text.rstrip("\n"), {"study_file": text})
    else:
        storage.write_whole(output, text)
        speaker.note(f"Wrote {output}")
