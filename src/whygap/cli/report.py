"""`whygap report`: a result as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Json, Level, Quiet, ResultFile, Verbose
from whygap.cli.output import Speaker, check_writable

Page = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="An .html file.")]
EXAMPLES = ("whygap report gap.json -o gap.html",)


def command(
    result: ResultFile,
    output: Page,
    level: Level = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a result as one self-contained HTML page."""
    from whygap.cli.inputs import read_result

    check_writable(output)
    gap, shown_level = read_result(result, level)
    gap.report(output, shown_level)
    Speaker(as_json, quiet, verbose).result(f"Wrote {output}", {"report": output})
