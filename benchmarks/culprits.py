"""What points, where and recoverable cost together: `fast`, two workers.

    python benchmarks/culprits.py demo
    python benchmarks/culprits.py insurance --data DIR      NE to WV, 3,000 + 6,000 rows

Adds a line to benchmarks/results/culprits.csv: wall and CPU seconds, the largest memory of the
whole tree of processes, and how many others wanted the cores meanwhile (`load`): wall seconds of a
busy machine say nothing.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import threading
import time
from pathlib import Path

import measure
import numpy as np

from experiments.cases import Move, insurance_study
from whygap._explain import explain_design
from whygap.datasets import load_employment
from whygap.settings import Settings

CSV = measure.RESULTS / "culprits.csv"
DETAIL = ("points", "where", "recoverable")
EVERY = 0.2  # seconds between looks at the memory


def main() -> None:
    options = _options()
    study = (
        load_employment().study()
        if options.case == "demo"
        else insurance_study(Path(options.data), Move("NE", "WV"))
    )
    design = study.design
    memory, ended = [0.0], threading.Event()
    watch = threading.Thread(target=_watch, args=(memory, ended))
    watch.start()
    started, cpu = time.perf_counter(), _cpu()
    explain_design(design, DETAIL, Settings(learner="fast", n_jobs=2, progress=False))
    wall = time.perf_counter() - started
    ended.set()
    watch.join()
    row = {
        "case": options.case, "rows": sum(design.rows), "columns": len(design.columns),
        "wall": round(wall, 1), "cpu": round(_cpu() - cpu, 1), "peak_mb": round(max(memory)),
        "load": round(os.getloadavg()[0], 1), "cores": os.cpu_count(), "numpy": np.__version__,
    }  # fmt: skip
    new = not CSV.exists()
    with CSV.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, row)
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(row)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Cost of points, where and recoverable.")
    parser.add_argument("case", choices=["demo", "insurance"])
    parser.add_argument("--data", default=os.environ.get("WHYGAP_DATA"))
    return parser.parse_args()


def _cpu() -> float:
    """Of this process; workers add theirs to their own clocks, read from the kernel."""
    own, done = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    ticks = sum(_ticks(process) for process in _children(os.getpid()))
    return own.ru_utime + own.ru_stime + done.ru_utime + done.ru_stime + ticks


def _ticks(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _watch(memory: list[float], ended: threading.Event) -> None:
    while not ended.wait(EVERY):
        tree = [os.getpid(), *_children(os.getpid())]
        memory.append(sum(map(_megabytes, tree)))


def _megabytes(process: int) -> float:
    """Resident memory, what several processes share counted in each."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _children(process: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            own = [int(number) for number in task.read_text().split()]
        except OSError:
            continue
        found += [below for one in own for below in (one, *_children(one))]
    return found


if __name__ == "__main__":
    main()
