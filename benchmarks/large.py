"""Very many players, and very many rows: whole runs, workers and mapped files counted.

    python benchmarks/large.py --case players     200 players, 5,000 + 5,000 rows; five minutes
    python benchmarks/large.py --case rows        a million rows per table, everything
    python benchmarks/large.py --page             only write the page again

Writes benchmarks/results/large.csv and a table of benchmarks/README.md. Wall seconds hold on an idle
machine alone; `load` says how many others wanted the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import measure

CSV = measure.RESULTS / "large.csv"
PAGE = Path(__file__).parent / "README.md"
CASES: dict[str, dict[str, Any]] = {
    "players": {
        "words": "200 players, 5,000 + 5,000 x 203",
        "table": (5_000, 203, 200),
        "asked": ("points", "recoverable"),
    },
    "rows": {
        "words": "1,000,000 + 1,000,000 x 50 from Parquet files, 20 groups",
        "table": (1_000_000, 50, 20),
        "asked": ("points", "affected", "recoverable", "covariate", "outcome"),
    },
}

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", choices=list(CASES))
    parser.add_argument("--rows", type=int, help="fewer of them, to try it")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_run(**json.loads(options.one))))
        return
    kept: list[Row] = list(measure.read_csv(CSV))
    if options.case:
        load = round(os.getloadavg()[0], 1)
        job = {"case": options.case, "rows": options.rows}
        found = measure.in_fresh_process(__file__, job)
        row = {"case": options.case, **found, "load": load, **measure.machine()}
        print(row)
        if options.rows:
            return
        kept = [*(one for one in kept if one["case"] != options.case), row]
        measure.write_csv(CSV, kept)
    measure.replace_section(PAGE, "large", _page(kept))


def _run(case: str, rows: int | None) -> Row:
    """One case, in this process and two workers."""
    from processes import cpu_seconds, watched
    from synthetic import wide_study

    from whygap._explain import explain_design
    from whygap.settings import Settings

    table, asked = CASES[case]["table"], CASES[case]["asked"]
    settings = Settings(learner="fast", n_jobs=2, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        study = wide_study(Path(folder), rows or table[0], *table[1:])
        with watched() as memory:
            started, cpu = time.perf_counter(), cpu_seconds()
            gap = explain_design(study.design, asked, settings)
            wall, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    seconds = {name: round(value) for name, value in gap.about.seconds.items()}
    return {
        "cpu": round(cpu), "wall": round(wall), "peak_mb": round(max(memory.used)),
        "seconds": json.dumps(seconds), "memory": json.dumps(memory.at_peak()),
    }  # fmt: skip


def _page(rows: list[Row]) -> str:
    header = ["case", "asked", "CPU s", "wall s (load)", "peak MB", "wall s of each question"]
    lines = []
    for row in rows:
        case, each = CASES[row["case"]], json.loads(row["seconds"])
        spent = ", ".join(f"{name} {value}" for name, value in each.items())
        wall = f"{row['wall']} ({float(row['load']):.0f})"
        lines.append(
            [case["words"], ", ".join(case["asked"]), row["cpu"], wall, row["peak_mb"], spent]
        )
    return measure.markdown(header, lines)


if __name__ == "__main__":
    main()
