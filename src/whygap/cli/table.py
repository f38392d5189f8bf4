"""`whygap table`: every estimate of a result as a table."""

from __future__ import annotations

from typing import Annotated

from whygap.cli.options import OutputFile, ResultOptions, option
from whygap.cli.output import Speaker, check_writable

Format = Annotated[str, option("--format -f", "FORMAT", "text, md, csv, tex or html.")]
EXAMPLES = ("whygap table gap.json", "whygap table gap.json --format tex -o gap.tex")


def command(
    shown: ResultOptions,
    format: Format = "text",  # noqa: A002 - the option is called --format
    output: OutputFile = None,
    *,
    speaker: Speaker,
) -> None:
    """Print every estimate of a result as a table."""
    from whygap.render import tables
    from whygap.results import files

    check_writable(output)
    gap = shown.read()
    level = shown.level_of(gap)
    if format == "csv":  # which has no room for words
        speaker.warn(gap.problems())
    words = tables.render(gap, format, level)
    if output is None:
        speaker.result(words, tables.rows(gap.findings(level)))
    else:
        files.write_whole(output, words + "\n")
        speaker.result(f"Wrote {output}", {"table": output})
