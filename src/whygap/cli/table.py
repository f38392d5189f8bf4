r"""`whygap table`: every estimate of a result as a table."""

from __future__ import annotations

from typing import Annotated

import typer

from whygap.cli.options import Json, Level, OutputFile, Quiet, ResultFile, Verbose
from whygap.cli.output import Speaker, check_writable

Format = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="text, md, csv, tex or html.")
]
EXAMPLES = (
    "whygap table gap.json",
    "whygap table gap.json --format tex -o gap.tex",
)


def command(
    result: ResultFile,
    format: Format = "text",  # noqa: A002 - the option is called --format
    output: OutputFile = None,
    level: Level = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print every estimate of a result as a table."""
    from whygap import storage
    from whygap.cli.inputs import read_result
    from whygap.render import frame, table

    speaker = Speaker(as_json, quiet, verbose)
    check_writable(output)
    gap, shown_level = read_result(result, level)
    words = table.render(gap, format, shown_level)
    if output is None:
        speaker.result(words.rstrip("\n"), list(frame.rows(gap, shown_level)))
    else:
        storage.write_whole(output, words.rstrip("\n") + "\n")
        speaker.note(f"Wrote {output}")
