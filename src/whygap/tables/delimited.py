"""Delimited text (.csv, .tsv) -> pyarrow: what parts the fields, which letters, which decimals.

All of it is found out from the file itself, and what is not the plain case becomes a note.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from whygap.errors import TableError

__all__ = ["Dialect", "dialect_of", "obstacle", "read_names", "read_text", "words_of"]

BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LETTERS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
}
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>"]
SAMPLE = 64 * 2**10  # characters looked at to find the delimiter: hundreds of rows
CHUNK = 2**20  # bytes decoded at a time when a file's letters are checked
# Types are guessed from the first block; most files fit whole into 64 MB.
BLOCK = 64 * 2**20
DECIMAL_COMMA = r"^[+-]?((\d+|\d{1,3}(\.\d{3})+)(,\d+)?|,\d+)([eE][+-]?\d+)?$"
OPEN_QUOTE = "that is never closed"
RAGGED = re.compile(r"Row #\d+: Expected \d+ columns, got \d+")
# What a file of another kind begins with
DISGUISED = {
    b"PK\x03\x04": "an Excel or zip file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip file",
    b"<": "a web page",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a delimited file is written."""

    delimiter: str
    encoding: str

    @property
    def parsing(self) -> pa_csv.ParseOptions:
        """For pyarrow; a quoted field may hold several lines."""
        return pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)

    @property
    def reading(self) -> pa_csv.ReadOptions:
        """For pyarrow; on one thread, so that rows are counted in order."""
        return pa_csv.ReadOptions(use_threads=False, block_size=BLOCK, encoding=self.encoding)

    @property
    def decimal_comma(self) -> bool:
        """Whether 3,5 may be a number: not where commas stand between fields."""
        return self.delimiter != ","


def words_of(dialect: Dialect) -> str:
    """What is not plain about a dialect; nothing where fields are parted by commas, in UTF-8."""
    said = []
    if dialect.delimiter != ",":
        said.append(f"{BETWEEN[dialect.delimiter]} between fields and 3,5 taken for 3.5")
    if dialect.encoding != "utf-8":
        said.append(f"letters taken for {LETTERS[dialect.encoding]}")
    return ", ".join(said)


def dialect_of(path: Path, label: str) -> Dialect:
    """Look at the first rows, and at all letters."""
    refuse_disguised(path, label)
    encoding = encoding_of(path)
    with opened(path, encoding) as file:
        sample = file.read(SAMPLE)
    whole = sample if len(sample) < SAMPLE else sample[: sample.rfind("\n") + 1]
    tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
    dialect = Dialect(delimiter_of(whole, "\t" if tabs else ","), encoding)
    refuse_open_quote(path, dialect, label)
    return dialect


def refuse_disguised(path: Path, label: str) -> None:
    with path.open("rb") as file:
        start = file.read(4)
    for sign, what in DISGUISED.items():
        if start.startswith(sign) and not path.name.lower().endswith(".gz"):
            raise TableError(
                f"The {label} table '{path}' is not delimited text",
                got=what,
                hint="Give it the ending of what it is, or save it again.",
            )


def refuse_open_quote(path: Path, dialect: Dialect, label: str) -> None:
    """A quote that is never closed would make one field of the rest of the file."""
    with binary(path) as file:
        quotes = sum(chunk.count(b'"') for chunk in iter(lambda: file.read(CHUNK), b""))
    if quotes % 2 == 0:
        return
    for found in broken_lines(path, dialect):
        if found.endswith(OPEN_QUOTE):
            raise TableError(
                f"The {label} table '{path}' cannot be read",
                got=found,
                hint="Close it, or double a quote that belongs to the text.",
            )


def encoding_of(path: Path) -> str:
    """UTF-8 where all of the file is; UTF-16 where it says so; else Windows' or Latin-1."""
    with binary(path) as file:
        start = file.read(2)
    if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    return next(name for name in ("utf-8", "cp1252", "latin-1") if decodes(path, name))


def decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with binary(path) as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def delimiter_of(sample: str, expected: str) -> str:
    """The sign that cuts most rows into as many fields as the header has, and into most fields."""
    best, best_fit = expected, (0.0, 0, False)
    for sign in BETWEEN:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=sign) if row]
        if not rows or len(rows[0]) < 2:
            continue
        agreeing = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        fit = (agreeing, len(rows[0]), sign == expected)
        if fit > best_fit:
            best, best_fit = sign, fit
    return best


def binary(path: Path) -> IO[bytes]:
    zipped = path.name.lower().endswith(".gz")
    return gzip.open(path, "rb") if zipped else path.open("rb")  # type: ignore[return-value]


def opened(path: Path, encoding: str) -> IO[str]:
    letters = "utf-8-sig" if encoding == "utf-8" else encoding
    return io.TextIOWrapper(binary(path), encoding=letters, newline="")


def read_names(path: Path, dialect: Dialect) -> tuple[str, ...]:
    """The header."""
    reading = pa_csv.ReadOptions(use_threads=False, encoding=dialect.encoding)
    with pa_csv.open_csv(path, reading, dialect.parsing) as reader:
        return tuple(reader.schema.names)


def read_text(path: Path, dialect: Dialect, names: Sequence[str], columns: Sequence[str]) -> Any:
    """Types are guessed from the values; a column that does not keep its type becomes text."""
    types: dict[str, Any] = {}
    while True:
        try:
            convert = pa_csv.ConvertOptions(
                column_types=types, null_values=MISSING, strings_can_be_null=True
            )
            convert.include_columns = list(columns)
            table = pa_csv.read_csv(path, dialect.reading, dialect.parsing, convert)
            return with_decimal_commas(table) if dialect.decimal_comma else table
        except pa.ArrowInvalid as err:
            column = re.search(r"In CSV column #(\d+): CSV conversion error", str(err))
            name = names[int(column[1])] if column else ""
            if not column or name in types:
                raise
            types[name] = pa.string()


def with_decimal_commas(table: Any) -> Any:
    """Text columns in which every value is a number with a comma, as numbers."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if not pa.types.is_string(column.type) or not len(column.drop_null()):
            continue
        numbers = pc.all(pc.match_substring_regex(column, DECIMAL_COMMA)).as_py()
        if numbers and pc.any(pc.match_substring(column, ",")).as_py():
            plain = pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")
            table = table.set_column(place, name, pc.cast(plain, pa.float64()))
    return table


def obstacle(path: Path, dialect: Dialect, err: Exception) -> str:
    """What stands in the way of reading, and in which line; never what is written there."""
    found = next(broken_lines(path, dialect), None)
    if found is not None:
        return found
    text = str(err).strip().splitlines()[0] if str(err).strip() else type(err).__name__
    ragged = RAGGED.search(text)
    return ragged[0] if ragged else text.rstrip(".")


def broken_lines(path: Path, dialect: Dialect) -> Iterator[str]:
    """Rows with more or fewer fields than the header, and a quote that never closes."""
    begins, header = 1, 0
    with opened(path, dialect.encoding) as file:
        rows = csv.reader(file, delimiter=dialect.delimiter, strict=True)
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as err:
                if "unexpected end" in str(err) or "field larger" in str(err):
                    yield f"a quote in line {begins} {OPEN_QUOTE}"
                return
            header = header or len(row)
            if row and len(row) != header:
                fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                yield f"{fields} in line {begins}, where the first has {header}"
            begins = rows.line_num + 1
