"""Measuring in fresh processes: CPU seconds, wall seconds, peak memory, machine and versions.

A benchmark script calls itself with `--one JOB` for every measurement, so that no measurement
inherits memory or caches of another; the parent stays small and imports nothing heavy.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # `experiments` stands beside src/ and is never installed
PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm", "joblib")


@dataclass
class Clock:
    """CPU and wall seconds by stage; CPU includes finished children."""

    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add what happens inside to a stage."""
        cpu, wall = cpu_seconds(), time.perf_counter()
        yield
        self.cpu[name] = self.cpu.get(name, 0.0) + cpu_seconds() - cpu
        self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall


def cpu_seconds() -> float:
    """User and system seconds of this process and of its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def peak_megabytes() -> float:
    """Largest resident memory of this process.

    From the kernel's high-water mark: `ru_maxrss` of a child starts at its parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    scale = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def in_fresh_process(script: str, job: Mapping[str, Any]) -> dict[str, Any]:
    """Run `script --one job` and read the JSON object of its last line."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, script, "--one", json.dumps(dict(job))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **threads},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{dict(job)} failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def machine() -> dict[str, str]:
    """Where and when this was measured."""
    found = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": str(os.cpu_count()),
        "processor": _cpu_model(),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def code_digest() -> str:
    """Stands for the library's code: what was measured with other code is out of date."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1] / "src"
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """All rows, each with the machine it was measured on; written whole or not at all.

    A row that names its machine keeps it; the others were measured here and now.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    here = machine()
    full = [{**row, **{k: v for k, v in here.items() if not row.get(k)}} for row in rows]
    names = list(dict.fromkeys(name for row in full for name in row))
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(full)
    return partial.replace(path)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Rows of an earlier run, or none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for a page."""
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def replace_section(page: Path, name: str, text: str) -> None:
    """Put text between `<!-- name -->` and `<!-- /name -->` of a page."""
    whole = page.read_text(encoding="utf-8")
    start, stop = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, _, rest = whole.partition(start)
    after = rest.partition(stop)[2]
    partial = page.with_suffix(".partial")
    partial.write_text(f"{before}{start}\n\n{text}\n\n{stop}{after}", encoding="utf-8")
    partial.replace(page)
