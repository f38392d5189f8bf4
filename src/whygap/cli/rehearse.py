"""`whygap rehearse`: how far intervals can be trusted on data like these."""

from __future__ import annotations

from typing import Annotated

from whygap.cli.options import Jobs, Seed, StudyOptions, names_in, option
from whygap.cli.output import Speaker

Replicates = Annotated[int, option("--replicates -r", "R", "How often to repeat the analysis.")]
Detail = Annotated[
    str | None, option("--detail", "NAMES", "covariate, outcome, joined by commas; all, or none.")
]
EXAMPLES = (
    "whygap rehearse study.toml --replicates 50",
    "whygap rehearse study.toml --detail none --learner fast",
)


def command(
    asked: StudyOptions,
    replicates: Replicates = 50,
    detail: Detail = None,
    seed: Seed = None,
    jobs: Jobs = None,
    *,
    speaker: Speaker,
) -> None:
    """Repeat the analysis where the truth is known.

    Builds a world with known truth from your own tables, repeats the analysis in it, and says
    how far its intervals can be trusted at your sample size.
    """
    from whygap._explain import PARTS, parts_named
    from whygap._rehearse import rehearse

    named = names_in(detail)
    every = named is None or named == ["all"]
    parts = PARTS if every else parts_named([name for name in named or () if name != "none"])
    found = asked.read(speaker.quiet, seed=seed, n_jobs=jobs)
    rehearsal = rehearse(found.study, replicates, parts, found.settings)
    speaker.result(str(rehearsal), rehearsal.to_mapping())
