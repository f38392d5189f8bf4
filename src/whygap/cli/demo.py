"""`whygap demo`: the main job on the shipped data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Jobs, Json, Level, Quiet, Seed, Set, Verbose
from whygap.cli.output import Speaker, make_folder

DemoFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the files.")
]
EXAMPLES = ("whygap demo -o demo",)


def command(
    output: DemoFolder = Path("demo"),
    level: Level = None,
    seed: Seed = None,
    jobs: Jobs = None,
    settings: Set = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Explain a published model's gap on the shipped data.

    Writes gap.json, gap.html and gap.txt into DIR and ends with the path of the report.
    """
    from whygap import storage
    from whygap._explain import explain
    from whygap.cli.inputs import settings_with
    from whygap.datasets import load_employment
    from whygap.settings import Settings

    speaker = Speaker(as_json, quiet, verbose)
    chosen = settings_with(
        Settings(support="common"),
        settings,
        level=level,
        seed=seed,
        n_jobs=jobs or min(4, os.cpu_count() or 1),
        progress=False if quiet else None,
    )
    folder = make_folder(output)
    speaker.note("A published model predicts who is at work. Why is it worse for non-citizens?")
    speaker.note("The groups overlap poorly: rows that only one could have produced are left out.")
    gap = explain(load_employment().study(), detail=("covariate", "outcome"), settings=chosen)
    gap.save(folder / "gap.json")
    gap.report(folder / "gap.html", chosen.level)
    words = gap.summary(chosen.level)
    storage.write_whole(folder / "gap.txt", words.rstrip("\n") + "\n")
    report = (folder / "gap.html").resolve()
    values = storage.to_mapping(gap) | {"report": str(report)}
    speaker.result(f"{words.rstrip()}\n\nThe report: {report}", values)
