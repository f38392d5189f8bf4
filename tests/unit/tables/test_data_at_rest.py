"""Database files, partitioned folders, streams, plans, samples."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from small_study import make_study, make_table, tables

from whygap.errors import InputError, TableError
from whygap.study_file import read_study_file
from whygap.tables import TablePart, files, frames, queries
from whygap.tables.open import open_table


@pytest.fixture(scope="module")
def pair():
    return tables()


@pytest.fixture(scope="module")
def expected(pair):
    return make_study(*pair).design


def same(design, expected):
    for domain in ("source", "target"):
        np.testing.assert_allclose(design.features[domain], expected.features[domain])
        np.testing.assert_array_equal(design.outcome[domain], expected.outcome[domain])


@pytest.fixture
def database(pair, tmp_path):
    file = tmp_path / "visits.duckdb"
    with duckdb.connect(file) as connection:
        for name, table in zip(("home", "away"), pair, strict=True):
            connection.register("frame", table)
            connection.table("frame").create(name)
    return file


def test_a_database_in_a_study_file(database, expected):
    study = database.parent / "study.toml"
    study.write_text(
        'source = { database = "visits.duckdb", query = "SELECT * FROM home" }\n'
        'target = { database = "visits.duckdb", query = "FROM away" }\n'
        'outcome = "y"\nbaseline = ["w"]\nprediction = "risk"\nsample = 5000\n',
        encoding="utf-8",
    )
    found = read_study_file(study).study
    assert found.sample == 5000
    same(found.design, expected)


def test_a_database_that_is_not_there(tmp_path):
    (tmp_path / "visits.duckdb").write_bytes(b"")
    with pytest.raises(TableError) as raised:
        queries.run_query("FROM home", "source", database=tmp_path / "visit.duckdb")
    assert str(raised.value) == (
        f"The database '{tmp_path}/visit.duckdb' of the source table does not exist. "
        "Did you mean 'visits.duckdb'?"
    )


def test_a_query_that_fails_says_so(database):
    with pytest.raises(TableError, match="The query of the source table failed"):
        queries.run_query("SELECT * FROM nowhere", "source", database=database)


def test_folders_that_name_values_are_columns(tmp_path):
    table = make_table(600, 0.0, 1).assign(year=np.repeat([2024, 2025], 300))
    table["site"] = np.where(np.arange(600) % 2, "a/b", None)
    folders = ds.partitioning(
        pa.schema([("year", pa.int32()), ("site", pa.string())]), flavor="hive"
    )
    ds.write_dataset(pa.Table.from_pandas(table), tmp_path, format="parquet", partitioning=folders)
    opened = open_table(tmp_path, "source")
    assert set(opened.names) == set(table.columns)
    found = opened.read(["site", "w", "year"]).native.to_pandas()
    wanted = table[["site", "w", "year"]].sort_values("w", ignore_index=True)
    pd.testing.assert_frame_equal(
        found.sort_values("w", ignore_index=True), wanted, check_dtype=False
    )
    by_batch = pa.concat_tables(opened.stream(["year", "w"]))
    assert by_batch["year"].to_pylist() == opened.load(["year"])["year"].to_pylist()
    part = open_table(TablePart(tmp_path, where={"year": 2025}), "source")
    assert part.read(["w"]).rows == 300


def test_values_of_folders_are_words_where_one_is(tmp_path):
    for name in ("1", "b"):
        (tmp_path / f"site={name}").mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / f"site={name}" / "part.parquet")
    assert open_table(tmp_path, "source").load(["site"])["site"].to_pylist() == ["1", "b"]


def test_folders_with_a_leading_dot_or_underscore_are_skipped(tmp_path):
    for folder in ("", ".ipynb_checkpoints", "_temporary/0", "_site=A", "_delta_log"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [len(folder)]}), tmp_path / folder / "part.parquet")
    found = files._find_files(tmp_path, "source")
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        "_site=A/part.parquet",
        "part.parquet",
    ]


def streams(pair):
    for table in pair:
        whole_table = pa.Table.from_pandas(table)
        yield pa.RecordBatchReader.from_batches(whole_table.schema, whole_table.to_batches(100))


class Capsule:
    """Any library's table: all that is known of it is Arrow's stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_streams_are_read_once(pair, expected):
    same(make_study(*streams(pair)).design, expected)
    capsules = [Capsule(pa.Table.from_pandas(table)) for table in pair]
    same(make_study(*capsules).design, expected)


