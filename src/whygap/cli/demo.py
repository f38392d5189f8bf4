"""`whygap demo`: the main job on the shipped data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from whygap.cli.options import Jobs, Learner, Level, Seed, Set, option, settings_with
from whygap.cli.output import Speaker, make_folder

DemoFolder = Annotated[Path, option("--output -o", "DIR", "Folder for the files.")]
EXAMPLES = ("whygap demo -o demo",)


def command(
    output: DemoFolder = Path("demo"),
    level: Level = None,
    seed: Seed = None,
    jobs: Jobs = None,
    learner: Learner = None,
    settings: Set = None,
    *,
    speaker: Speaker,
) -> None:
    """Explain a published model's gap on the shipped data.

    Prints who is hit, through what, and what can be won back. Writes gap.json, gap.html and
    gap.txt (the whole summary) into DIR and ends with the path of the report.
    """
    from whygap._explain import explain
    from whygap.datasets import load_employment
    from whygap.render import text
    from whygap.results import files
    from whygap.settings import Settings

    usual, workers = Settings(support="common", learner="fast"), min(4, os.cpu_count() or 1)
    asked = {"level": level, "seed": seed, "n_jobs": jobs or workers, "learner": learner}
    chosen = settings_with(usual, settings, speaker.quiet, **asked)
    folder = make_folder(output)
    speaker.note("A published model predicts who is at work. Why is it worse for non-citizens?")
    speaker.note(
        "The groups overlap poorly: rows that only one could have produced are parts of their own, "
        "source-only and target-only rows."
    )
    gap = explain(load_employment().study(), settings=chosen)
    gap.save(folder / "gap.json")
    gap.report(folder / "gap.html", chosen.level)
    files.write_whole(folder / "gap.txt", f"{gap.summary(chosen.level)}\n")
    report = (folder / "gap.html").resolve()
    answer = text.first_screen(gap, gap.findings(chosen.level))
    values = files.to_dict(gap) | {"report": str(report)}
    speaker.result(f"{answer}\n\nThe report: {report}", values)
