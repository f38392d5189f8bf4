"""`whygap simulate`: tables from a world whose truth is known."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

from typer import Argument

from whygap.cli.options import option
from whygap.cli.output import Speaker, make_folder

MOST_ROWS = 10_000_000  # a table of them takes half a gigabyte
WORLDS = ("gaussian",)
World = Annotated[str, Argument(metavar="WORLD", help="gaussian: the paper's coverage world.")]
Rows = Annotated[int, option("--rows", "N", "Rows per table.")]
Seed = Annotated[int, option("--seed", "N", "Seed of all random numbers.")]
Into = Annotated[Path, option("--into", "DIR", "Folder for the files.")]

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
    world: World, into: Into, rows: Rows = 2000, seed: Seed = 0, *, speaker: Speaker
) -> None:
    """Draw two tables from a world whose truth is known.

    Writes source.parquet, target.parquet and study.toml into DIR.
    """
    import pyarrow.parquet

    from whygap.results import files
    from whygap.simulate import gaussian

    _check(world, rows, seed)
    folder = make_folder(into)
    for name, table in zip(("source", "target"), gaussian.tables(rows, seed), strict=True):
        content = io.BytesIO()
        pyarrow.parquet.write_table(table, content)
        files.write_bytes(folder / f"{name}.parquet", content.getvalue())
    files.write_whole(folder / "study.toml", STUDY.format(world=world, rows=rows, seed=seed))
    words = f"Wrote source.parquet, target.parquet and study.toml into {folder}"
    speaker.result(words, {"study": folder / "study.toml"})


def _check(world: str, rows: int, seed: int) -> None:
    from whygap.errors import SettingsError, require_known

    require_known(world, WORLDS, f"There is no world '{world}'", "Worlds", SettingsError)
    if not 1 <= rows <= MOST_ROWS:
        raise SettingsError(f"The number of rows must lie between 1 and {MOST_ROWS:,}", got=rows)
    if seed < 0:
        raise SettingsError("The seed must be at least 0", got=seed)
