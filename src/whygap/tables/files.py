"""Paths -> pyarrow tables: .csv, .csv.gz, .parquet; one file, a folder, or a glob."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from whygap.errors import TableError, did_you_mean

__all__ = ["open_files"]

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz")
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>"]
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
BLOCK = 64 * 2**20

Load = Callable[[Sequence[str]], Any]


def open_files(path: str | Path, label: str) -> tuple[list[str], Load]:
    """Column names, and a function that reads some of the columns of every file."""
    paths = find_files(path, label)
    names = file_names(paths[0], label)
    for other in paths[1:]:
        difference = set(names) ^ set(file_names(other, label))
        if difference:
            raise TableError(
                f"The files of the {label} table have different columns",
                got=f"'{min(difference)}' in only one of {paths[0].name} and {other.name}",
            )
    return names, lambda columns: read_files(paths, columns, label)


def find_files(path: str | Path, label: str) -> list[Path]:
    """The files a path, folder or glob stands for, sorted by name."""
    where = Path(path).expanduser()
    if where.is_file():
        if suffix_of(where) is None:
            raise unknown_format(where, label)
        return [where]
    if where.is_dir():
        return in_folder(where, label)
    if any(sign in str(path) for sign in "*?["):
        matches = [Path(m) for m in sorted(glob.glob(str(where), recursive=True))]  # noqa: PTH207 - absolute patterns
        found = [m for m in matches if m.is_file() and suffix_of(m) is not None]
        if found:
            return found
        raise TableError(f"No .csv or .parquet file matches the {label} table '{path}'")
    siblings = [p.name for p in where.parent.iterdir()] if where.parent.is_dir() else []
    raise TableError(
        f"The {label} table '{path}' does not exist", hint=did_you_mean(where.name, siblings)
    )


def in_folder(folder: Path, label: str) -> list[Path]:
    """The data files of a folder, whatever its depth; names with a leading _ or . are skipped."""
    found = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file() and not p.name.startswith(("_", ".")) and suffix_of(p) is not None
    )
    kinds = {suffix_of(p) for p in found}
    if not found:
        raise TableError(f"The folder '{folder}' ({label}) holds no .csv or .parquet file")
    if len(kinds) > 1:
        raise TableError(
            f"The folder '{folder}' ({label}) holds both .csv and .parquet files",
            hint="Name the files with a glob, for example 'folder/*.parquet'.",
        )
    return found


def suffix_of(path: Path) -> str | None:
    """The format a name stands for: parquet, csv, or None."""
    name = path.name.lower()
    if name.endswith(PARQUET):
        return "parquet"
    return "csv" if name.endswith(CSV) else None


def unknown_format(path: Path, label: str) -> TableError:
    """A file of another format."""
    return TableError(
        f"The {label} table '{path}' is of an unknown format",
        got=f"'{path.suffix}'",
        hint="Use .csv, .csv.gz or .parquet, or read it yourself and pass the table.",
    )


def file_names(path: Path, label: str) -> list[str]:
    """Column names of one file; the row index that pandas stores is not a column."""
    try:
        if suffix_of(path) == "parquet":
            names = pa_parquet.read_schema(path).names
        else:
            with pa_csv.open_csv(path, parse_options=csv_parsing()) as reader:
                names = reader.schema.names
    except (pa.ArrowException, OSError, EOFError) as err:
        raise unreadable(path, label, err) from err
    return [name for name in names if not PANDAS_INDEX.fullmatch(name)]


def read_files(paths: Sequence[Path], columns: Sequence[str], label: str) -> Any:
    """The chosen columns of all files, one below the other."""
    tables = [read_file(path, columns, label) for path in paths]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as err:
        raise TableError(
            f"The files of the {label} table have columns of different types",
            got=str(err).splitlines()[0].rstrip("."),
        ) from err


def read_file(path: Path, columns: Sequence[str], label: str) -> Any:
    """The chosen columns of one file."""
    try:
        if suffix_of(path) == "parquet":
            with pa_parquet.ParquetFile(path) as file:
                return file.read(columns=list(columns), use_threads=False).select(list(columns))
        return read_csv(path, columns)
    except (pa.ArrowException, OSError, EOFError) as err:
        raise unreadable(path, label, err) from err


def read_csv(path: Path, columns: Sequence[str]) -> Any:
    """Types are guessed from the values; a column that does not keep its type becomes text."""
    types: dict[str, Any] = {}
    while True:
        try:
            return pa_csv.read_csv(
                path,
                read_options=pa_csv.ReadOptions(use_threads=False, block_size=BLOCK),
                parse_options=csv_parsing(),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=list(columns),
                    column_types=types,
                    null_values=MISSING,
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid as err:
            column = re.search(r"In CSV column #(\d+): CSV conversion error", str(err))
            known = file_names(path, "") if column else []
            name = known[int(column[1])] if column else ""
            if not column or name in types:
                raise
            types[name] = pa.string()


def csv_parsing() -> Any:
    """Quoted values may hold line ends."""
    return pa_csv.ParseOptions(newlines_in_values=True)


def unreadable(path: Path, label: str, err: Exception) -> TableError:
    """A file that exists and cannot be read: damaged, half-written, not what its name says."""
    lines = str(err).strip().splitlines() or [type(err).__name__]
    return TableError(
        f"The {label} table '{path}' cannot be read",
        got=lines[0].rstrip("."),
        hint="The file may be damaged, half-written, or of another format than its name says.",
    )
