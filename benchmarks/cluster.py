"""The same study in one process, in two local workers, on Ray and on Dask: seconds and numbers.

    python benchmarks/cluster.py

Each runs in a process of its own, cluster start included. Writes benchmarks/results/cluster.csv and
the table of docs/cluster.md. A backend whose package is missing is skipped with a message.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

import measure

CSV = measure.RESULTS / "cluster.csv"
PAGE = Path(__file__).parents[1] / "docs" / "cluster.md"
WAYS = {
    "one process": {},
    "two local workers": {"n_jobs": 2},
    "Ray, two workers": {"n_jobs": 2, "backend": "ray"},
    "Dask, two workers": {"n_jobs": 2, "backend": "dask"},
}
PACKAGES = {"ray": "ray", "dask": "distributed"}


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
        rows.append({"name": name, **measure.in_fresh_process(__file__, settings)})
        print(
            rows[-1]["name"], rows[-1]["start"], rows[-1]["first"], rows[-1]["second"], flush=True
        )
    for row in rows:
        row["same"] = row["numbers"] == rows[0]["numbers"]
    kept = [{k: v for k, v in row.items() if k != "numbers"} for row in rows]
    measure.write_csv(CSV, kept)
    _write_page(kept)


def _run_one(settings: dict[str, Any]) -> dict[str, Any]:
    """Start the workers, then value 128 subsets of the outcome part, twice."""
    from synthetic import wide_design

    from whygap.explain import Analysis
    from whygap.parallel import run_chunks
    from whygap.progress import Silent
    from whygap.settings import Settings

    how = Settings(learner="fast", subsets=128, progress=False, **settings)
    design = wide_design(3000, 15, 12)
    started = time.perf_counter()
    run_chunks(abs, [-1, -2], how)
    seconds = {"start": time.perf_counter() - started}
    for name in ("first", "second"):
        analysis = Analysis.begin(design, how, Silent())
        started = time.perf_counter()
        detailed = analysis.detail("outcome")
        seconds[name] = time.perf_counter() - started
    found = {name: [e.value, e.standard_error] for name, e in detailed.shares.items()}
    subsets = detailed.sampling.evaluated if detailed.sampling else 0
    return {**{k: round(v, 1) for k, v in seconds.items()}, "numbers": found, "subsets": subsets}


def _write_page(rows: list[dict[str, Any]]) -> None:
    lines = [
        [r["name"], r["start"], r["first"], r["second"], "yes" if r["same"] else "**no**"]
        for r in rows
    ]
    header = ["where", "start, s", "first run, s", "second run, s", "same bits as one process"]
    here = measure.machine()
    about = (
        f"Wall seconds for {rows[0]['subsets']} subsets of the outcome part, 3,000 + 3,000 rows, "
        f"12 players, `fast`; {here['date']}, {here['cores']} cores ({here['processor']}) that "
        "others were using too: the times are worth little, the numbers are what is compared."
    )
    measure.replace_section(PAGE, "cluster", f"{measure.markdown(header, lines)}\n\n{about}")


if __name__ == "__main__":
    main()
