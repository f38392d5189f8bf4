"""`whygap simulate`: tables from a world whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Json, Quiet, Verbose
from whygap.cli.output import Speaker, make_folder

WORLDS = ("gaussian",)
World = Annotated[
    str, typer.Argument(metavar="WORLD", help="gaussian: the paper's coverage world.")
]
Rows = Annotated[int, typer.Option("--rows", metavar="N", help="Rows per table.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of all random numbers.")]
Into = Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder for the files.")]

STUDY = """\
# {rows} rows per table from the {world} world, seed {seed}.
source = "source.parquet"
target = "target.parquet"
outcome = "y"
baseline = ["W"]
covariates = ["Z1", "Z2", "Z3"]
prediction = "prediction"
metric = "accuracy"
"""
EXAMPLES = ("whygap simulate gaussian --rows 2000 --seed 0 --into world",)


def command(
    world: World,
    into: Into,
    rows: Rows = 2000,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw two tables from a world whose truth is known.

    Writes source.parquet, target.parquet and study.toml into DIR.
    """
    from whygap import storage
    from whygap.cli.frames import write_parquet
    from whygap.simulate import gaussian

    _check(world, rows, seed)
    folder = make_folder(into)
    tables = dict(zip(("source", "target"), gaussian.tables(rows, seed), strict=True))
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
    storage.write_whole(folder / "study.toml", STUDY.format(world=world, rows=rows, seed=seed))
    words = f"Wrote source.parquet, target.parquet and study.toml into {folder}"
    Speaker(as_json, quiet, verbose).result(words, {"study": folder / "study.toml"})


def _check(world: str, rows: int, seed: int) -> None:
    from whygap.errors import SettingsError, did_you_mean

    if world not in WORLDS:
        hint = did_you_mean(world, WORLDS) or f"Worlds are: {', '.join(WORLDS)}."
        raise SettingsError(f"There is no world '{world}'", hint=hint)
    if rows < 1:
        raise SettingsError("The number of rows must be at least 1", got=rows)
    if seed < 0:
        raise SettingsError("The seed must be at least 0", got=seed)
