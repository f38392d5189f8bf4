"""The same study in one process, in two local workers, on Ray and on Dask: seconds and numbers.

    python benchmarks/cluster.py

Each runs in a process of its own, cluster start included. Writes benchmarks/results/cluster.csv and
the tables of benchmarks/README.md, the estimate for 100 cores among them. A backend whose package is
missing is skipped with a message.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import measure

CSV = measure.RESULTS / "cluster.csv"
PAGE = Path(__file__).parent / "README.md"
WAYS: dict[str, dict[str, Any]] = {
    "one process": {},
    "two local workers": {"n_jobs": 2},
    "Ray, two workers": {"n_jobs": 2, "backend": "ray"},
    "Dask, two workers": {"n_jobs": 2, "backend": "dask"},
}
PACKAGES = {"ray": "ray", "dask": "distributed"}
ROWS, COLUMNS, PLAYERS, SUBSETS = 3000, 15, 12, 48
BATCH = 16
MANY = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_run_one(json.loads(options.one))))
        return
    rows: list[dict[str, Any]] = []
    for name, settings in WAYS.items():
        package = PACKAGES.get(str(settings.get("backend")))
        if package and importlib.util.find_spec(package) is None:
            print(f"{name}: skipped, the package {package} is not installed")
            continue
        load = round(os.getloadavg()[0], 1)
        rows.append({"name": name, "load": load, **measure.in_fresh_process(__file__, settings)})
        print({k: v for k, v in rows[-1].items() if k != "numbers"}, flush=True)
    for row in rows:
        row["same"] = row["numbers"] == rows[0]["numbers"]
    kept = [{k: v for k, v in row.items() if k != "numbers"} for row in rows]
    measure.write_csv(CSV, kept)
    _write_page(kept)


@dataclass(frozen=True)
class Echo:
    """A part that is shipped and then does nothing: what is left is the way there and back."""

    part: Any

    def __call__(self, item: int) -> int:
        """The item."""
        return item


@dataclass(frozen=True)
class Timed:
    """A part that tells the CPU seconds of a subset, wherever they are spent."""

    part: Any

    def __call__(self, subset: tuple[int, ...]) -> float:
        """CPU seconds."""
        before = time.thread_time()
        self.part.numerator(subset)
        return time.thread_time() - before


def _run_one(settings: dict[str, Any]) -> dict[str, Any]:
    """Start the workers, value the subsets of the outcome part twice, time the ways."""
    from synthetic import wide_design

    from whygap._explain import Analysis
    from whygap.progress import Silent
    from whygap.running.workers import run_chunks
    from whygap.settings import Settings

    how = Settings(learner="fast", subsets=SUBSETS, progress=False, **settings)
    design = wide_design(ROWS, COLUMNS, PLAYERS)
    started = time.perf_counter()
    run_chunks(abs, [-1, -2], how)
    seconds = {"start": time.perf_counter() - started}
    for name in ("first", "second"):
        cpu = time.process_time()
        analysis = Analysis.begin(design, how, Silent())
        analysis.parts("outcome")[0].numerator((0, 1))
        seconds["setup"] = time.process_time() - cpu
        started = time.perf_counter()
        detailed = analysis.details(("outcome",)).shares["outcome"]
        seconds[name] = time.perf_counter() - started
    evaluated = detailed.sampling.evaluated if detailed.sampling else 0
    seconds |= _ways(analysis, how)
    return {
        **{k: round(v, 4) for k, v in seconds.items()},
        "numbers": {name: [e.value, e.standard_error] for name, e in detailed.values.items()},
        "subsets": evaluated,
    }


def _ways(analysis: Any, how: Any) -> dict[str, float]:
    """Seconds to ship a part, and there and back when it is there; CPU seconds of a subset."""
    from whygap.running.shipping import Parcel
    from whygap.running.workers import Workers

    (part,) = analysis.parts("outcome")
    part.numerator((0, 1))
    job, workers, trips = Echo(part), Workers(how), []
    for _ in range(6):
        started = time.perf_counter()
        workers.run(job, list(range(BATCH)))
        trips.append(time.perf_counter() - started)
    parcel = Parcel(job)
    size = sum(path.stat().st_size for path in parcel.path.iterdir()) / 1e6
    trip = statistics.median(trips[1:])
    subsets = list(itertools.combinations(range(PLAYERS), PLAYERS // 2))[:: PLAYERS * 2]
    each = statistics.fmean(workers.run(Timed(part), subsets))
    return {"each": each, "ship": max(trips[0] - trip, 0.0), "trip": trip, "shipped_mb": size}


def _write_page(rows: list[dict[str, Any]]) -> None:
    lines = [
        [
            r["name"],
            f"{r['start']:.1f}",
            f"{r['first']:.1f}",
            f"{r['second']:.1f}",
            f"{r['ship']:.2f}" if n else "",
            f"{1000 * r['trip']:.0f}" if n else "",
            f"{r['each']:.2f}",
            "yes" if r["same"] else "**no**",
            f"{r['load']:.0f}",
        ]
        for n, r in enumerate(rows)
    ]
    header = ["where", "start, s", "first run, s", "second run, s"]
    header += ["shipping, s", "a batch there and back, ms", "CPU s per subset"]
    header += ["same bits as one process", "load"]
    here = measure.machine()
    about = (
        f"Wall seconds for {rows[0]['subsets']} subsets of the outcome part, {ROWS:,} + {ROWS:,} "
        f"rows, {PLAYERS} players, `fast`; {here['date']}, {here['cores']} cores "
        f"({here['processor']}) that other programs were using too (the load when it began is in "
        "the last column). Two workers cannot be faster than one where others keep both cores "
        "busy; that a subset costs them the same CPU seconds says that they would be. What is "
        f"shipped once is {rows[0]['shipped_mb']:.0f} MB; there and back is a batch "
        f"of {BATCH} empty tasks when the part is already there."
    )
    measure.replace_section(PAGE, "cluster", f"{measure.markdown(header, lines)}\n\n{about}")
    measure.replace_section(PAGE, "estimate", _estimate(rows))


def _estimate(rows: list[dict[str, Any]]) -> str:
    """Seconds on 100 cores, from what was measured here on one and two."""
    serial, spread = rows[0], rows[2:]
    each = serial["each"]
    lines = []
    for subsets in (serial["subsets"], 1000, 10_000):
        alone = serial["setup"] + subsets * each
        cells = [f"{subsets:,}", f"{alone:.0f}"]
        for row in spread:
            batches = math.ceil(subsets / (8 * MANY))
            trip = row["trip"] * 2 * MANY / BATCH
            there = row["start"] + row["ship"] * MANY / 2 + batches * trip
            cells.append(f"{serial['setup'] + there + subsets * each / MANY:.0f}")
        lines.append(cells)
    names = [f"{row['name'].split(',')[0]}, {MANY} cores" for row in spread]
    header = ["subsets", "one core, CPU s", *(f"{name}, s (estimate)" for name in names)]
    about = (
        f"A subset costs {each:.2f} CPU seconds, what all share {serial['setup']:.1f}. Start as "
        f"seen above; shipping and the ways there and back grow with the number of workers "
        f"({MANY} instead of 2), as if one machine served them one after the other, which is the "
        "worst case."
    )
    return f"{measure.markdown(header, lines)}\n\n{about}"


if __name__ == "__main__":
    main()
