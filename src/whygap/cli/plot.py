"""`whygap plot`: a result as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from whygap.cli.options import ResultOptions, option
from whygap.cli.output import Speaker, check_writable

Figure = Annotated[Path, option("--output -o", "FILE", "An .svg, .png or .pdf file.")]
What = Annotated[
    str, option("--what", "FIGURE", "decomposition, points, affected, recoverable or shares.")
]
EXAMPLES = ("whygap plot gap.json -o gap.svg", "whygap plot gap.json --what points -o points.svg")


def command(
    shown: ResultOptions, output: Figure, what: What = "decomposition", *, speaker: Speaker
) -> None:
    """Draw a result: the decomposition, or one detail."""
    from whygap.render import svg

    check_writable(output)
    gap = shown.read()
    svg.save(gap.plot(None, what, shown.level_of(gap)), output)
    speaker.result(f"Wrote {output}", {"figure": output})
