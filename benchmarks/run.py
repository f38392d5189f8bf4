"""Speed, memory and accuracy of the main path: one command.

    python benchmarks/run.py --data DIR     the page's numbers, about half an hour on one core
    python benchmarks/run.py --long         with the long runs that accuracy is measured against
    python benchmarks/run.py --large        with 1 million + 1 million rows x 50 columns, from files
    python benchmarks/run.py --quick        small sizes; checks how cost grows, not what it is

DIR (or WHYGAP_DATA) holds the ACS table of the paper's case; without it that case is skipped.
Every measurement runs in a process of its own and is kept as soon as it is there. A run that was
stopped goes on where it was: what was measured with the same code is not measured again, unless
`--again` is given. Writes benchmarks/results/speed.csv and the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

import measure
import speed_page
from speed_jobs import Job, all_jobs

CSV = measure.RESULTS / "speed.csv"


def main() -> None:
    options = _options()
    if options.one:
        from speed_cases import run_one

        print(json.dumps(run_one(json.loads(options.one))))
    elif options.quick:
        sys.exit(_quick())
    elif options.page:
        speed_page.write(measure.read_csv(CSV))
    else:
        _measure(options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("WHYGAP_DATA"))
    parser.add_argument("--long", action="store_true", help="also the reference runs")
    parser.add_argument("--large", action="store_true", help="also a million rows per domain")
    parser.add_argument("--quick", action="store_true", help="check ratios at small sizes")
    parser.add_argument("--only", help="names of measurements, or beginnings of names; ';' between")
    parser.add_argument("--again", action="store_true", help="measure anew what is there")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> None:
    if not options.data:
        print("NE to WV: skipped, its data are not here (give --data DIR or WHYGAP_DATA)")
    rows, code = measure.read_csv(CSV), measure.code_digest()
    jobs = _wanted(options)
    for number, (name, job) in enumerate(jobs.items(), start=1):
        about = {"job": json.dumps(_without_place(job), sort_keys=True), "code": code}
        known = next((r for r in rows if r["name"] == name), {})
        if not options.again and all(known.get(key) == value for key, value in about.items()):
            print(f"{number}/{len(jobs)} {name}: there")
            continue
        load = round(os.getloadavg()[0], 1)
        found = measure.in_fresh_process(__file__, job)
        row = {"name": name, **about, "load": load, **measure.machine()}
        row |= {key: _plain(value) for key, value in found.items()}
        rows = _in_order([*(r for r in rows if r["name"] != name), row])
        measure.write_csv(CSV, rows)
        speed_page.write(rows)
        print(f"{number}/{len(jobs)} {name}", found["cpu"], f"{found['peak_mb']} MB", flush=True)


def _wanted(options: argparse.Namespace) -> dict[str, Job]:
    if not options.only:
        return all_jobs(options.data, long=options.long, large=options.large)
    starts = tuple(options.only.split(";"))
    everything = all_jobs(options.data, long=True, large=True)
    return {name: job for name, job in everything.items() if name.startswith(starts)}


def _without_place(job: Job) -> Job:
    """What was run, wherever the data were."""
    return {key: value for key, value in job.items() if key != "data"}


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As listed; measurements that are no longer listed are dropped."""
    order = list(all_jobs("anywhere", long=True, large=True))
    kept = [row for row in rows if row["name"] in order]
    return sorted(kept, key=lambda row: order.index(row["name"]))


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _quick() -> int:
    """Growth of cost in rows and in subsets, memory, and the same numbers from two workers."""
    failures: list[str] = []
    cost = {rows: _subset_seconds(rows) for rows in (500, 2000)}
    _at_most(cost[2000] / cost[500], 6, "4 times the rows cost {:.1f} times as much", failures)
    wide: Job = {"case": "wide", "rows": 400, "columns": 12, "players": 9, "detail": ["outcome"]}

    def run(subsets: int, jobs: int) -> dict[str, Any]:
        settings = {"learner": "fast", "subsets": subsets, "n_jobs": jobs}
        return measure.in_fresh_process(__file__, {**wide, "settings": settings})

    few, many, spread = run(64, 1), run(256, 1), run(64, 2)
    ratio = many["cpu"]["outcome"] / few["cpu"]["outcome"]
    _at_most(ratio, 5, "4 times the subsets cost {:.1f} times as much", failures)
    memory = many["peak_mb"] / few["peak_mb"]
    _at_most(memory, 1.5, "4 times the subsets need {:.2f} times the memory", failures)
    if few["outcome_shares"] != spread["outcome_shares"]:
        failures.append("two workers give other numbers than one")
    apart = speed_page.distances(few["outcome_shares"], many["outcome_shares"])
    _at_most(max(apart), 1, "a quarter of the subsets moves shares by {:.2f} errors", failures)
    for failure in failures:
        print(f"failed: {failure}")
    return 1 if failures else 0


def _subset_seconds(rows: int) -> float:
    job = {"case": "coverage", "rows": rows, "passes": 4, "settings": {"learner": "fast"}}
    cpu = measure.in_fresh_process(__file__, job)["cpu"]
    return float(cpu["covariate subsets"] + cpu["outcome subsets"])


def _at_most(ratio: float, limit: float, text: str, failures: list[str]) -> None:
    said = text.format(ratio)
    print(f"{said} (at most {limit:g})")
    if ratio > limit:
        failures.append(said)


if __name__ == "__main__":
    main()
