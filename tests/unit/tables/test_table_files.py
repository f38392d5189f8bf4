"""Files as offices, hospitals and spreadsheets write them: read alike, and said how."""

from __future__ import annotations

import builtins
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from table_factory import ROLES, source_and_target

from whygap.errors import TableError
from whygap.study import Study

HINT_FILE = "The file may be damaged, half-written, or of another format than its name says."
WAYS: dict[str, dict[str, Any]] = {
    "plain.csv": {},
    "semicolons.csv": {"sep": ";"},
    "commas.csv": {"sep": ";", "decimal": ","},
    "tabs.csv": {"sep": "\t"},
    "tabs.tsv": {"sep": "\t"},
    "zipped.tsv.gz": {"sep": "\t", "decimal": ","},
    "bars.csv": {"sep": "|"},
    "latin.csv": {"encoding": "latin-1"},
    "office.csv": {"sep": ";", "decimal": ",", "encoding": "cp1252"},
    "unicode.csv": {"sep": "\t", "encoding": "utf-16"},
    "marked.csv": {"encoding": "utf-8-sig"},
}
SAID = {
    "semicolons.csv": "semicolons between fields and 3,5 taken for 3.5",
    "commas.csv": "semicolons between fields and 3,5 taken for 3.5",
    "tabs.csv": "tabs between fields and 3,5 taken for 3.5",
    "tabs.tsv": "tabs between fields and 3,5 taken for 3.5",
    "zipped.tsv.gz": "tabs between fields and 3,5 taken for 3.5",
    "bars.csv": "bars between fields and 3,5 taken for 3.5",
    "latin.csv": "letters taken for Windows-1252",
    "office.csv": (
        "semicolons between fields and 3,5 taken for 3.5, letters taken for Windows-1252"
    ),
    "unicode.csv": "tabs between fields and 3,5 taken for 3.5, letters taken for UTF-16",
}


def plain_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    source, target = source_and_target()
    return source, target


def study_of(source: Any, target: Any) -> Study:
    return Study(source, target, **ROLES)


