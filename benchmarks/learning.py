"""Learners beside each other: out-of-fold loss, CPU seconds per column set, peak memory.

    python benchmarks/learning.py --data DIR              about half an hour on one core
    python benchmarks/learning.py --learners fast,auto    some of them; the others' rows are kept

DIR (or WHYGAP_DATA) holds the case studies' tables; without it only the shipped data are used.
Writes benchmarks/results/learning.csv and the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import measure

CASES = ("NE to WV", "NE to NM", "readmission", "employment")
LEARNERS = ("fast", "boosted", "auto", "paper")
NUISANCES = ("p_0", "p_1", "m", "pi_w", "pi_wz", "cost")
CSV = measure.RESULTS / "learning.csv"
PAGE = Path(__file__).parent / "README.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("WHYGAP_DATA"))
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--nuisances", default=",".join(NUISANCES))
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        from learning_cases import run_one

        print(json.dumps(run_one(json.loads(options.one))))
        return
    rows = measure.read_csv(CSV)
    for case in options.cases.split(","):
        if case != "employment" and not options.data:
            print(f"{case}: skipped, its data are not here (give --data DIR or WHYGAP_DATA)")
            continue
        for learner in options.learners.split(","):
            job = {"case": case, "learner": learner, "nuisances": options.nuisances.split(",")}
            rows = _measured(rows, job, options.data)
    _write_page(rows)


def _measured(rows: list[Any], job: dict[str, Any], data: str | None) -> list[Any]:
    """Rows with this job's measurements in place of older ones."""
    started = time.perf_counter()
    for found in measure.in_fresh_process(__file__, {**job, "data": data})["rows"]:
        same = ("case", "learner", "nuisance")
        rows = [r for r in rows if any(r[k] != found[k] for k in same)] + [found]
        print({k: v for k, v in found.items() if v is not None}, flush=True)
    measure.write_csv(CSV, rows)
    print(f"{time.perf_counter() - started:.0f} s", flush=True)
    return rows


def _write_page(rows: list[Any]) -> None:
    here = measure.machine()
    versions = ", ".join(f"{name} {here[name]}" for name in measure.PACKAGES)
    about = (
        f"Measured {here['date']} on {here['cores']} shared cores ({here['processor']}), Python "
        f"{here['python']}, {versions}."
    )
    measure.replace_section(PAGE, "losses", _losses(rows))
    measure.replace_section(PAGE, "costs", f"{_costs(rows)}\n\n{about}")


def _losses(rows: list[Any]) -> str:
    """One line per case and nuisance; the verdict on auto in words."""
    by_key = {(r["case"], r["nuisance"], r["learner"]): r for r in rows}
    lines = []
    for case in CASES:
        for nuisance in NUISANCES[:-1]:
            found = {w: by_key.get((case, nuisance, w)) for w in LEARNERS}
            if any(row is None for row in found.values()):
                continue
            loss = {w: float(row["loss"]) for w, row in found.items() if row}
            cells = [f"{loss[w]:.4f}" for w in LEARNERS]
            lines.append([case, f"`{nuisance}`", *cells, _verdict(loss), found["auto"]["chosen"]])
    header = ["data", "nuisance", *LEARNERS, "auto beside the others", "auto chose"]
    return measure.markdown(header, lines)


def _verdict(loss: dict[str, float]) -> str:
    best = min(("fast", "boosted", "paper"), key=lambda w: loss[w])
    over = loss["auto"] / loss[best] - 1
    place = "best" if over <= 0 else f"{over:+.1%} over {best}"
    if over > 0.01:
        place += ", **not within 1%**"
    return place if loss["auto"] < loss["paper"] else f"{place}, **not better than paper**"


def _costs(rows: list[Any]) -> str:
    lines = [
        [
            r["case"],
            r["learner"],
            f"{float(r['mean_seconds']):.3f}",
            f"{float(r['ratio_seconds']):.3f}",
            f"{_once(r):.1f}",
            f"{float(r['peak_mb']):.0f}",
        ]
        for case in CASES
        for learner in LEARNERS
        for r in rows
        if (r["case"], r["learner"], r["nuisance"]) == (case, learner, "cost")
    ]
    header = ["data", "learner", "mean, CPU s", "ratio, CPU s", "once, CPU s", "peak MB"]
    return measure.markdown(header, lines)


def _once(row: Any) -> float:
    """Seconds before sets cost what they cost: the dictionary, the choices, the first set."""
    stages = ("shared_seconds", "choosing_seconds", "first_set_seconds")
    return sum(float(row.get(stage) or 0.0) for stage in stages)


if __name__ == "__main__":
    main()
