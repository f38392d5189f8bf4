"""What is not in memory -> pyarrow tables: files, folders, globs."""

from __future__ import annotations

import contextlib
import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from whygap.errors import TableError, did_you_mean_file, first_line
from whygap.notes import Note
from whygap.tables import batches
from whygap.tables.delimited import Dialect, dialect_of, obstacle, read_names, read_text, words_of
from whygap.tables.excel import Sheet, read_sheet, sheet_of

__all__ = ["DataFiles", "open_files", "refuse_remote"]

Kind = Literal["parquet", "csv", "excel"]
ENDINGS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
READABLE = ".csv, .tsv (or .gz of these), .xlsx or .parquet"
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")  # a folder's value that is a whole number
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # how a folder says that the value is missing
REMOTE = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?=[^/])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file whose columns are known and whose rows are not read yet."""

    path: Path
    names: tuple[str, ...]
    form: Dialect | Sheet | None = None  # of text, of a workbook; None: Parquet
    folders: tuple[tuple[str, str | int | None], ...] = ()  # values that its folders' names give

    def words(self) -> str:
        """How it was read, where that was not plain from its name."""
        if isinstance(self.form, Dialect):
            return words_of(self.form)
        several = isinstance(self.form, Sheet) and self.form.others
        return f"the sheet '{self.form.title}' alone" if several else ""  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class DataFiles:
    """One table in one or more files of the same columns."""

    files: tuple[DataFile, ...]
    label: str

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in the first file's order."""
        return self.files[0].names

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """The chosen columns, some rows at a time; of text and workbooks, a file at a time."""
        for file in self.files:
            if file.form is None:
                inside = [name for name in columns if name not in dict(file.folders)]
                with refusing(file.path, self.label):
                    for batch in batches.parquet_batches(file.path, inside):
                        yield with_folders(batch, file, columns)
            else:
                yield from batches.slices(read_file(file, columns, self.label))

    def load(self, columns: Sequence[str]) -> Any:
        """The chosen columns of all files, one below the other."""
        tables = [read_file(file, columns, self.label) for file in self.files]
        return batches.one_below_the_other(tables, self.label)

    def notes(self) -> tuple[Note, ...]:
        """How files were read whose names do not say it; one note for each way."""
        ways: dict[str, list[str]] = {}
        for file in self.files:
            ways.setdefault(file.words(), []).append(file.path.name)
        return tuple(
            Note("read_as", "info", {"table": self.label, "files": tuple(names), "how": words})
            for words, names in ways.items()
            if words
        )


def open_files(path: str | Path, label: str) -> DataFiles:
    """What a path, folder or glob stands for; all files must have the same columns."""
    refuse_remote(str(path), label)
    root = Path(path).expanduser()
    files = tuple(open_file(one, label) for one in find_files(path, label))
    if root.is_dir():
        files = with_numbers(tuple(in_folders(file, root) for file in files))
    for other in files[1:]:
        difference = set(files[0].names) ^ set(other.names)
        if difference:
            raise TableError(
                f"The files of the {label} table have different columns",
                got=f"'{min(difference)}' in only one of {files[0].path.name} and "
                f"{other.path.name}",
            )
    return DataFiles(files, label)


def in_folders(file: DataFile, root: Path) -> DataFile:
    """With the columns that folders like `year=2026` stand for, as Hive and Spark write them."""
    parts = (part.partition("=") for part in file.path.relative_to(root).parts[:-1])
    found = {name: unquote(value) for name, sign, value in parts if sign and name}
    known = {name: None if value == NO_VALUE else value for name, value in found.items()}
    more = tuple((name, value) for name, value in known.items() if name not in file.names)
    return replace(file, names=(*file.names, *dict(more)), folders=more)


def with_numbers(files: tuple[DataFile, ...]) -> tuple[DataFile, ...]:
    """Values of folders as numbers, where all of a name are whole ones."""
    values = [pair for file in files for pair in file.folders]
    words = {name for name, value in values if value and not WHOLE.fullmatch(str(value))}

    def read(name: str, value: str | int | None) -> str | int | None:
        return value if value is None or name in words else int(value)

    return tuple(
        replace(file, folders=tuple((name, read(name, value)) for name, value in file.folders))
        for file in files
    )


def with_folders(table: Any, file: DataFile, columns: Sequence[str]) -> Any:
    """The columns of a file, those that its folders stand for included, in the wanted order."""
    for name, value in file.folders:
        if name in columns:
            table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return table.select(list(columns))


