"""Are the numerators unbiased when the source risk is known? The Gaussian world at n = 8,000.

    python studies/true_risk.py --replicates 60      run what is missing, one process
    python studies/true_risk.py --replicates 0       the page from kept replicates

The true p_0(Y=1 | W, Z) is given as the known source risk, so what is left is the error of the fits
of m(G), h(G) and p_1. Replicates are kept in studies/true_risk/replicates.csv; a stopped run goes
on where it was. Those of another state of the code are dropped.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.analysis import analyse
from experiments.engine import REPLICATE, code_digest
from experiments.markdown import number, table
from experiments.provenance import provenance
from whygap.domains import ByDomain
from whygap.settings import Settings
from whygap.simulate.gaussian import GaussianWorld

FOLDER = Path(__file__).resolve().parent / "true_risk"
KEPT = FOLDER / "replicates.csv"
METRICS = ("accuracy", "brier")
ROWS = 8000
SUBSETS = ((), (0,), (1,), (2,))
LARGEST_ERROR = 1 / 3
ABOUT = """# The numerators when the source risk is known

The outcome values rest on fits of the reduced risk m(G), G = (W, Z_s, binned source risk). Here
the source risk is not estimated: its true values are given (`source_risk`), in the paper's Gaussian
world with {rows:,} rows in each domain, learner `auto`, all other settings at their defaults. What
is left is the error of m(G), of h(G) (Brier only) and of the target risk. The mean error should be
below a third of the standard deviation over replicates; with {replicates} replicates its own
standard error is {error:.2f} standard deviations.
"""

Line = dict[str, str]


def replicate(metric: str, seed: int) -> Line:
    """Draw, analyse with the true source risk, write down denominator and numerators."""
    started = time.process_time()
    world = GaussianWorld(metric=metric)
    drawn = world.draw(ByDomain(ROWS, ROWS), np.random.default_rng([seed, ROWS, ROWS]))
    risk = drawn.features.map(lambda x: world.risk("source", x))
    design = replace(drawn, source_risk=risk)
    settings = Settings(seed=seed, progress=False)
    found = analyse(design, settings, ("outcome",), SUBSETS, settings.level)
    estimates = {name: found.estimates[f"outcome {name}"] for name in quantities(world)}
    return {
        "metric": metric,
        "seed": str(seed),
        "engine": code_digest(REPLICATE),
        "cpu_seconds": f"{time.process_time() - started:.2f}",
        "m": found.learners["m"],
        "p_1": found.learners["p_1 - p_0 (twins)"],
        **{name: f"{estimate.value:.8g}" for name, estimate in estimates.items()},
    }


def quantities(world: GaussianWorld) -> dict[str, float]:
    """What is estimated, with its truth."""
    truths = {subset: world.outcome_truth(subset) for subset in SUBSETS}
    found = {"denominator": truths[()].denominator}
    for subset, truth in truths.items():
        label = ",".join(world.players[k] for k in subset)
        found[f"numerator {{{label}}}"] = truth.numerator
    return found


def read() -> list[Line]:
    """Kept replicates of the present code."""
    if not KEPT.exists():
        return []
    with KEPT.open(newline="", encoding="utf-8") as file:
        return [line for line in csv.DictReader(file) if line["engine"] == code_digest(REPLICATE)]


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def keep(lines: Sequence[Line]) -> None:
    """All replicates, in order."""
    ordered = sorted(lines, key=lambda line: (line["metric"], int(line["seed"])))
    rows = [",".join(ordered[0]), *(",".join(line.values()) for line in ordered)]
    write(KEPT, "\n".join(rows) + "\n")


def run(replicates: int) -> list[Line]:
    """The replicates that are missing, metrics in turn."""
    lines = read()
    done = {(line["metric"], int(line["seed"])) for line in lines}
    for seed in range(replicates):
        for metric in METRICS:
            if (metric, seed) in done:
                continue
            lines.append(replicate(metric, seed))
            keep(lines)
            print(f"{metric}, seed {seed}: {lines[-1]['cpu_seconds']} CPU s", flush=True)
    return lines


def summary(metric: str, lines: Sequence[Line]) -> list[list[str]]:
    """Mean, truth, standard deviation and mean error of every quantity."""
    found = []
    for name, truth in quantities(GaussianWorld(metric=metric)).items():
        values = np.array([float(line[name]) for line in lines])
        mean, spread = float(values.mean()), float(values.std(ddof=1))
        error = (mean - truth) / spread
        mark = "" if abs(error) < LARGEST_ERROR else "**"
        cells = [number(x, 5) for x in (mean, truth, spread)]
        found.append([name, *cells, f"{mark}{error:+.2f}{mark}", f"{mean / truth - 1:+.1%}"])
    return found


def page(by_metric: Mapping[str, Sequence[Line]]) -> str:
    """The page."""
    count = min(len(lines) for lines in by_metric.values())
    parts = [ABOUT.format(rows=ROWS, replicates=count, error=count**-0.5)]
    head = ["quantity", "mean", "truth", "sd", "error / sd", "error / truth"]
    for metric, lines in by_metric.items():
        parts += [f"## {metric.capitalize()}, {len(lines)} replicates\n"]
        parts += [table(head, summary(metric, lines)) + "\n"]
    parts += ["Bold: a third of the standard deviation or more.\n"]
    seconds = sum(float(line["cpu_seconds"]) for lines in by_metric.values() for line in lines)
    note = (
        f"Took {seconds / 60:.0f} CPU minutes on one core; engine {code_digest(REPLICATE)}. "
        "Replicates are kept in `studies/true_risk/replicates.csv`."
    )
    command = f"python studies/true_risk.py --replicates {count}"
    return "\n".join([*parts, provenance(command, note)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=60)
    lines = run(parser.parse_args().replicates)
    by_metric = {metric: [line for line in lines if line["metric"] == metric] for metric in METRICS}
    write(FOLDER / "true_risk.md", page(by_metric))
    print(f"Wrote {FOLDER / 'true_risk.md'}")


if __name__ == "__main__":
    main()
