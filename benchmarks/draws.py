"""Five draws of the paper's case, NE to WV: the median and the worst of what they cost.

    python benchmarks/draws.py --data DIR                        all, about half an hour
    python benchmarks/draws.py --data DIR --learner fast         one learner
    python benchmarks/draws.py --data DIR --draws 1              the first draw alone
    python benchmarks/draws.py --page                            only write the page again

Every draw has its own model, its own 3,000 + 6,000 rows and 30 players, and is explained in a
process of its own with two workers: once everything, once points, where and recoverable alone.
What was measured with the same code is not measured again, unless `--again` is given. Writes
benchmarks/results/draws.csv and the tables of benchmarks/README.md. Wall seconds hold on an idle
machine alone; `load` says how many others wanted the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import measure

CSV = measure.RESULTS / "draws.csv"
PAGE = Path(__file__).parent / "README.md"
ASKED = {
    "everything": ["points", "affected", "recoverable", "covariate", "outcome"],
    "points, where, recoverable": ["points", "affected", "recoverable"],
}
LEARNERS = ("fast", "auto")
KEYS = ("learner", "asked", "draw")

Row = dict[str, Any]


def main() -> None:
    options = _options()
    if options.one:
        print(json.dumps(_run(json.loads(options.one))))
        return
    rows: list[Row] = list(measure.read_csv(CSV))
    if not options.page:
        rows = _measured(options, rows)
    measure.replace_section(PAGE, "draws", _costs(rows))
    measure.replace_section(PAGE, "nearness", _nearness(rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("WHYGAP_DATA"))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--learner", choices=LEARNERS, action="append")
    parser.add_argument("--asked", choices=list(ASKED), action="append")
    parser.add_argument("--again", action="store_true", help="measure anew what is there")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not (options.data or options.page or options.one):
        parser.error("give the folder of the data with --data DIR or in WHYGAP_DATA")
    return options


def _measured(options: argparse.Namespace, rows: list[Row]) -> list[Row]:
    code = measure.code_digest()
    for learner in options.learner or LEARNERS:
        for asked in options.asked or ASKED:
            for draw in range(options.draws):
                job = {"learner": learner, "asked": asked, "draw": draw}
                same = [r for r in rows if all(str(r[key]) == str(job[key]) for key in KEYS)]
                if same and same[0]["code"] == code and not options.again:
                    continue
                load = round(os.getloadavg()[0], 1)
                found = measure.in_fresh_process(__file__, {**job, "data": options.data})
                row = {**job, **found, "load": load, "code": code, **measure.machine()}
                rows = [r for r in rows if r not in same] + [row]
                measure.write_csv(CSV, rows)
                print({key: row[key] for key in row if key != "estimates"}, flush=True)
    return rows


def _run(job: Row) -> Row:
    """One draw, in this process and two workers."""
    from processes import cpu_seconds, watched

    from experiments.cases import Move, insurance_study
    from whygap._explain import explain_design
    from whygap.settings import Settings

    design = insurance_study(Path(job["data"]), Move("NE", "WV"), seed=job["draw"]).design
    settings = Settings(learner=job["learner"], n_jobs=2, progress=False)
    with watched() as memory:
        started, cpu = time.perf_counter(), cpu_seconds()
        gap = explain_design(design, tuple(ASKED[job["asked"]]), settings)
        wall, cpu = time.perf_counter() - started, cpu_seconds() - cpu
    return {
        "cpu": round(cpu, 1), "wall": round(wall, 1),
        "peak_mb": round(max(memory.used)), "resident_mb": round(max(memory.resident)),
        "subsets": json.dumps(_subsets(gap)), "estimates": json.dumps(_estimates(gap)),
    }  # fmt: skip


def _subsets(gap: Any) -> dict[str, int]:
    """How many were valued, by game."""
    played = {f"points, {part}": one.sampling for part, one in gap.points.items()}
    played |= {"here": gap.recoverable.sampling, "at home": gap.recoverable.source.sampling}
    played |= {part: one.sampling for part, one in gap.shares.items()}
    return {name: one.evaluated if one is not None else 0 for name, one in played.items()}


def _estimates(gap: Any) -> dict[str, dict[str, list[float]]]:
    """Values and standard errors of points and shares."""
    found = {
        "points": gap.points["covariate"].estimates,
        "here": gap.recoverable.variables.estimates,
    }
    found |= {part: one.values for part, one in gap.shares.items() if one.values}
    return {
        kind: {name: [e.value, e.standard_error] for name, e in estimates.items()}
        for kind, estimates in found.items()
    }


def _costs(rows: list[Row]) -> str:
    header = ["asked", "learner", "draws", "CPU s", "wall s (load)", "peak MB", "subsets"]
    lines = []
    for asked in ASKED:
        for learner in LEARNERS:
            own = [r for r in rows if (r["asked"], r["learner"]) == (asked, learner)]
            if own:
                each = [json.loads(row["subsets"]) for row in own]
                games = {g: sorted(one[g] for one in each if one[g]) for g in each[0]}
                counts = [f"{g} {_span(found)}" for g, found in games.items() if found]
                load = max(float(row["load"]) for row in own)
                wall = f"{_middle(own, 'wall')} ({load:.0f})"
                costs = [_middle(own, "cpu"), wall, _middle(own, "peak_mb")]
                lines.append([asked, learner, len(own), *costs, "; ".join(counts)])
    return measure.markdown(header, lines)


def _middle(rows: list[Row], key: str) -> str:
    values = [float(row[key]) for row in rows]
    return f"{statistics.median(values):.0f}, at most {max(values):.0f}"


def _span(found: list[int]) -> str:
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def _nearness(rows: list[Row]) -> str:
    """How far `fast` lies from `auto`, in `auto`'s standard errors."""
    header = ["draw", "of", "within 1 standard error", "median distance", "largest"]
    whole = {(r["learner"], int(r["draw"])): r for r in rows if r["asked"] == "everything"}
    lines = []
    for draw in sorted({draw for _, draw in whole}):
        pair = [whole.get((learner, draw)) for learner in LEARNERS]
        if None not in pair:
            fast, auto = (json.loads(row["estimates"]) for row in pair if row)
            lines += [
                [draw + 1, kind, *_distances(fast[kind], auto[kind])]
                for kind in fast
                if kind in auto
            ]
    return measure.markdown(header, lines)


def _distances(fast: dict[str, list[float]], auto: dict[str, list[float]]) -> list[str]:
    apart = [abs(fast[name][0] - value) / error for name, (value, error) in auto.items()]
    near = sum(one <= 1 for one in apart)
    middle = statistics.median(apart)
    return [f"{near} of {len(apart)}", f"{middle:.2f}", f"{max(apart):.2f}"]


if __name__ == "__main__":
    main()
