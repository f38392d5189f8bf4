"""One process at a time in a folder; a process that was killed leaves no lock behind."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whygap.errors import ResultError

__all__ = ["locked"]

LOCK = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder, or refuse with the name of the process that does.

    The operating system holds the lock for the open file and lets go when its process ends, however
    that came about; the file's text only says who it is.
    """
    with (folder / LOCK).open("a+", encoding="utf-8") as file:
        try:
            _take(file)
        except OSError as err:
            file.seek(0)
            raise ResultError(
                f"Another whygap watch is at work in '{folder}'",
                got=file.read().strip() or "a process that has just begun",
                hint="Wait until it is done, or name another folder with --into.",
            ) from err
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.truncate()


def _take(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
