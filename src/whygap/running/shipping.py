"""A job in a file: written once, mapped into the memory of every worker of this machine.

Large arrays lie in the file as they lie in memory. Workers map them copy-on-write: they share one
copy of what they only read, and may write without anyone noticing, as in a single process. Tables
that lie in files of their own (`whygap.memmap`) are not written again: they stay there.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import tempfile
import weakref
from functools import lru_cache
from io import BufferedWriter
from pathlib import Path
from typing import Any

import cloudpickle

from whygap.errors import WhygapError
from whygap.memmap import RARELY_READ, FileSlice, evict, slice_of
from whygap.running.memory import give_back

_TABLES: weakref.WeakValueDictionary[Path, mmap.mmap] = weakref.WeakValueDictionary()


class Parcel:
    """A job laid out in a folder of its own, which goes when this object goes."""

    def __init__(self, job: Any) -> None:
        folder = os.environ.get("JOBLIB_TEMP_FOLDER")
        try:
            self.path = Path(tempfile.mkdtemp(prefix="whygap-", dir=folder))
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
            _lay_out(job, self.path)
            give_back()  # this process now waits for the workers
            evict()
        except OSError as error:
            raise WhygapError(
                "The tables and models could not be laid out for the workers",
                got=str(error),
                hint="Let JOBLIB_TEMP_FOLDER name a folder with more room, or use n_jobs=1.",
            ) from error


@lru_cache(maxsize=1)
def opened(path: Path) -> Any:
    """The job in a folder; a worker keeps the one it opened last."""
    places, sizes = pickle.loads((path / "places").read_bytes())  # noqa: S301 - our own file
    own = path / "arrays"
    files = {p.path: _mapped(own) if p.path == own else _table(p.path) for p in places}
    buffers = [
        memoryview(files[place.path])[place.start : place.start + size]
        for place, size in zip(places, sizes, strict=True)
    ]
    return pickle.loads((path / "job").read_bytes(), buffers=buffers)  # noqa: S301 - our own file


def _table(path: Path) -> mmap.mmap:
    """A table's file, mapped once for all jobs that a worker keeps."""
    whole = _TABLES.get(path)
    if whole is None:
        whole = _TABLES[path] = _mapped(path)
    return whole


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    if path.suffix != RARELY_READ:
        _touch(memoryview(whole))
    return whole


def _touch(whole: memoryview) -> None:
    """Read a byte of every page now: joblib takes later growth for a leak and ends the worker."""
    whole[:: mmap.PAGESIZE].tobytes()


def _lay_out(job: Any, path: Path) -> None:
    arrays: list[memoryview] = []

    def stays_in_line(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < 100_000:  # not worth a place in the mapped file
            return True
        arrays.append(raw)
        return False

    text = cloudpickle.dumps(job, protocol=5, buffer_callback=stays_in_line)
    (path / "job").write_bytes(text)
    with (path / "arrays").open("wb") as file:
        places = [slice_of(array) or _written(array, file) for array in arrays]
    (path / "places").write_bytes(pickle.dumps((places, [a.nbytes for a in arrays])))


def _written(array: memoryview, file: BufferedWriter) -> FileSlice:
    file.write(b"\0" * (-file.tell() % 64))  # on a cache line, as in memory
    start = file.tell()
    file.write(array)
    return FileSlice(Path(file.name), start)
