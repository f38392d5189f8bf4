"""`whygap rehearse`: how far intervals can be trusted on data like these."""

from __future__ import annotations

from typing import Annotated

import typer

from whygap.cli.options import Jobs, Json, Quiet, Seed, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker

Replicates = Annotated[
    int, typer.Option("--replicates", "-r", metavar="R", help="How often to repeat the analysis.")
]
EXAMPLES = ("whygap rehearse study.toml --replicates 50",)


def command(
    study_file: StudyFile,
    replicates: Replicates = 50,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Set = None,
    unsafe_pickle: UnsafePickle = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Repeat the analysis where the truth is known.

    Builds a world with known truth from your own tables, repeats the analysis in it, and says
    how far its intervals can be trusted at your sample size.
    """
    from whygap._rehearse import rehearse
    from whygap.cli.inputs import read_study

    study, chosen = read_study(
        study_file,
        settings,
        unsafe_pickle=unsafe_pickle,
        progress=False if quiet else None,
        seed=seed,
        n_jobs=jobs,
    )
    rehearsal = rehearse(study, replicates=replicates, settings=chosen)
    Speaker(as_json, quiet, verbose).result(str(rehearsal), rehearsal.to_mapping())
