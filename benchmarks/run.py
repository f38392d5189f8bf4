"""Speed, memory and accuracy of the main path: one command.

    python benchmarks/run.py --data DIR     the page's numbers, about half an hour on one core
    python benchmarks/run.py --long         with the long runs that accuracy is measured against
    python benchmarks/run.py --large        with 1 million + 1 million rows x 50 columns, from files

DIR (or WHYGAP_DATA) holds the ACS table of the paper's case; without it that case is skipped.
Every measurement runs in a process of its own and is kept as soon as it is there. A run that was
stopped goes on where it was: what was measured with the same code is not measured again, unless
`--again` is given. Writes benchmarks/results/speed.csv and the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
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


if __name__ == "__main__":
    main()
