"""`whygap report`: a result as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from whygap.cli.options import ResultOptions, option
from whygap.cli.output import Speaker, check_ending, check_writable

Page = Annotated[Path, option("--output -o", "FILE", "An .html file.")]
Revised = Annotated[
    Path | None, option("--revision", "REVISION.json", "Printed by 'revise --json'.")
]
EXAMPLES = (
    "whygap report gap.json -o gap.html",
    "whygap report gap.json --revision revision.json -o gap.html",
)


def command(
    shown: ResultOptions, output: Page, revision: Revised = None, *, speaker: Speaker
) -> None:
    """Write a result as one self-contained HTML page.

    With --revision, the page also shows what revising the model would bring. Levels of fewer
    than ten rows are not named; --redact sets another number, --redact 1 names all.
    """
    from whygap.render.revision import load_revision
    from whygap.results.redaction import ROWS

    check_ending(output, ".html")
    check_writable(output)
    gap = shown.read()
    revised = None if revision is None else load_revision(revision)
    redact = ROWS if shown.redact is None else None  # else it is redacted already
    gap.report(output, shown.level_of(gap), revised, redact=redact)
    speaker.result(f"Wrote {output}", {"report": output})
