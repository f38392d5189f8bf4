"""What is not in memory -> pyarrow tables: files, folders, globs, and duckdb (its extra)."""

from __future__ import annotations

import contextlib
import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from whygap.errors import TableError, did_you_mean_file, first_line

__all__ = ["find_files", "is_query", "read_files", "read_relation", "run_query", "shared_names"]

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz")
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>"]
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
QUERY = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)
PARSING = pa_csv.ParseOptions(newlines_in_values=True)
# Types are guessed from the first block; most files fit whole into 64 MB.
READING = pa_csv.ReadOptions(use_threads=False, block_size=64 * 2**20)


def shared_names(paths: Sequence[Path], label: str) -> Sequence[str]:
    """The column names of files that must have the same ones."""
    names = file_names(paths[0], label)
    for other in paths[1:]:
        difference = set(names) ^ set(file_names(other, label))
        if difference:
            raise TableError(
                f"The files of the {label} table have different columns",
                got=f"'{min(difference)}' in only one of {paths[0].name} and {other.name}",
            )
    return names


def find_files(path: str | Path, label: str) -> list[Path]:
    """The files a path, folder or glob stands for, sorted by name."""
    where = Path(path).expanduser()
    if where.is_file():
        if suffix_of(where) is None:
            raise TableError(
                f"The {label} table '{path}' is of an unknown format",
                got=f"'{where.suffix}'",
                hint="Use .csv, .csv.gz or .parquet, or read it yourself and pass the table.",
            )
        return [where]
    if where.is_dir():
        return in_folder(where, label)
    if any(sign in str(path) for sign in "*?["):
        matches = [Path(m) for m in sorted(glob.glob(str(where), recursive=True))]  # noqa: PTH207 - absolute patterns
        found = [m for m in matches if m.is_file() and suffix_of(m) is not None]
        if found:
            return found
        raise TableError(f"No .csv or .parquet file matches the {label} table '{path}'")
    raise TableError(f"The {label} table '{path}' does not exist", hint=did_you_mean_file(where))


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
    name = path.name.lower()
    if name.endswith(PARQUET):
        return "parquet"
    return "csv" if name.endswith(CSV) else None


def file_names(path: Path, label: str) -> list[str]:
    """Column names of one file; the row index that pandas stores is not a column."""
    with refusing(path, label):
        if suffix_of(path) == "parquet":
            names = pa_parquet.read_schema(path).names
        else:
            with pa_csv.open_csv(path, parse_options=PARSING) as reader:
                names = reader.schema.names
    return [name for name in names if not PANDAS_INDEX.fullmatch(name)]


def read_files(paths: Sequence[Path], columns: Sequence[str], label: str) -> Any:
    """The chosen columns of all files, one below the other."""
    tables = [read_file(path, columns, label) for path in paths]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as err:
        raise TableError(
            f"The files of the {label} table have columns of different types", got=first_line(err)
        ) from err


def read_file(path: Path, columns: Sequence[str], label: str) -> Any:
    with refusing(path, label):
        if suffix_of(path) == "parquet":
            with pa_parquet.ParquetFile(path) as file:
                return file.read(columns=list(columns), use_threads=False).select(list(columns))
        return read_csv(path, columns)


def read_csv(path: Path, columns: Sequence[str]) -> Any:
    """Types are guessed from the values; a column that does not keep its type becomes text."""
    types: dict[str, Any] = {}
    while True:
        try:
            convert = pa_csv.ConvertOptions(
                column_types=types, null_values=MISSING, strings_can_be_null=True
            )
            convert.include_columns = list(columns)
            return pa_csv.read_csv(path, READING, PARSING, convert)
        except pa.ArrowInvalid as err:
            column = re.search(r"In CSV column #(\d+): CSV conversion error", str(err))
            name = file_names(path, "")[int(column[1])] if column else ""
            if not column or name in types:
                raise
            types[name] = pa.string()


@contextlib.contextmanager
def refusing(path: Path, label: str) -> Iterator[None]:
    """Refuse a file that exists and cannot be read: damaged, or not what its name says."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as err:
        raise TableError(
            f"The {label} table '{path}' cannot be read",
            got=first_line(err),
            hint="The file may be damaged, half-written, or of another format than its name says.",
        ) from err


def is_query(text: str) -> bool:
    """Whether a text is a query rather than a path."""
    return QUERY.match(text) is not None


def run_query(query: str, label: str, folder: Path | None = None) -> Any:
    """A relation of a query; file names in it are looked up in `folder`."""
    try:
        import duckdb
    except ImportError as err:
        raise TableError(
            f"The {label} table is a query, which needs duckdb",
            hint="Install it: pip install 'whygap[duckdb]'.",
        ) from err
    connection = duckdb.connect()
    try:
        if folder is not None:
            connection.execute("SET file_search_path = ?", [str(folder)])
        return connection.sql(query)
    except duckdb.Error as err:
        raise TableError(f"The query of the {label} table failed", got=first_line(err)) from err


def read_relation(relation: Any, columns: Sequence[str], label: str) -> Any:
    """The chosen columns as a pyarrow table."""
    import duckdb

    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    try:
        return relation.project(quoted).to_arrow_table()
    except duckdb.Error as err:
        raise TableError(f"The {label} table cannot be read", got=first_line(err)) from err
