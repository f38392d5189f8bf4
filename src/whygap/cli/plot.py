"""`whygap plot`: a result as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Json, Level, Quiet, ResultFile, Verbose
from whygap.cli.output import Speaker, check_writable

Figure = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="An .svg, .png or .pdf file.")
]
EXAMPLES = ("whygap plot gap.json -o gap.svg",)


def command(
    result: ResultFile,
    output: Figure,
    level: Level = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw a result: from source to target, and the shares."""
    from whygap.cli.inputs import read_result
    from whygap.render import plot

    check_writable(output)
    gap, shown_level = read_result(result, level)
    plot.save_figure(plot.overview(gap, shown_level), output)
    Speaker(as_json, quiet, verbose).result(f"Wrote {output}", {"figure": output})
