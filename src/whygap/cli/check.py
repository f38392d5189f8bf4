"""`whygap check`: can this study be trusted, and what will it cost?"""

from __future__ import annotations

import typer

from whygap.cli.options import StudyOptions
from whygap.cli.output import Speaker

EXAMPLES = ("whygap check study.toml",)


def command(asked: StudyOptions, speaker: Speaker) -> None:
    """Show rows, roles, overlap and cost before anything is estimated.

    Ends with exit code 1 when an analysis could not be trusted.
    """
    from whygap.checks import check

    question = asked.read(speaker.quiet)
    result = check(question.study, question.settings)
    speaker.result(result.summary(), result.to_dict())
    if not result.ok:
        raise typer.Exit(1)
