"""`whygap rehearse`: how far intervals can be trusted on data like these."""

from __future__ import annotations

from typing import Annotated

from whygap.cli.options import Jobs, Seed, StudyOptions, option
from whygap.cli.output import Speaker

Replicates = Annotated[int, option("--replicates -r", "R", "How often to repeat the analysis.")]
EXAMPLES = ("whygap rehearse study.toml --replicates 50",)


def command(
    asked: StudyOptions,
    replicates: Replicates = 50,
    seed: Seed = None,
    jobs: Jobs = None,
    *,
    speaker: Speaker,
) -> None:
    """Repeat the analysis where the truth is known.

    Builds a world with known truth from your own tables, repeats the analysis in it, and says
    how far its intervals can be trusted at your sample size.
    """
    from whygap._rehearse import rehearse

    found = asked.read(speaker.quiet, seed=seed, n_jobs=jobs)
    rehearsal = rehearse(found.study, replicates=replicates, settings=found.settings)
    speaker.result(str(rehearsal), rehearsal.to_mapping())
