"""Large tables in files of their own: this process and every worker map the same pages."""

import mmap
import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from whygap.domains import Array

__all__ = ["RARELY_READ", "FileSlice", "allocate", "evict", "slice_of"]

LARGE = 50_000_000  # bytes; smaller tables may well be copied to those who need them
RARELY_READ = ".columns"  # ending of files that many jobs never look into


@dataclass(frozen=True, slots=True)
class FileSlice:
    """Where in a file an array begins."""

    path: Path
    start: int


_FILES: dict[Path, tuple[int, int]] = {}  # the first address and the size of each, while mapped
_MAPS: weakref.WeakValueDictionary[Path, mmap.mmap] = weakref.WeakValueDictionary()


def allocate(
    rows: int,
    columns: int,
    dtype: type[np.floating[Any]] = np.float64,
    order: Literal["C", "F"] = "C",
    ending: str = ".table",
) -> Array:
    """An empty table; a large one lies in a file, where a file can be had.

    Args:
        rows: of the table.
        columns: of the table.
        dtype: of the entries.
        order: rows (C) or columns (F) in one piece.
        ending: of the file's name.
    """
    size = rows * columns * np.dtype(dtype).itemsize
    if size < LARGE or not hasattr(os, "posix_fallocate"):
        return np.empty((rows, columns), dtype, order)
    try:
        whole = _new_file(size, ending)
    except OSError:
        return np.empty((rows, columns), dtype, order)
    return np.ndarray((rows, columns), dtype, whole, order=order)


def slice_of(array: memoryview) -> FileSlice | None:
    """Where an array lies, if it lies in such a file.

    Args:
        array: the memory of a table.
    """
    address = _address(array)
    for path, (first, size) in _FILES.items():
        if first <= address and address + array.nbytes <= first + size:
            return FileSlice(path, address - first)
    return None


def evict() -> None:
    """Large tables leave this process's memory until they are looked at again."""
    for whole in list(_MAPS.values()):
        if hasattr(mmap, "MADV_DONTNEED"):
            whole.madvise(mmap.MADV_DONTNEED)  # of a shared file: what was written stays there


def _new_file(size: int, ending: str) -> mmap.mmap:
    """Room is taken at once: a full disk must not be found out by writing. It goes when unused."""
    folder = os.environ.get("JOBLIB_TEMP_FOLDER")
    handle, name = tempfile.mkstemp(prefix="whygap-", suffix=ending, dir=folder)
    path = Path(name)
    try:
        os.posix_fallocate(handle, 0, size)
        whole = mmap.mmap(handle, size)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(handle)
    _FILES[path], _MAPS[path] = (_address(memoryview(whole)), size), whole
    weakref.finalize(whole, _forget, path)
    return whole


def _forget(path: Path) -> None:
    _FILES.pop(path, None)
    path.unlink(missing_ok=True)


def _address(array: memoryview) -> int:
    return int(np.frombuffer(array, np.uint8).ctypes.data)
