"""`whygap study`: the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Jobs, Json, Quiet, Seed, Verbose
from whygap.cli.output import Speaker

Name = Annotated[str, typer.Argument(metavar="NAME", help="coverage, comparators or casestudy.")]
Case = Annotated[
    str | None, typer.Argument(metavar="[CASE]", help="For casestudy: insurance or readmission.")
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
    seed: Seed = None,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run one of the paper's experiments."""
    from whygap.cli.experiments import run_experiment

    done = run_experiment(
        name,
        output=output,
        case=case,
        data=data,
        quick=quick or None,
        seed=seed,
        jobs=jobs,
        progress=False if quiet else None,
    )
    values = done.to_mapping() if hasattr(done, "to_mapping") else {"output": output}
    Speaker(as_json, quiet, verbose).result(str(done).rstrip(), values)
