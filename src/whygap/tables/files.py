"""Files, folders and globs -> pyarrow tables: Parquet, delimited text, Excel."""

import contextlib
import glob
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from whygap.errors import TableError, did_you_mean_file, first_line
from whygap.notes import Note
from whygap.tables.delimited import Dialect, dialect_of, obstacle, read_text
from whygap.tables.frames import BATCH_ROWS, OpenedTable, concat_rows, require_names

__all__ = ["kind_of", "open_files", "refuse_remote"]

Kind = Literal["parquet", "csv", "excel"]
ENDINGS: dict[str, Kind] = {".parquet": "parquet", ".pq": "parquet"}
ENDINGS |= {".csv": "csv", ".csv.gz": "csv", ".tsv": "csv", ".tsv.gz": "csv"}
ENDINGS |= {".xlsx": "excel", ".xlsm": "excel"}
READABLE = ".csv, .tsv (or .gz of these), .xlsx or .parquet"
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
REMOTE = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?=[^/])", re.IGNORECASE)
CELL_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "")


def open_files(path: str | Path, label: str) -> OpenedTable:
    """Open what a path, folder or glob stands for; all files must have equal columns.

    Args:
        path: a file, a folder, or a glob; ~ is the home folder.
        label: what messages call the table.
    """
    refuse_remote(str(path), label)
    paths = _find_files(path, label)
    if kind_of(paths[0]) == "parquet":
        return _open_parquet(paths, Path(path).expanduser(), label)
    opened = []
    ways: dict[str, list[str]] = {}
    for file in paths:
        table, reading = (_open_excel if kind_of(file) == "excel" else _open_text)(file, label)
        opened.append(table)
        if reading:
            ways.setdefault(reading, []).append(file.name)
    _require_same(paths, [table.names for table in opened], label)

    def load(columns: Sequence[str]) -> Any:
        return concat_rows([table.load(columns) for table in opened], label)

    notes = tuple(
        Note("read_as", "info", {"table": label, "files": tuple(names), "how": reading})
        for reading, names in ways.items()
    )
    return OpenedTable(label, "pyarrow", opened[0].names, load, notes)


def _require_same(paths: Sequence[Path], names: Sequence[Sequence[str]], label: str) -> None:
    for path, columns in zip(paths, names, strict=True):
        difference = set(names[0]) ^ set(columns)
        if difference:
            actual = f"'{min(difference)}' in only one of {paths[0].name} and {path.name}"
            raise TableError(f"The files of the {label} table have different columns", got=actual)


def refuse_remote(path: str, label: str) -> None:
    """Refuse an address, since nothing is fetched, with the lines to write instead.

    Args:
        path: what the caller gave as a table, as text.
        label: what messages call the table; also a name in the hint.
    """
    scheme = REMOTE.match(path)
    if scheme is not None:
        plain = re.sub(r"^[^/@]*@", "", path[scheme.end() :].partition("?")[0])
        address = f"{scheme[1]}://{plain}"  # without passwords and signatures
        kind = "parquet" if address.lower().endswith((".parquet", ".pq")) else "csv"
        hint = "Download it first, or read it yourself and pass the table:\n"
        hint += f'    {label} = pandas.read_{kind}("{address}")\n'
        hint += f"    study = whygap.Study({label}={label}, ...)"
        raise TableError(f"The {label} table is not on this machine", got=address, hint=hint)


def kind_of(path: Path) -> Kind | None:
    """Tell the format of a file by the ending of the name.

    Args:
        path: a file, which need not exist.
    """
    name = path.name.lower()
    return next((kind for ending, kind in ENDINGS.items() if name.endswith(ending)), None)


def _find_files(path: str | Path, label: str) -> list[Path]:
    """Find the files a path, folder or glob stands for, sorted by name."""
    root = Path(path).expanduser()
    if root.is_file():
        if kind_of(root) is None:
            message = f"The {label} table '{path}' is of an unknown format"
            hint = f"Use {READABLE}, or read it yourself and pass the table."
            raise TableError(message, got=f"'{root.suffix}'", hint=hint)
        return [root]
    if root.is_dir():
        paths = [p for p in sorted(root.rglob("*")) if not _is_hidden(p.relative_to(root))]
        message = f"The folder '{path}' ({label}) holds no {READABLE} file"
    elif any(sign in str(path) for sign in "*?["):
        paths = [Path(p) for p in sorted(glob.glob(str(root), recursive=True))]  # noqa: PTH207 - absolute patterns
        message = f"No {READABLE} file matches the {label} table '{path}'"
    else:
        message = f"The {label} table '{path}' does not exist"
        raise TableError(message, hint=did_you_mean_file(root))
    paths = [p for p in paths if p.is_file() and kind_of(p) is not None]
    if not paths:
        raise TableError(message)
    if len({kind_of(p) for p in paths}) > 1:
        endings = sorted({p.suffix for p in paths})
        message = f"The files of '{path}' ({label}) are of several kinds"
        hint = f"Name the files with a glob, for example 'folder/*{endings[-1]}'."
        raise TableError(message, got=", ".join(endings), hint=hint)
    return paths


