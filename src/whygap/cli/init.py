"""`whygap init`: a commented study file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from whygap.cli.options import OutputFile, option
from whygap.cli.output import Speaker, check_writable
from whygap.errors import ResultError

Force = Annotated[bool, option("--force", None, "Write over a file that is there already.")]
Source = Annotated[Path | None, option("--source", "FILE", "Source table, to guess roles.")]
Target = Annotated[Path | None, option("--target", "FILE", "Target table, to guess roles.")]
EXAMPLES = (
    "whygap init > study.toml",
    "whygap init --source before.csv --target after.csv -o study.toml",
)


def command(
    source: Source = None,
    target: Target = None,
    output: OutputFile = None,
    force: Force = False,
    *,
    speaker: Speaker,
) -> None:
    """Write a commented study file, roles guessed if it can.

    With --source and --target, the roles are guessed from the tables and marked as guesses.
    """
    from whygap.results import files
    from whygap.study_file import draft_study

    check_writable(output)
    if output is not None and output.exists() and not force:
        raise ResultError(
            f"The file '{output}' is there already",
            hint="Name another one, or write over it with --force.",
        )
    tables = [_as_named_from(path, output) for path in (source, target)]
    text = draft_study(*tables)
    if output is None:
        speaker.result(text, {"study_file": text})
    else:
        files.write_whole(output, text)
        speaker.result(f"Wrote {output}", {"study": output})


def _as_named_from(table: Path | None, study_file: Path | None) -> Path | None:
    """Paths in a study file are relative to it: made absolute when it goes to another folder."""
    elsewhere = study_file is not None and study_file.parent.resolve() != Path.cwd()
    return table.resolve() if table is not None and elsewhere else table
