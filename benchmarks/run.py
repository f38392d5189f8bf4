"""Speed and memory of the main path: one command.

    python benchmarks/run.py --data DIR     the page's numbers, about half an hour on one core
    python benchmarks/run.py --quick        small sizes; checks how cost grows, not what it is
    python benchmarks/run.py --large        with 1 million + 1 million rows x 50 columns

DIR (or WHYGAP_DATA) holds the ACS table of the paper's case; without it that case is skipped.
Every measurement runs in a process of its own. Writes benchmarks/results/speed.csv and the tables
of docs/benchmarks.md. CPU seconds are on one core; wall times depend on who else is working.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

import measure
import speed_page

CSV = measure.RESULTS / "speed.csv"
BOTH = ["covariate", "outcome"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("WHYGAP_DATA"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", help="names of measurements, comma separated")
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        from speed_cases import run_one

        print(json.dumps(run_one(json.loads(options.one))))
    elif options.quick:
        sys.exit(_quick())
    else:
        _measure(options)


def _jobs(data: str | None, large: bool) -> dict[str, dict[str, Any]]:
    """Name -> what to run."""
    jobs: dict[str, dict[str, Any]] = {}
    for learner in ("fast", "auto"):
        for rows in (1000, 2000, 4000, 8000):
            jobs[f"coverage world, n={rows}, {learner}"] = {
                "case": "coverage",
                "rows": rows,
                "settings": {"learner": learner},
            }
    jobs["demo, auto"] = {"case": "demo", "detail": BOTH, "settings": {}}
    jobs["demo, fast"] = {"case": "demo", "detail": BOTH, "settings": {"learner": "fast"}}
    if data:
        jobs |= _insurance_jobs(data)
    for rows in (10_000, 30_000, 100_000):
        jobs[f"wide, {rows} + {rows} x 50, aggregate, fast"] = {
            "case": "wide",
            "rows": rows,
            "columns": 50,
            "players": 20,
            "detail": [],
            "settings": {"learner": "fast"},
        }
    jobs["20000 + 20000 x 50, 20 groups, 8 random subsets, fast"] = {
        "case": "pace",
        "rows": 20_000,
        "columns": 50,
        "players": 20,
        "subsets": 8,
        "settings": {"learner": "fast"},
    }
    jobs["2000 + 2000 x 203, 200 players, 8 random subsets, fast"] = {
        "case": "pace",
        "rows": 2000,
        "columns": 203,
        "players": 200,
        "subsets": 8,
        "settings": {"learner": "fast"},
    }
    if large:
        jobs["wide, 1000000 + 1000000 x 50, aggregate, fast"] = {
            "case": "wide",
            "rows": 1_000_000,
            "columns": 50,
            "players": 20,
            "detail": [],
            "settings": {"learner": "fast"},
        }
    return jobs


def _insurance_jobs(data: str) -> dict[str, dict[str, Any]]:
    """The paper's case, in several ways."""
    base = {"case": "insurance", "data": data}
    jobs: dict[str, dict[str, Any]] = {
        "NE to WV, aggregate only, auto": {**base, "detail": [], "settings": {}},
    }
    for subsets in (174, 300):
        jobs[f"NE to WV, {subsets} subsets, fast"] = {
            **base,
            "detail": BOTH,
            "settings": {"learner": "fast", "subsets": subsets},
        }
    jobs["NE to WV, fast"] = {**base, "detail": BOTH, "settings": {"learner": "fast"}}
    jobs["NE to WV, 174 subsets, auto"] = {**base, "detail": BOTH, "settings": {"subsets": 174}}
    jobs["NE to WV, auto"] = {**base, "detail": BOTH, "settings": {}}
    jobs["NE to WV, fast, 2 workers"] = {
        **base,
        "detail": BOTH,
        "settings": {"learner": "fast", "n_jobs": 2},
    }
    return jobs


def _measure(options: argparse.Namespace) -> None:
    jobs = _jobs(options.data, options.large)
    if not options.data:
        print("NE to WV: skipped, its data are not here (give --data DIR or WHYGAP_DATA)")
    wanted = options.only.split(";") if options.only else list(jobs)
    rows = measure.read_csv(CSV)
    for name in wanted:
        found = measure.in_fresh_process(__file__, jobs[name])
        row = {"name": name, **{k: _plain(v) for k, v in found.items()}}
        rows = [r for r in rows if r["name"] != name] + [row]
        measure.write_csv(CSV, rows)
        print(name, found["cpu"], f"{found['peak_mb']} MB", flush=True)
    order = list(_jobs("there", True))
    rows.sort(key=lambda r: order.index(r["name"]) if r["name"] in order else len(order))
    measure.write_csv(CSV, rows)
    speed_page.write(rows)


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _quick() -> int:
    """Growth of cost in rows and in subsets, and the same numbers from two workers."""
    failures = []
    cost = {}
    for rows in (500, 2000):
        job = {"case": "coverage", "rows": rows, "passes": 4, "settings": {"learner": "fast"}}
        cpu = measure.in_fresh_process(__file__, job)["cpu"]
        cost[rows] = cpu["covariate subsets"] + cpu["outcome subsets"]
    growth = cost[2000] / cost[500]
    print(f"4 times the rows cost {growth:.1f} times as much")
    if growth > 6:
        failures.append("cost grows faster than the number of rows")
    wide = {"case": "wide", "rows": 400, "columns": 12, "players": 9, "detail": ["outcome"]}
    runs = {
        (subsets, jobs): measure.in_fresh_process(
            __file__,
            {**wide, "settings": {"learner": "fast", "subsets": subsets, "n_jobs": jobs}},
        )
        for subsets, jobs in ((64, 1), (256, 1), (64, 2))
    }
    few, many, spread = runs[64, 1], runs[256, 1], runs[64, 2]
    ratio = many["cpu"]["outcome"] / few["cpu"]["outcome"]
    print(f"4 times the subsets cost {ratio:.1f} times as much")
    if ratio > 5:
        failures.append("cost grows faster than the number of subsets")
    if few["outcome_shares"] != spread["outcome_shares"]:
        failures.append("two workers give other numbers than one")
    for failure in failures:
        print(f"failed: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    main()
