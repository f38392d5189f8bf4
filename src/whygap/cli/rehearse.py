"""`whygap rehearse`: how often intervals hold on simulated data like these."""

from __future__ import annotations

from typing import Annotated

from whygap.cli.options import Jobs, Seed, StudyOptions, names_in, option
from whygap.cli.output import Speaker

Replicates = Annotated[int, option("--replicates -r", "R", "How often to repeat the analysis.")]
Detail = Annotated[
    str | None, option("--detail", "NAMES", "points, shares, joined by commas; all, or none.")
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
    """Repeat the analysis on simulated data like yours.

    Simulates tables with known truth from your own, repeats the analysis on them, and counts how
    often intervals of the gap, its parts, points, and values of single variables hold.
    """
    from whygap._rehearse import rehearse

    names = [name for name in names_in(detail or "all") or () if name != "none"]
    study_file = asked.read(speaker.quiet, seed=seed, n_jobs=jobs)
    detail_names = "all" if names == ["all"] else names
    rehearsal = rehearse(study_file.study, replicates, detail_names, study_file.settings)
    speaker.result(rehearsal.summary(), rehearsal.to_dict())