def refuse_remote(path: str, label: str) -> None:
    """Nothing is fetched: what to do instead, with the lines to write."""
    scheme = REMOTE.match(path)
    if scheme is None:
        return
    plain = re.sub(r"^[^/@]*@", "", path[scheme.end() :].partition("?")[0])
    address = f"{scheme[1]}://{plain}"  # without passwords and signatures
    kind = "parquet" if address.lower().endswith((".parquet", ".pq")) else "csv"
    raise TableError(
        f"The {label} table is not on this machine",
        got=address,
        hint="Download it first, or read it yourself and pass the table:\n"
        f'    {label} = pandas.read_{kind}("{address}")\n'
        f"    study = whygap.Study({label}={label}, ...)",
    )


def find_files(path: str | Path, label: str) -> list[Path]:
    """The files a path, folder or glob stands for, sorted by name."""
    where = Path(path).expanduser()
    if where.is_file():
        if kind_of(where) is None:
            raise TableError(
                f"The {label} table '{path}' is of an unknown format",
                got=f"'{where.suffix}'",
                hint=f"Use {READABLE}, or read it yourself and pass the table.",
            )
        return [where]
    if where.is_dir():
        return in_folder(where, label)
    if any(sign in str(path) for sign in "*?["):
        matches = [Path(m) for m in sorted(glob.glob(str(where), recursive=True))]  # noqa: PTH207 - absolute patterns
        found = [m for m in matches if m.is_file() and kind_of(m) is not None]
        if found:
            return found
        raise TableError(f"No {READABLE} file matches the {label} table '{path}'")
    raise TableError(f"The {label} table '{path}' does not exist", hint=did_you_mean_file(where))


def in_folder(folder: Path, label: str) -> list[Path]:
    """The data files of a folder, whatever its depth; names with a leading _ or . are skipped."""
    found = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file() and not is_hidden(p.relative_to(folder)) and kind_of(p) is not None
    )
    if not found:
        raise TableError(f"The folder '{folder}' ({label}) holds no {READABLE} file")
    if len({kind_of(p) for p in found}) > 1:
        endings = sorted({p.suffix for p in found})
        raise TableError(
            f"The folder '{folder}' ({label}) holds files of several kinds",
            got=", ".join(endings),
            hint=f"Name the files with a glob, for example 'folder/*{endings[-1]}'.",
        )
    return found


def is_hidden(inside: Path) -> bool:
    """Whether a file, or a folder on the way to it, has such a name; `_site=A` names a column."""
    *folders, name = inside.parts
    passed = [folder for folder in folders if "=" not in folder]
    return any(part.startswith(("_", ".")) for part in (*passed, name))


def kind_of(path: Path) -> Kind | None:
    name = path.name.lower()
    return next((kind for ending, kind in ENDINGS.items() if name.endswith(ending)), None)


def open_file(path: Path, label: str) -> DataFile:
    """Column names of one file; the row index that pandas stores is not a column."""
    with refusing(path, label):
        if kind_of(path) == "excel":
            sheet = sheet_of(path, label)
            return DataFile(path, sheet.names, sheet)
        if kind_of(path) == "parquet":
            names = pa_parquet.read_schema(path).names
            return DataFile(path, tuple(n for n in names if not PANDAS_INDEX.fullmatch(n)))
        dialect = dialect_of(path, label)
    with refusing(path, label, dialect):
        return DataFile(path, read_names(path, dialect), dialect)


def read_file(file: DataFile, columns: Sequence[str], label: str) -> Any:
    path, form, outside = file.path, file.form, dict(file.folders)
    inside = [name for name in columns if name not in outside]
    with refusing(path, label, form):
        if isinstance(form, Sheet):
            found = read_sheet(path, form, inside, label)
        elif isinstance(form, Dialect):
            names = tuple(name for name in file.names if name not in outside)
            found = read_text(path, form, names, inside)
        else:
            with pa_parquet.ParquetFile(path) as parquet:
                found = parquet.read(columns=inside, use_threads=False)
    return with_folders(found, file, columns)


@contextlib.contextmanager
def refusing(path: Path, label: str, form: Dialect | Sheet | None = None) -> Iterator[None]:
    """Refuse a file that exists and cannot be read: damaged, or not what its name says."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError, TableError):
        raise
    except Exception as err:  # workbooks and damaged files fail in many ways
        text = form if isinstance(form, Dialect) else None
        raise TableError(
            f"The {label} table '{path}' cannot be read",
            got=obstacle(path, text, err) if text else first_line(err),
            hint="The file may be damaged, half-written, or of another format than its name says.",
        ) from (None if text else err)  # what pyarrow says of a text file quotes the row
