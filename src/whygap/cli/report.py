"""`whygap report`: a result as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from whygap.cli.options import ResultOptions, option
from whygap.cli.output import Speaker, check_ending, check_writable

Page = Annotated[Path, option("--output -o", "FILE", "An .html file.")]
EXAMPLES = ("whygap report gap.json -o gap.html",)


def command(shown: ResultOptions, output: Page, *, speaker: Speaker) -> None:
    """Write a result as one self-contained HTML page.

    Levels of fewer than ten rows are not named; --redact sets another number, --redact 1 names
    all.
    """
    from whygap.results.redaction import ROWS

    check_ending(output, ".html")
    check_writable(output)
    gap = shown.read()
    redact = ROWS if shown.redact is None else None  # else it is redacted already
    gap.report(output, shown.level_of(gap), redact=redact)
    speaker.result(f"Wrote {output}", {"report": output})
