"""Who names the column to blame, and who is led astray by drift that does no harm?

    python -m experiments naming --jobs 2

Beside whygap stand the things people do otherwise, with the libraries they would use: a drift test
per column (scipy's Kolmogorov-Smirnov), the change of mean absolute SHAP values (LightGBM's own
TreeSHAP of the deployed model), and Oaxaca-Blinder's regression of the errors. Each gets 95% for
all columns together: simultaneous intervals for whygap, Bonferroni for the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from experiments.pages import number, table, write_page
from experiments.record import engine_of, engines, made_by
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.rivals import oaxaca_blinder
from experiments.simulation import Order, Plan
from experiments.summary import comma_separated
from experiments.worlds.naming import CULPRITS, NAMES, SHADES, NamingWorld, deployed
from whygap._explain import explain_design
from whygap.domains import ByDomain
from whygap.results.files import write_whole
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["plan", "replicate", "run"]

ROWS = (2000, 2000)
ALPHA = 0.05  # chance of a false name that each method is given, over all columns
TITLES = {
    "whygap": "whygap: points and rules",
    "drift": "drift test per column",
    "shap": "change of SHAP values",
    "oaxaca": "Oaxaca-Blinder",
}


def plan(*, quick: bool) -> Plan:
    """Every story."""
    return [(_config(story), 2 if quick else 100) for story in CULPRITS]


def _config(story: str) -> Config:
    return Config(world="naming", rows=ROWS, settings={"learner": "fast"},
                  parts=("points", "where"), options={"story": story})  # fmt: skip


def replicate(config: Config, seed: int) -> Line:
    """The columns that each method names, in its own order, and what it cost."""
    world, settings = NamingWorld(config.options["story"]), config.settings_of(seed)
    design = world.draw(ByDomain(*config.rows), np.random.default_rng([seed, *config.rows]))
    deployed()
    methods: dict[str, Callable[[], list[str]]] = {
        "whygap": lambda: _by_whygap(design, settings),
        "drift": lambda: _by_drift(design),
        "shap": lambda: _by_shap(design),
        "oaxaca": lambda: _by_oaxaca(design, settings),
    }
    found = {}
    for name, method in methods.items():
        started = time.process_time()
        named = method()
        found[name] = {"named": named, "seconds": round(time.process_time() - started, 3)}
    return {"config": config.label, "seed": seed, **made_by(settings), "found": found}


def _by_whygap(design: Design, settings: Settings) -> list[str]:
    """Columns that clearly cost or win points, then those of confirmed rules."""
    gap = explain_design(design, ("points", "affected"), settings)
    named: list[str] = []
    if gap.points:
        joint = gap.points["covariate"]
        held = joint.simultaneous(1 - ALPHA / 2)
        named += [n for n in joint.largest_first() if held[n].excludes(0.0)]
    for affected in gap.affected.values():
        conditions = [c for rule in affected.rules for c in rule.conditions]
        named += [c.variable for c in conditions if c.variable in NAMES]
    return list(dict.fromkeys(named))


def _by_drift(design: Design) -> list[str]:
    pairs = zip(design.features.source.T, design.features.target.T, strict=True)
    return _significant([float(stats.ks_2samp(*pair).pvalue) for pair in pairs])


def _by_shap(design: Design) -> list[str]:
    values = design.features.map(lambda x: np.abs(deployed().predict(x, pred_contrib=True)[:, :-1]))
    tests = stats.ttest_ind(values.source, values.target, equal_var=False)
    return _significant(list(tests.pvalue))


def _by_oaxaca(design: Design, settings: Settings) -> list[str]:
    """Its covariate and outcome parts, half of the chance each."""
    sure = replace(settings, level=1 - ALPHA / 2 / len(NAMES))
    named: list[str] = []
    for part in (oaxaca_blinder.covariate_importance, oaxaca_blinder.outcome_importance):
        found = part(design, sure)
        ends = dict(zip(found.names, np.c_[found.low, found.high], strict=True))
        named += [n for n in found.ranking() if ends[n][0] > 0 or ends[n][1] < 0]
    return list(dict.fromkeys(named))


def _significant(p_values: Sequence[float]) -> list[str]:
    order = np.argsort(p_values)
    return [NAMES[k] for k in order if p_values[k] < ALPHA / len(NAMES)]


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page."""
    folder, rows, everything = order.folder("naming"), [], []
    path = folder / "replicates.jsonl"
    for config, count in plan(quick=order.quick):
        if order.jobs:
            run_missing(config, range(count), path, job=replicate, jobs=order.jobs,
                        anew=order.anew, report=order.report)  # fmt: skip
        kept = sorted(read_lines(path, config.label), key=engine_of)
        lines = list({line["seed"]: line for line in kept}.values())
        everything += lines
        rows += [_row(config.options["story"], method, lines) for method in TITLES]
    text = comma_separated(list(rows[0]), [row.values() for row in rows], digits=4)
    write_whole(folder / "naming.csv", text)
    note = f"{engines(everything)} Draws are kept in `replicates.jsonl`."
    return write_page(folder / "naming.md", order.command("naming"), note, rows=ROWS,
                      found=_table(rows), draws=rows[0]["draws"])  # fmt: skip


def _row(story: str, method: str, lines: Sequence[Line]) -> dict[str, Any]:
    culprit = CULPRITS[story]
    guilty = {culprit, *SHADES.get(story, ())}
    named = [line["found"][method]["named"] for line in lines]
    return {
        "story": story,
        "method": method,
        "draws": len(lines),
        "first": _share([bool(names) and names[0] == culprit for names in named]),
        "named": _share([culprit in names for names in named]),
        "false": _share([bool(set(names) - guilty) for names in named]),
        "seconds": float(np.median([line["found"][method]["seconds"] for line in lines])),
    }


def _share(hits: Sequence[bool]) -> float:
    return float(np.mean(hits)) if hits else float("nan")


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    body = []
    for row in rows:
        culprit = CULPRITS[row["story"]]
        right = [number(row[k], 2) if culprit else "–" for k in ("named", "first")]
        cells = [*right, number(row["false"], 2), number(row["seconds"], 2)]
        body.append([f"{row['story']} ({culprit or 'nobody'})", TITLES[row["method"]], *cells])
    head = ["story (who is to blame)", "method", "names it", "names it first",
            "names an innocent column", "CPU seconds"]  # fmt: skip
    return table(head, body, text=2)
