"""`whygap plot`: a result as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import ResultOptions
from whygap.cli.output import Speaker, check_writable

Figure = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="An .svg, .png or .pdf file.")
]
EXAMPLES = ("whygap plot gap.json -o gap.svg",)


def command(shown: ResultOptions, output: Figure, speaker: Speaker) -> None:
    """Draw a result: from source to target, and the shares."""
    from whygap.render import plot

    check_writable(output)
    gap = shown.read()
    plot.save_figure(plot.overview(gap, shown.level_of(gap)), output)
    speaker.result(f"Wrote {output}", {"figure": output})