# ---- samples ----

MANY = 12_000
FORMS = ["pandas", "polars", "lazy", "arrow", "stream", "parquet", "folder", "query", "part"]


@pytest.fixture(scope="module")
def large():
    return make_table(MANY, 0.0, 5), make_table(MANY, 1.0, 6)


def in_form(form, table, folder):
    arrow = pa.Table.from_pandas(table)
    file = folder / f"{form}.parquet"
    match form:
        case "pandas":
            return table
        case "polars":
            return pl.from_pandas(table)
        case "lazy":
            pq.write_table(arrow, file)
            return pl.scan_parquet(file)
        case "arrow":
            return arrow
        case "stream":
            return pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(700))
        case "parquet":
            pq.write_table(arrow, file, row_group_size=500)
            return file
        case "folder":
            for part in range(3):
                (folder / "parts" / f"p={part}").mkdir(parents=True)
                rows = arrow.slice(part * 4000, 4000)
                pq.write_table(rows, folder / "parts" / f"p={part}" / "rows.parquet")
            return TablePart(folder / "parts", drop=["p"])
        case "query":
            pq.write_table(arrow, file)
            return f"FROM '{file}'"
        case _:
            twice = pa.concat_tables([arrow, arrow])
            side = pa.array(["here"] * MANY + ["there"] * MANY)
            return TablePart(twice.append_column("side", side), where={"side": "here"})


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_sampled(form, large, tmp_path, monkeypatch):
    """The rows that are drawn depend on their order alone, not on the batches."""
    expected = make_study(*large, sample=3000, metric="brier").design
    monkeypatch.setattr(frames, "BATCH_ROWS", 1000)
    study = make_study(in_form(form, large[0], tmp_path), large[1], sample=3000, metric="brier")
    design = study.design
    assert tuple(design.rows) == (3000, 3000)
    assert design.weights is None
    same(design, expected)
    assert [str(note) for note in design.notes if note.kind == "drawn"] == [
        f"Of 12,000 {domain} rows, 3,000 were drawn at random; only these are analysed."
        for domain in ("source", "target")
    ]


def test_a_sample_of_all_rows_changes_nothing(pair, expected):
    design = make_study(*pair, sample=1000).design
    same(design, expected)
    assert design.weights is None
    assert design.notes == expected.notes


def test_every_row_is_as_likely_to_be_drawn():
    table = pa.table({"row": np.arange(4000)})
    counts = np.zeros(4000)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        original = np.random.default_rng
        try:
            np.random.default_rng = lambda _, rng=rng: rng
            drawn, _ = frames._draw((table.slice(k, 170) for k in range(0, 4000, 170)), 400, "x")
        finally:
            np.random.default_rng = original
        rows = drawn["row"].to_numpy()
        assert len(rows) == 400
        assert (np.diff(rows) > 0).all()
        counts[rows] += 1
    # 200 draws of a tenth: 20 each, standard deviation 4.2; by thirds of the table within 4 of it
    thirds = counts[:3999].reshape(3, -1).mean(axis=1)
    assert np.abs(thirds - 20).max() < 4 * np.sqrt(18 / 1333)


@pytest.mark.parametrize(
    ("size", "must"),
    [
        *[(size, "greater than or equal to 1000") for size in (0, 999)],
        *[(size, "a whole number") for size in (1e6, True, "all")],
    ],
)
def test_sizes_that_no_sample_can_have(pair, size, must):
    with pytest.raises(InputError) as raised:
        make_study(*pair, sample=size)
    assert str(raised.value) == f"The argument 'sample' must be {must}. Got {size!r}."


def in_files(table, folder, *others):
    """A folder of one file per table."""
    for number, one in enumerate((table, *others)):
        one.to_parquet(folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("sample", [None, 1000])
def test_files_of_differing_types_are_refused_with_and_without_a_sample(large, tmp_path, sample):
    folder = in_files(large[0], tmp_path, large[0].assign(a="high"))
    with pytest.raises(TableError) as raised:
        _ = make_study(folder, large[1], sample=sample).design
    said = "The files of the source table have columns of different types. Got "
    assert str(raised.value).startswith(said)
