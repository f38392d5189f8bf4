"""How far other folds move the answers, beside how far another learner does: NE to WV, five draws.

    python benchmarks/folds.py --data DIR --jobs 2     about an hour of one core
    python benchmarks/folds.py --page                  only write the page again

The seed of the settings cuts the folds and nothing else in these rows. Each draw is explained with
two seeds and both learners. Writes benchmarks/results/folds.csv and a table of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
from itertools import product
from pathlib import Path
from typing import Any

import draws
import joblib
import measure

CSV = measure.RESULTS / "folds.csv"
SEEDS = (0, 1)
PAIRS = {
    "`fast`, other folds": (("fast", 0), ("fast", 1)),
    "`auto`, other folds": (("auto", 0), ("auto", 1)),
    "`fast` beside `auto`, the same folds": (("fast", 0), ("auto", 0)),
}

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="only write the page again")
    options = parser.parse_args()
    if not options.page:
        jobs = product(range(options.draws), ("auto", "fast"), SEEDS)
        run = joblib.Parallel(n_jobs=options.jobs, batch_size=1)
        measure.write_csv(CSV, run(joblib.delayed(_run)(options.data, *job) for job in jobs))
    measure.replace_section(draws.PAGE, "folds", _page(list(measure.read_csv(CSV))))


def _run(data: Path, draw: int, learner: str, seed: int) -> Row:
    """One draw of rows, one learner, one cut into folds."""
    from experiments.cases import Move, insurance_study
    from whygap._explain import explain_design
    from whygap.settings import Settings

    design = insurance_study(data, Move("NE", "WV"), seed=draw).design
    settings = Settings(learner=learner, seed=seed, progress=False)  # type: ignore[arg-type]
    gap = explain_design(design, ("points", "recoverable", "outcome"), settings)
    found = {"draw": draw, "learner": learner, "seed": seed, **measure.machine()}
    return {**found, "estimates": json.dumps(draws._estimates(gap))}


def _page(rows: list[Row]) -> str:
    """Of all draws together: the fewest within one standard error, and the middle distances."""
    known = {(r["learner"], int(r["seed"]), int(r["draw"])): json.loads(r["estimates"])
             for r in rows}  # fmt: skip
    count = 1 + max(draw for *_, draw in known)
    lines = []
    for words, (one, other) in PAIRS.items():
        for kind in ("points", "here", "outcome"):
            pairs = [(known[(*one, d)], known[(*other, d)]) for d in range(count)]
            apart = [
                draws._distances(a[kind], b[kind]) for a, b in pairs if kind in a and kind in b
            ]
            if apart:
                near = ", ".join(found.split(" of ")[0] for found, *_ in apart)
                variables = apart[0][0].split(" of ")[1]
                middle = statistics.median(float(found[1]) for found in apart)
                lines.append([words, kind, f"{near} of {variables}", f"{middle:.2f}"])
    head = ["compared", "of", "within 1 standard error, by draw", "median distance"]
    return measure.markdown(head, lines)


if __name__ == "__main__":
    main()
