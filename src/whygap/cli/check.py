"""`whygap check`: can this study be trusted, and what will it cost?"""

from __future__ import annotations

import typer

from whygap.cli.options import Json, Quiet, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker

EXAMPLES = ("whygap check study.toml",)


def command(
    study_file: StudyFile,
    settings: Set = None,
    unsafe_pickle: UnsafePickle = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show rows, roles, overlap and cost before anything is estimated.

    Ends with exit code 1 when an analysis could not be trusted.
    """
    from whygap._check import check
    from whygap.cli.inputs import read_study

    study, chosen = read_study(
        study_file, settings, unsafe_pickle=unsafe_pickle, progress=False if quiet else None
    )
    page = check(study, chosen)
    Speaker(as_json, quiet, verbose).result(str(page).rstrip(), page.to_mapping())
    if not page.ok:
        raise typer.Exit(1)
