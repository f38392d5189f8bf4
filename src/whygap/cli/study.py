"""`whygap study`: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Jobs, Json, Quiet, Verbose
from whygap.cli.output import Speaker, make_folder

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="casestudy, comparators, coverage, revisions, scaling, semisynthetic, shares or "
        "untuned.",
    ),
]
Case = Annotated[
    str | None, typer.Argument(metavar="CASE", help="For casestudy: insurance or readmission.")
]
Data = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder with the case studies' data.")
]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for results.")]
QuickSize = Annotated[bool, typer.Option("--quick", help="A small size, for a first look.")]
EXAMPLES = (
    "whygap study coverage --quick",
    "whygap study casestudy insurance --data data -o results",
)


def command(
    name: Name,
    case: Case = None,
    data: Data = None,
    output: Folder = Path("studies"),
    quick: QuickSize = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run one of the paper's experiments."""
    from whygap.cli.experiments import experiment, run_experiment

    speaker = Speaker(as_json, quiet, verbose)
    experiment(name)
    make_folder(output)
    page = run_experiment(
        name,
        output=output,
        case=case,
        data=data,
        quick=quick or None,
        jobs=jobs,
        report=speaker.note,
    )
    speaker.result(page.read_text(encoding="utf-8").rstrip(), {"page": page})
    speaker.note(f"Wrote {page}")
