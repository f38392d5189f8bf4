"""One study in every kind of table: the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from table_factory import ROLES, source_and_target, with_grade

import whygap as wg
from whygap.study import Study
from whygap.tables import TablePart
from whygap.tables.design import Design

Maker = Callable[[pd.DataFrame, Path], Any]


def to_csv(table: pd.DataFrame, folder: Path) -> Path:
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    return path


def to_csv_gz(table: pd.DataFrame, folder: Path) -> str:
    path = folder / "table.csv.gz"
    table.to_csv(path, index=False)
    return str(path)


def to_parquet(table: pd.DataFrame, folder: Path) -> Path:
    path = folder / "table.parquet"
    table.to_parquet(path, index=False)
    return path


def to_folder(table: pd.DataFrame, folder: Path) -> Path:
    half = len(table) // 2
    pa_parquet.write_table(pa.Table.from_pandas(table[:half]), folder / "part-0.parquet")
    pa_parquet.write_table(pa.Table.from_pandas(table[half:]), folder / "part-1.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


def to_glob(table: pd.DataFrame, folder: Path) -> str:
    return str(to_folder(table, folder) / "part-*.parquet")


def to_relation(table: pd.DataFrame, folder: Path) -> Any:
    return duckdb.read_parquet(str(to_parquet(table, folder)))


def to_query(table: pd.DataFrame, folder: Path) -> str:
    return f"SELECT * FROM '{to_parquet(table, folder)}'"  # noqa: S608 - a query of our own


def to_part(table: pd.DataFrame, folder: Path) -> TablePart:
    other = table.assign(site="elsewhere", extra=1)
    both = pd.concat([table.assign(site="here", extra=0), other])
    return TablePart(to_parquet(both, folder), where={"site": "here"}, drop=["extra"])


MAKERS: dict[str, tuple[Maker, str]] = {
    "pandas": (lambda table, _: table, "pandas"),
    "pandas with arrow types": (
        lambda table, _: table.convert_dtypes(dtype_backend="pyarrow"),
        "pandas",
    ),
    "polars": (lambda table, _: pl.from_pandas(table), "polars"),
    "lazy polars": (lambda table, _: pl.from_pandas(table).lazy(), "polars"),
    "pyarrow": (lambda table, _: pa.Table.from_pandas(table), "pyarrow"),
    "narwhals": (lambda table, _: nw.from_native(table), "pandas"),
    "csv": (to_csv, "pyarrow"),
    "csv.gz": (to_csv_gz, "pyarrow"),
    "parquet": (to_parquet, "pyarrow"),
    "parquet folder": (to_folder, "pyarrow"),
    "parquet glob": (to_glob, "pyarrow"),
    "duckdb relation": (to_relation, "pyarrow"),
    "duckdb query": (to_query, "pyarrow"),
    "part of a parquet file": (to_part, "pyarrow"),
}


def study_of(make: Maker, folder: Path) -> Study:
    tables = []
    for name, table in zip(("source", "target"), source_and_target(), strict=True):
        (folder / name).mkdir()
        tables.append(make(table, folder / name))
    return Study(source=tables[0], target=tables[1], metric="brier", **ROLES)


def assert_same_design(first: Design, second: Design) -> None:
    assert first.columns == second.columns
    assert first.baseline == second.baseline
    assert first.players == second.players
    assert first.notes == second.notes
    for name in ("features", "outcome", "prediction", "intercept", "slope", "weights", "clusters"):
        one, two = getattr(first, name), getattr(second, name)
        np.testing.assert_array_equal(one.source, two.source, err_msg=name)
        np.testing.assert_array_equal(one.target, two.target, err_msg=name)


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_table_gives_the_same_design(kind: str, tmp_path: Path) -> None:
    make, handed_back = MAKERS[kind]
    study = study_of(make, tmp_path)
    reference = Study(
        **dict(zip(("source", "target"), source_and_target(), strict=True)), metric="brier", **ROLES
    )
    assert study.table_kind == handed_back
    assert_same_design(study.design, reference.design)


@pytest.fixture(scope="module")
def numbers() -> list[tuple[Any, ...]]:
    """Every number of the reference analysis."""
    tables = dict(zip(("source", "target"), source_and_target(), strict=True))
    return explained(Study(**tables, metric="brier", **ROLES))[1]


def explained(study: Study) -> tuple[Any, list[tuple[Any, ...]]]:
    """The result's own kind of table, and its rows as plain values."""
    settings = wg.Settings(learner="fast", folds=3, progress=False)
    native = wg.explain(study, detail=(), settings=settings).to_frame()
    return native, nw.from_native(native, eager_only=True).rows()


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_table_gives_the_same_numbers(
    kind: str, tmp_path: Path, numbers: list[tuple[Any, ...]]
) -> None:
    make, handed_back = MAKERS[kind]
    native, found = explained(study_of(make, tmp_path))
    assert type(native).__module__.split(".")[0] == handed_back
    assert found == numbers


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "parquet", "parquet folder"])
def test_ordered_categories_keep_their_order(kind: str, tmp_path: Path) -> None:
    tables = []
    for name, table in zip(("source", "target"), source_and_target(), strict=True):
        (tmp_path / name).mkdir()
        tables.append(MAKERS[kind][0](with_grade(table), tmp_path / name))
    design = Study(source=tables[0], target=tables[1], **ROLES).design
    grade = next(c for c in design.columns if c.name == "grade")
    assert (grade.kind, grade.levels) == ("ordinal", ("low", "mid", "high"))
    values = design.features.source[:6, design.columns.index(grade)]
    np.testing.assert_array_equal(values, [0, 1, 2, 0, 1, 2])


def test_polars_enum_is_ordered() -> None:
    levels = pl.Enum(["low", "mid", "high"])
    source, target = (
        pl.from_pandas(table).with_columns(
            pl.Series("grade", (["low", "mid", "high"] * 100)[: len(table)], dtype=levels)
        )
        for table in source_and_target()
    )
    design = Study(source=source, target=target, **ROLES).design
    grade = next(c for c in design.columns if c.name == "grade")
    assert (grade.kind, grade.levels) == ("ordinal", ("low", "mid", "high"))


def test_only_needed_columns_are_read(tmp_path: Path) -> None:
    source, target = source_and_target()
    for name, table in (("source", source), ("target", target)):
        arrow = pa.Table.from_pandas(table).append_column("huge", pa.array([[1]] * len(table)))
        pa_parquet.write_table(arrow, tmp_path / f"{name}.parquet")
    study = Study(
        source=tmp_path / "source.parquet",
        target=tmp_path / "target.parquet",
        outcome="y",
        covariates=["visits"],
        prediction="risk",
    )
    frame = study.tables.source.read(study.roles.columns)
    assert frame.native.column_names == ["visits", "y", "risk"]
    assert [c.name for c in study.design.columns] == ["visits"]
