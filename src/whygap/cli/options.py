"""Options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say more; show tracebacks on failure.")
]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="A study file.")]
ResultFile = Annotated[Path, typer.Argument(metavar="GAP.json", help="A result of explain.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result here.")
]
Level = Annotated[
    float | None,
    typer.Option("--level", metavar="LEVEL", help="Confidence level, such as 0.9."),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Seed of all random numbers.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", metavar="N", help="Parallel workers.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; may be repeated."),
]
UnsafePickle = Annotated[
    bool,
    typer.Option("--unsafe-pickle", help="Allow a pickled model, which can run any code."),
]
