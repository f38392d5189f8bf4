"""Delimited text (.csv, .tsv) -> pyarrow: delimiter, encoding and decimals, read off the file."""

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

from whygap.errors import TableError, first_line

__all__ = ["Dialect", "dialect_of", "obstacle", "read_text"]

BETWEEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LETTERS = {"utf-16": "UTF-16", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>"]
SAMPLE = 64 * 2**10  # characters looked at to find the delimiter: hundreds of rows
CHUNK = 2**20  # characters decoded at a time when a file's letters are checked
DECIMAL_COMMA = r"^[+-]?((\d+|\d{1,3}(\.\d{3})+)(,\d+)?|,\d+)([eE][+-]?\d+)?$"
OPEN_QUOTE = "that is never closed"
RAGGED = re.compile(r"Row #\d+: Expected \d+ columns, got \d+")
# What a file of another kind begins with
DISGUISED = {b"PK\x03\x04": "an Excel or zip file", b"PAR1": "a Parquet file"}
DISGUISED |= {b"\x1f\x8b": "a gzip file", b"<": "a web page"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a delimited file is written; with a delimiter but a comma, 3,5 may be a number."""

    delimiter: str
    encoding: str

    def __str__(self) -> str:
        """Say what is not plain; nothing for commas in UTF-8."""
        words = []
        if self.delimiter != ",":
            words.append(f"{BETWEEN[self.delimiter]} between fields and 3,5 taken for 3.5")
        if self.encoding != "utf-8":
            words.append(f"letters taken for {LETTERS[self.encoding]}")
        return ", ".join(words)

    @property
    def parsing(self) -> pa_csv.ParseOptions:
        """Options for pyarrow; a quoted field may hold several lines."""
        return pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)

    def header(self, path: Path) -> tuple[str, ...]:
        """Read the names of the columns.

        Args:
            path: a file in this dialect.
        """
        reading = pa_csv.ReadOptions(use_threads=False, encoding=self.encoding)
        with pa_csv.open_csv(path, reading, self.parsing) as reader:
            return tuple(reader.schema.names)


def dialect_of(path: Path, label: str) -> Dialect:
    """Detect the delimiter from the first 64 KB and the encoding from the whole file.

    An open quote, which would make one field of the rest of the file, is refused.

    Args:
        path: a .csv or .tsv file, gzipped or not.
        label: what messages call the table.
    """
    with path.open("rb") as file:
        start = file.read(4)
    lowered = path.name.lower()
    for sign, message in () if lowered.endswith(".gz") else DISGUISED.items():
        if start.startswith(sign):
            hint = "Give it the ending of what it is, or save it again."
            problem = f"The {label} table '{path}' is not delimited text"
            raise TableError(problem, got=message, hint=hint)
    with _binary(path) as file:
        mark = file.read(2)
        later = sum(chunk.count(b'"') for chunk in iter(lambda: file.read(CHUNK), b""))
    is_utf_16 = mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encodings = ("utf-16",) if is_utf_16 else ("utf-8", "cp1252", "latin-1")
    encoding = next(name for name in encodings if name == "latin-1" or _decodes(path, name))
    with _text(path, encoding) as text:
        sample = text.read(SAMPLE)
    lines = sample if len(sample) < SAMPLE else sample[: sample.rfind("\n") + 1]
    expected = "\t" if lowered.removesuffix(".gz").endswith(".tsv") else ","
    dialect = Dialect(_delimiter_of(lines, expected), encoding)
    for line in _broken_lines(path, dialect) if (mark.count(b'"') + later) % 2 else ():
        if line.endswith(OPEN_QUOTE):
            hint = "Close it, or double a quote that belongs to the text."
            raise TableError(f"The {label} table '{path}' cannot be read", got=line, hint=hint)
    return dialect


def _decodes(path: Path, encoding: str) -> bool:
    try:
        with _text(path, encoding) as file:
            while file.read(CHUNK):
                pass
    except UnicodeError:
        return False
    return True


def _delimiter_of(sample: str, expected: str) -> str:
    """Find the sign that cuts most rows into as many fields as the header, and most fields.

    `csv.Sniffer` takes the commas of 3,5 for delimiters.
    """
    best, best_fit = expected, (0.0, 0, False)
    for sign in BETWEEN:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=sign) if row]
        if rows and len(rows[0]) > 1:
            agreeing = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
            fit = (agreeing, len(rows[0]), sign == expected)
            if fit > best_fit:
                best, best_fit = sign, fit
    return best


def _binary(path: Path) -> IO[bytes]:
    zipped = path.name.lower().endswith(".gz")
    return gzip.open(path, "rb") if zipped else path.open("rb")  # type: ignore[return-value]


def _text(path: Path, encoding: str) -> IO[str]:
    letters = "utf-8-sig" if encoding == "utf-8" else encoding
    return io.TextIOWrapper(_binary(path), encoding=letters, newline="")


def read_text(path: Path, dialect: Dialect, names: Sequence[str], columns: Sequence[str]) -> Any:
    """Read some columns of a file whose columns have the names.

    A column whose later values do not have the type guessed from the first becomes text.

    Args:
        path: a delimited file.
        dialect: the file's delimiter and encoding.
        names: all columns of the file, in order.
        columns: names of the columns to read.
    """
    # On one thread, so that rows are counted in order; types are guessed from the first 64 MB,
    # which most files fit in
    block = 64 * 2**20
    reading = pa_csv.ReadOptions(use_threads=False, block_size=block, encoding=dialect.encoding)
    convert = pa_csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True)
    convert.include_columns = list(columns)
    types: dict[str, Any] = {}
    while True:
        try:
            convert.column_types = types
            table = pa_csv.read_csv(path, reading, dialect.parsing, convert)
            return table if dialect.delimiter == "," else _with_decimal_commas(table)
        except pa.ArrowInvalid as err:
            column = re.search(r"In CSV column #(\d+): CSV conversion error", str(err))
            name = names[int(column[1])] if column else ""
            if not column or name in types:
                raise
            types[name] = pa.string()


def _with_decimal_commas(table: Any) -> Any:
    """Turn text columns in which every value is a number with a comma into numbers.

    (`decimal_point=","` of pyarrow would make text of columns with points, and of 1.234,5.)
    """
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
    """Say what stands in the way of reading, and in which line, without quoting the line.

    Args:
        path: the file that could not be read.
        dialect: the file's delimiter and encoding.
        err: what reading raised.
    """
    line, text = next(_broken_lines(path, dialect), None), first_line(err)
    ragged = RAGGED.search(text)
    return line or (ragged[0] if ragged else text)


def _broken_lines(path: Path, dialect: Dialect) -> Iterator[str]:
    """Find rows with more or fewer fields than the header, and a quote that never closes."""
    begins = 1
    header = 0
    with _text(path, dialect.encoding) as file:
        rows = csv.reader(file, delimiter=dialect.delimiter, strict=True)
        try:
            for row in rows:
                header = header or len(row)
                if row and len(row) != header:
                    fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                    yield f"{fields} in line {begins}, where the first has {header}"
                begins = rows.line_num + 1
        except csv.Error as err:
            if "unexpected end" in str(err) or "field larger" in str(err):
                yield f"a quote in line {begins} {OPEN_QUOTE}"