def _is_hidden(inside: Path) -> bool:
    """Tell names with a leading _ or . (a folder `_site=A` names a column)."""
    *folders, name = inside.parts
    passed = [folder for folder in folders if "=" not in folder]
    return any(part.startswith(("_", ".")) for part in (*passed, name))


@contextlib.contextmanager
def _refusing(path: Path, label: str, text: Dialect | None = None) -> Iterator[None]:
    """Refuse a file that exists and cannot be read: damaged, or not what the name says."""
    try:
        yield
    except (MemoryError, TableError):
        raise
    except Exception as err:  # workbooks and damaged files fail in many ways
        actual = obstacle(path, text, err) if text else first_line(err)
        hint = "The file may be damaged, half-written, or of another format than its name says."
        cause = None if text else err  # what pyarrow says of a text file quotes the row
        message = f"The {label} table '{path}' cannot be read"
        raise TableError(message, got=actual, hint=hint) from cause


def _open_text(path: Path, label: str) -> tuple[OpenedTable, str]:
    """Open delimited text; also say how the text was read, where that is not plain."""
    with _refusing(path, label):
        dialect = dialect_of(path, label)
    with _refusing(path, label, dialect):
        names = require_names(dialect.header(path), label)

    def load(columns: Sequence[str]) -> Any:
        with _refusing(path, label, dialect):
            return read_text(path, dialect, names, columns)

    return OpenedTable(label, "pyarrow", names, load), str(dialect)


def _open_parquet(paths: Sequence[Path], root: Path, label: str) -> OpenedTable:
    """Open Parquet files; folders like `year=2026` are columns, as Hive and Spark write them."""
    import pyarrow.dataset as pa_dataset  # loads pandas where it is installed

    schemas = []
    for path in paths:
        with _refusing(path, label):
            schemas.append(pa_parquet.read_schema(path))
    _require_same(paths, [schema.names for schema in schemas], label)
    try:
        schema = schemas[0]
        if len(paths) > 1:
            schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as err:
        message = f"The files of the {label} table have columns of different types"
        raise TableError(message, got=first_line(err)) from err
    by_folder: dict[str, Any] = {}
    if root.is_dir():
        hive = pa_dataset.HivePartitioning.discover()
        by_folder = {"partitioning": hive, "partition_base_dir": str(root)}
    with _refusing(root, label):
        data = pa_dataset.dataset([str(p) for p in paths], format="parquet", **by_folder)
        for field in data.schema:
            schema = schema if field.name in schema.names else schema.append(field)
        data = data.replace_schema(schema)

    def load(columns: Sequence[str]) -> Any:
        with _refusing(root, label):
            return data.to_table(list(columns), use_threads=False)

    def stream(columns: Sequence[str]) -> Iterator[Any]:
        options = {"columns": list(columns), "batch_size": BATCH_ROWS, "use_threads": False}
        with _refusing(root, label):
            for batch in data.to_batches(**options):
                yield pa.Table.from_batches([batch])

    names = [name for name in schema.names if not PANDAS_INDEX.fullmatch(name)]
    return OpenedTable(label, "pyarrow", require_names(names, label), load, stream=stream)


# -- Excel: the first sheet that holds anything; its first row names the columns -------------------


def _open_excel(path: Path, label: str) -> tuple[OpenedTable, str]:
    with _refusing(path, label), _workbook(path, label) as book:
        filled = [sheet for sheet in book.worksheets if next(_filled_rows(sheet), None)]
        if not filled:
            raise TableError(f"The {label} table '{path}' holds no filled sheet")
        title, header = filled[0].title, list(next(_filled_rows(filled[0])))
        while header and header[-1] is None:
            header.pop()
    names = tuple(f"Unnamed: {i}" if n is None else str(n) for i, n in enumerate(header))

    def load(columns: Sequence[str]) -> Any:
        places = [names.index(name) for name in columns]
        with _refusing(path, label), _workbook(path, label) as book:
            _, *rows = _filled_rows(book[title])
        cells = [[row[k] if k < len(row) else None for row in rows] for k in places]
        return pa.table([_cells(column) for column in cells], names=list(columns))

    reading = f"the sheet '{title}' alone" if len(filled) > 1 else ""
    return OpenedTable(label, "pyarrow", require_names(names, label), load), reading


def _cells(values: list[Any]) -> Any:
    """Make a column; cells of several kinds are text."""
    present = [None if value in CELL_ERRORS else value for value in values]
    try:
        return pa.array(present)
    except pa.ArrowException:
        return pa.array([None if value is None else str(value) for value in present])


def _filled_rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()  # what a workbook says of its size is often wrong
    return (row for row in sheet.iter_rows(values_only=True) if any(c is not None for c in row))


@contextlib.contextmanager
def _workbook(path: Path, label: str) -> Iterator[Any]:
    """Open a workbook, values instead of formulas."""
    try:
        import openpyxl
    except ImportError as err:
        message = f"The {label} table '{path}' is an Excel file, which needs openpyxl"
        hint = "Install it: pip install 'whygap[excel]'; or save the sheet as .csv."
        raise TableError(message, hint=hint) from err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and charts, which are not read
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield book
        finally:
            book.close()
