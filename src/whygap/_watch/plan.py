"""Which targets there are: files, values of a column, or tables by name; and what is in them."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.csv as pa_csv

from whygap._explain_many import in_memory, needed_columns, require_targets
from whygap.errors import TableError, name_list
from whygap.study import Study
from whygap.study_file import hiding
from whygap.tables import files
from whygap.tables.open import TablePart, open_table

__all__ = ["Plan", "Target", "content_of", "files_named", "plan_of"]

# Of a file, hashed at a time: bounds the memory, whatever the file's size.
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One target: its name, its table (or path), and a digest of what is in it."""

    name: str
    table: Any
    content: str


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The study, its source in memory, and the targets in the order they are looked at."""

    study: Study
    targets: tuple[Target, ...]
    source: str  # digest of the source's content


def plan_of(study: Study, targets: Any = None, by: Any = None) -> Plan:
    """What is to be explained; every target is named once, none is read in vain."""
    columns = () if by is None else name_list(by, "by=")
    if columns:
        shown = _whole(study.target, columns) if targets is None else targets
        for name in columns:
            open_table(shown, "target").require(name, "by")
        alone = replace(
            study,
            source=hiding(study.source, "source", columns),
            target=hiding(shown, "target", columns),
        )
        tables = _by_value(alone, shown, columns)
    else:
        alone, tables = study, _by_name(study, targets)
    held = needed_columns(alone)
    source = in_memory(open_table(alone.source, "source"), held)
    found = tuple(Target(name, table, content_of(table, held)) for name, table in tables.items())
    return Plan(replace(alone, source=source), found, content_of(source, held))


def files_named(pattern: str | Path) -> dict[str, Path]:
    """Target name -> file, for a folder or a glob; sorted by name."""
    where = Path(pattern).expanduser()
    matches = where.iterdir() if where.is_dir() else map(Path, glob.glob(str(where)))  # noqa: PTH207
    paths = sorted(p for p in matches if p.is_file() and not p.name.startswith((".", "_")))
    readable = [path for path in paths if files.kind_of(path) is not None]
    if not readable:
        raise TableError(
            f"No target is in '{pattern}'",
            got=f"{len(paths)} files that are no tables" if paths else "no file",
            hint=f"One file is one target; use {files.READABLE}, such as 'targets/*.parquet'.",
        )
    found: dict[str, Path] = {}
    for path in readable:
        name = path.name.partition(".")[0]
        if name in found:
            raise TableError(
                f"Two files are named for the target '{name}'",
                got=f"{found[name].name} and {path.name}",
                hint="Name the ones you mean, such as 'targets/*.parquet'.",
            )
        found[name] = path
    return found


def _by_name(study: Study, targets: Any) -> dict[str, Any]:
    if targets is None:
        return {study.target_name: study.target}
    if isinstance(targets, str | Path):
        return dict(files_named(targets))
    ways = "targets={'site B': table, ...}, targets='folder/*.parquet', or by='month'."
    require_targets(targets, "watch", ways)
    return dict(targets)


def _by_value(study: Study, table: Any, by: Sequence[str]) -> dict[str, Any]:
    """One target for every value of a column (or of several together), in the values' order."""
    wanted = needed_columns(study)
    frame = nw.from_native(open_table(table, "target").read((*wanted, *by)).native, eager_only=True)
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, values in enumerate(zip(*(_texts(frame[name], name) for name in by), strict=True)):
        rows.setdefault(values, []).append(number)
    plain = frame.select(list(wanted))
    keys = _keys_by_name(sorted(rows))
    return {name: plain[rows[key], :].to_native() for name, key in keys.items()}


def _keys_by_name(keys: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Target name -> the values it stands for; refused where two would have one name."""
    found: dict[str, tuple[str, ...]] = {}
    for key in keys:
        name = ", ".join(key)
        if name in found:
            raise TableError(
                f"Two targets would both be named '{name}'",
                got=f"{found[name]} and {key}",
                hint="Values with commas make the columns of by= ambiguous: write them otherwise.",
            )
        found[name] = key
    return found


def _texts(column: Any, name: str) -> list[str]:
    missing = int(column.is_null().sum())
    if missing:
        raise TableError(
            f"Column '{name}' (by) is missing in {missing} rows of the target table",
            hint="Leave these rows out, or give them a value: every row belongs to one target.",
        )
    return [_text(value) for value in column.to_list()]


def _text(value: Any) -> str:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _whole(table: Any, by: Sequence[str]) -> Any:
    """The table with the columns that name targets, where they were hidden from the study."""
    hides = isinstance(table, TablePart) and not table.where and set(table.drop) <= set(by)
    return table.table if hides else table


def content_of(table: Any, columns: Sequence[str]) -> str:
    """A digest: of a file its bytes, of anything else the values of these columns."""
    digest = hashlib.sha256()
    if isinstance(table, str | Path) and Path(table).is_file():
        with Path(table).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return digest.hexdigest()
    opened = open_table(table, "target")
    there = [name for name in columns if name in opened.names]
    digest.update(repr([name for name in columns if name not in there]).encode())
    frame = opened.read(there)
    plain = pa.table({name: _plain(frame.arrow(name)) for name in there})
    pa_csv.write_csv(plain, _Into(digest))
    return digest.hexdigest()


def _plain(array: pa.Array) -> pa.Array:
    """Values as they read: the same whatever codes or chunks they are kept in."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_nested(array.type):
        return pa.array([repr(value) for value in array.to_pylist()])
    return array


class _Into:
    """A file that only adds to a digest."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self.digest = digest

    def write(self, text: Any) -> int:
        self.digest.update(bytes(text))
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""
