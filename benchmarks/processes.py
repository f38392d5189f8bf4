"""What a program and its workers use: CPU seconds, and memory while it runs (Linux)."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

EVERY = 0.2  # seconds between looks at the memory


@dataclass
class Memory:
    """Megabytes of the whole tree of processes at each look.

    `used` counts pages that several processes share once, `resident` in each of them; `files` is
    what of `used` belongs to mapped files, `workers` what belongs to workers alone.
    """

    used: list[float] = field(default_factory=lambda: [0.0])
    resident: list[float] = field(default_factory=lambda: [0.0])
    files: list[float] = field(default_factory=lambda: [0.0])
    workers: list[float] = field(default_factory=lambda: [0.0])

    def at_peak(self) -> dict[str, int]:
        """What was used where most was, and by whom."""
        k = max(range(len(self.used)), key=self.used.__getitem__)
        main = self.used[k] - self.files[k] - self.workers[k]
        parts = {"main": main, "workers": self.workers[k], "files": self.files[k]}
        return {name: round(megabytes) for name, megabytes in parts.items()}


@contextmanager
def watched() -> Iterator[Memory]:
    """Look at the memory again and again while something runs."""
    memory, ended = Memory(), threading.Event()

    def watch() -> None:
        while not ended.wait(EVERY):
            looks = [_megabytes(process) for process in _tree(os.getpid())]
            memory.used.append(sum(look.used for look in looks))
            memory.resident.append(sum(look.resident for look in looks))
            memory.files.append(sum(look.files for look in looks))
            memory.workers.append(sum(look.used - look.files for look in looks[1:]))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        ended.set()
        thread.join()


def cpu_seconds() -> float:
    """Of this process and of its workers, finished or not."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))
    return used + sum(map(_seconds, _tree(os.getpid())[1:]))


def _seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class _Look(NamedTuple):
    used: float = 0.0
    resident: float = 0.0
    files: float = 0.0


def _megabytes(process: int) -> _Look:
    """Proportional and resident."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _Look()
    sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
    files = sizes.get("Pss_File:", 0.0) + sizes.get("Pss_Shmem:", 0.0)
    return _Look(sizes.get("Pss:", 0.0), sizes.get("Rss:", 0.0), files)


def _tree(process: int) -> list[int]:
    """A process and all below it."""
    found = [process]
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            own = [int(number) for number in task.read_text().split()]
        except OSError:
            continue
        found += [below for one in own for below in _tree(one)]
    return found