@pytest.mark.parametrize("name", WAYS)
def test_every_way_of_writing_gives_the_same_arrays(name: str, tmp_path: Path) -> None:
    source, target = plain_tables()
    source.to_csv(tmp_path / name, index=False, **WAYS[name])
    found = study_of(tmp_path / name, target).design
    expected = study_of(source, target).design
    for one, other in zip(found.features, expected.features, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.columns == expected.columns
    said = [str(note) for note in found.notes if note not in expected.notes]
    words = f"Of the source table, '{name}' was read with {SAID[name]}." if name in SAID else None
    assert said == ([words] if words else [])


def test_files_read_in_the_same_way_are_named_together(tmp_path: Path) -> None:
    source, target = plain_tables()
    for number, ways in enumerate((*[{"sep": ";", "decimal": ","}] * 3, {})):
        source.iloc[number::4].to_csv(tmp_path / f"{number}.csv", index=False, **ways)
    opened = study_of(tmp_path, target).tables.source
    (note,) = opened.notes
    assert str(note) == (
        "Of the source table, '0.csv', '1.csv' and 1 more were read with semicolons between "
        "fields and 3,5 taken for 3.5."
    )
    assert opened.read(["age", "visits"]).rows == len(source)


def test_text_with_commas_in_a_file_of_semicolons_stays_text(tmp_path: Path) -> None:
    source, target = plain_tables()
    for table, name in ((source, "source.csv"), (target, "target.csv")):
        names = np.resize(["Doe, Jane", "Roe, Max", "12,5"], len(table))
        table.assign(who=names).to_csv(tmp_path / name, index=False, sep=";")
    design = study_of(tmp_path / "source.csv", tmp_path / "target.csv").design
    (column,) = [column for column in design.columns if column.name == "who"]
    assert column.levels == ("12,5", "Doe, Jane", "Roe, Max")


def test_thousands_are_read_with_the_decimals_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1.234,5;x\n-7,25;y\n12;z\n;w\n3,5e2;v\n")
    from whygap.tables.open import open_table

    values = open_table(path, "source").read(["a"]).arrow("a").to_pylist()
    assert values == [1234.5, -7.25, 12.0, None, 350.0]


@pytest.mark.parametrize("word", ["-", "+", "e5"])
def test_a_word_for_missing_beside_decimal_commas_makes_text(word: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"a;b\n12,5;x\n{word};y\n,5;z\n")
    from whygap.tables.open import open_table

    assert open_table(path, "source").read(["a"]).arrow("a").to_pylist() == ["12,5", word, ",5"]


@pytest.mark.parametrize("name", ["Unnamed: 0", ""])
def test_a_saved_row_index_is_left_out_and_said_so(name: str, tmp_path: Path) -> None:
    source, target = plain_tables()
    saved: Any = tmp_path / "source.csv"
    source.to_csv(saved)
    if name:
        saved = pd.read_csv(saved, parse_dates=["day"])
    design = Study(saved, target, **{**ROLES, "clusters": None}).design
    note = f"Column '{name}' of source is left out: it looks like a saved row index."
    assert [n.level for n in design.notes if str(n) == note] == ["info"]
    assert name not in [column.name for column in design.columns]


def test_a_row_index_that_is_named_has_its_role(tmp_path: Path) -> None:
    tables = [table.reset_index(names="Unnamed: 0") for table in plain_tables()]
    study = Study(*tables, **{**ROLES, "clusters": "Unnamed: 0"})
    assert study.roles.clusters == "Unnamed: 0"
    assert study.roles.notes == ()


BROKEN = {
    "few": (b"a,b,c\n1,2,3\n\nJane Roe,5\n", "2 fields in line 4, where the first has 3"),
    "many": (b'a;b\n"x\ny";2\n1;2\nJane Roe;5;6\n', "3 fields in line 5, where the first has 2"),
    "latin": (b"a,b\nRen\xe9e,2\nJane Roe\n", "1 field in line 3, where the first has 2"),
    "empty": (b"", "Empty CSV file"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_line_is_named_and_not_quoted(kind: str, tmp_path: Path) -> None:
    content, got = BROKEN[kind]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        _ = Study(path, plain_tables()[1], outcome="a", prediction="b", covariates=[]).design
    if kind == "empty":
        expected = f"The source table '{path}' cannot be read. Got {got}. {HINT_FILE}"
        assert str(caught.value) == expected
        return
    from whygap.tables.open import open_table

    with pytest.raises(TableError) as caught:
        open_table(path, "source").read(["a", "b"])
    assert str(caught.value) == f"The source table '{path}' cannot be read. Got {got}. {HINT_FILE}"


@pytest.mark.parametrize("rows", [3, 20_000])
def test_a_quote_that_never_closes_does_not_swallow_the_rest(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n1,2\n"Jane Roe,3\n' + "4,5678901\n" * rows)
    with pytest.raises(TableError) as caught:
        Study(path, path, outcome="a", prediction="b")
    assert str(caught.value) == (
        f"The source table '{path}' cannot be read. Got a quote in line 3 that is never closed. "
        "Close it, or double a quote that belongs to the text."
    )


def test_an_inch_sign_is_no_open_quote(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n6 ft 1",2\n5 ft,3\n')
    from whygap.tables.open import open_table

    assert open_table(path, "source").read(["a"]).arrow("a").to_pylist() == ['6 ft 1"', "5 ft"]


DISGUISED = {
    b"PK\x03\x04....": "an Excel or zip file",
    b"PAR1....": "a Parquet file",
    gzip.compress(b"a,b\n1,2\n", mtime=0): "a gzip file",
    b"<!DOCTYPE html>": "a web page",
}


@pytest.mark.parametrize("content", DISGUISED, ids=DISGUISED.values())
def test_a_file_of_another_kind_is_called_what_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        Study(path, path, outcome="a", prediction="b")
    assert str(caught.value) == (
        f"The source table '{path}' is not delimited text. Got {DISGUISED[content]}. "
        "Give it the ending of what it is, or save it again."
    )


@pytest.mark.parametrize(
    ("address", "shown", "kind"),
    [
        ("s3://bucket/visits.parquet", "s3://bucket/visits.parquet", "parquet"),
        (
            "https://me:secret@host/visits.csv?signature=secret",
            "https://host/visits.csv",
            "csv",
        ),
        (Path("https://host/visits.csv"), "https://host/visits.csv", "csv"),
    ],
)
def test_nothing_is_fetched_and_the_lines_to_write_are_shown(
    address: Any, shown: str, kind: str
) -> None:
    with pytest.raises(TableError) as caught:
        Study(plain_tables()[0], address, outcome="y", prediction="risk")
    assert str(caught.value) == (
        f"The target table is not on this machine. Got {shown}. Download it first, or read it "
        "yourself and pass the table:\n"
        f'    target = pandas.read_{kind}("{shown}")\n'
        "    study = whygap.Study(target=target, ...)"
    )


def test_a_workbook_without_its_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "openpyxl":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(TableError) as caught:
        Study(path, path, outcome="y", prediction="risk")
    assert str(caught.value) == (
        f"The source table '{path}' is an Excel file, which needs openpyxl. "
        "Install it: pip install 'whygap[excel]'; or save the sheet as .csv."
    )


def write_workbook(path: Path, table: pd.DataFrame, *more: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "visits"
    sheet.append(list(table.columns))
    for row in table.astype(object).where(table.notna(), None).itertuples(index=False):
        sheet.append([value.to_pydatetime() if hasattr(value, "hour") else value for value in row])
    for title in more:
        book.create_sheet(title).append(["remark"])
    book.save(path)


def test_a_workbook_gives_the_same_arrays(tmp_path: Path) -> None:
    source, target = plain_tables()
    path = tmp_path / "visits.xlsx"
    write_workbook(path, source, "remarks")
    found, expected = study_of(path, target).design, study_of(source, target).design
    for one, other in zip(found.features, expected.features, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "Of the source table, 'visits.xlsx' was read with the sheet 'visits' alone." in [
        str(note) for note in found.notes
    ]


def test_a_damaged_workbook(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "visits.xlsx"
    path.write_bytes(b"PK\x03\x04 half")
    with pytest.raises(TableError) as caught:
        Study(path, path, outcome="y", prediction="risk")
    assert str(caught.value) == (
        f"The source table '{path}' cannot be read. Got File is not a zip file. {HINT_FILE}"
    )


def test_the_study_shows_shapes_and_no_rows(tmp_path: Path) -> None:
    source, target = plain_tables()
    target.to_csv(tmp_path / "target.csv", index=False)
    assert repr(study_of(source, tmp_path / "target.csv")) == (
        "Study(source=<240 rows, 10 columns>, target=<10 columns>, outcome='y', "
        "baseline=['age', 'sex'], 4 covariates, metric='accuracy')"
    )
