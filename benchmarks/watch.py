"""What a stream of targets costs: 40 targets of 5,000 rows against a source of 20,000.

    python benchmarks/watch.py            one measurement in a fresh process, kept in results/
    python benchmarks/watch.py --page     the table of benchmarks/README.md, from what is kept

Points and affected groups, default learners, two workers. CPU seconds of the first target and of
the later ones are measured in one process, without workers beside it.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import (
    RESULTS,
    cpu_seconds,
    in_fresh_process,
    markdown,
    peak_megabytes,
    read_csv,
    replace_section,
    write_csv,
)

ROWS = {"source": 20_000, "target": 5_000}
TARGETS, JOBS = 40, 2
ALONE = 3  # targets explained one after the other, to compare the later ones with the first
PAGE = Path(__file__).parent / "README.md"


def table(rows: int, shift: float, seed: int) -> Any:
    """Nine columns: two of W, one of them a category; one more category; five numbers."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(seed)
    age, sex = rng.normal(50 + 3 * shift, 12, rows), rng.choice(["f", "m"], rows)
    labs = rng.normal(0, 1, (5, rows)) + 0.01 * (age - 50)
    at_home = 0.04 * (age - 50) + labs[0] - 0.7 * labs[1] + 0.5 * (sex == "m")
    y = rng.random(rows) < 1 / (1 + np.exp(-(at_home - shift * labs[2])))
    known = {"age": age, "sex": sex, "ward": rng.choice(list("abcd"), rows)}
    known |= {f"lab{k}": lab for k, lab in enumerate(labs)}
    risk = 1 / (1 + np.exp(-at_home))
    return pd.DataFrame(known | {"risk": risk, "y": y.astype(int)})


def study() -> Any:
    """The source, and one target to name the roles by."""
    import whygap as wg

    home, other = table(ROWS["source"], 0.0, 0), table(ROWS["target"], 0.0, 1)
    return wg.Study(home, other, outcome="y", baseline=["age", "sex"], prediction="risk")


def stream(count: int) -> dict[str, Any]:
    """Targets that move away little by little."""
    return {f"{k:02d}": table(ROWS["target"], 0.5 * k / TARGETS, 10 + k) for k in range(count)}


def one(job: dict[str, Any]) -> dict[str, Any]:
    """All targets side by side, or a few one after the other."""
    if job["what"] == "alone":
        return {"seconds": alone()}
    import whygap as wg

    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        seen = wg.watch(
            *(study(), stream(TARGETS)),
            state=folder,
            settings=wg.Settings(progress=False, n_jobs=JOBS),
        )
        assert len(seen.gaps) == TARGETS, seen.silent  # noqa: S101 - a benchmark, not the library
    wall = time.perf_counter() - started
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown()  # so that the workers' seconds are counted
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"cpu": cpu_seconds(), "wall": wall, "peak": peak_megabytes() + JOBS * worker}


def alone() -> list[float]:
    """CPU seconds of the first targets, one after the other in one process."""
    from whygap._explain import explain_with
    from whygap.learning.menu import Menu
    from whygap.learning.source_fits import SourceFits
    from whygap.settings import Settings

    asked, settings, fits = study(), Settings(progress=False), SourceFits()
    found = []
    for name, rows in stream(ALONE).items():
        started = time.process_time()
        menu = Menu(settings, source_fits=fits)
        explain_with(asked.with_target(rows, name), ("points", "affected"), settings, menu)
        found.append(time.process_time() - started)
    return found


def measure() -> None:
    """Both, each in a fresh process."""
    seconds = in_fresh_process(__file__, {"what": "alone"})["seconds"]
    all_ = in_fresh_process(__file__, {"what": "all"})
    row = {
        "targets": TARGETS,
        "source rows": ROWS["source"],
        "target rows": ROWS["target"],
        "jobs": JOBS,
        "first target, CPU s": f"{seconds[0]:.1f}",
        "later target, CPU s": f"{statistics.mean(seconds[1:]):.1f}",
        "all, CPU s": f"{all_['cpu']:.0f}",
        "all, wall s": f"{all_['wall']:.0f}",
        "memory of all processes, MB": f"{all_['peak']:.0f}",
    }
    write_csv(RESULTS / "watch.csv", [row])


def page() -> None:
    """The table, from what is kept."""
    [row] = read_csv(RESULTS / "watch.csv")
    names = [
        name
        for name in row
        if name.partition(",")[0]
        in ("first target", "later target", "all", "memory of all processes")
    ]
    share = float(row["later target, CPU s"]) / float(row["first target, CPU s"])
    shown = markdown([*names, "later / first"], [[*(row[name] for name in names), f"{share:.0%}"]])
    replace_section(PAGE, "watch", shown)


if __name__ == "__main__":
    if "--one" in sys.argv:
        print(json.dumps(one(json.loads(sys.argv[-1]))))
    else:
        if "--page" not in sys.argv:
            measure()
        page()
