"""`whygap init`: a commented study file."""

from pathlib import Path
from typing import Annotated

from whygap.cli.options import AsJson, option
from whygap.cli.output import check_writable, note, print_result
from whygap.errors import ResultError

StudyFile = Annotated[Path | None, option("--output -o", "FILE", "Write the study file here.")]
Force = Annotated[bool, option("--force", None, "Write over a file that exists.")]
Source = Annotated[Path | None, option("--source", "FILE", "Source table, to guess roles.")]
Target = Annotated[Path | None, option("--target", "FILE", "Target table, to guess roles.")]
EXAMPLES = (
    "whygap init > study.toml",
    "whygap init --source before.csv --target after.csv -o study.toml",
)


def command(
    source: Source = None,
    target: Target = None,
    output: StudyFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented study file.

    With --source and --target, the roles are guessed from the tables and marked as guesses.
    """
    from whygap.results import files
    from whygap.study_file import draft_study

    check_writable(output)
    if output is not None and output.exists() and not force:
        hint = "Name another one, or write over it with --force."
        raise ResultError(f"The file '{output}' is there already", hint=hint)
    elsewhere = output is not None and output.parent.resolve() != Path.cwd()
    text = draft_study(*(t.resolve() if t and elsewhere else t for t in (source, target)))
    if output is not None:
        files.write_whole(output, text)
        note(f"Wrote {output}")
    if output is None or as_json:
        print_result(text, {"study_file": text}, as_json)
