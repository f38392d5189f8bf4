"""Points beside an attribution that is given the true causal graph.

    python -m experiments graph                                     whygap's draws, and the page
    WHYGAP_PEERS=DIR/bin/python python -m experiments graph         dowhy's, too

dowhy lives in an environment of its own (`python3 -m venv DIR; DIR/bin/pip install dowhy`). Its
`distribution_change_robust` gets the graph, the covariates and per row whether the model was right;
once with its own defaults (linear and logistic regressions), once with squares and products added,
which is what ratios of normal densities need. `expl_perf_drop` is no package; its Shapley values
over a graph are `graph_shapley` of `experiments.rivals`, given the true graph and the same draws.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pages import number, signed, table, write_page
from experiments.record import engine_of, engines, made_by
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.rivals import graph_shapley
from experiments.simulation import Order, Plan
from experiments.summary import comma_separated
from experiments.worlds.graphs import NAMES, Graph, GraphWorld
from whygap._explain import explain_design
from whygap.domains import ByDomain
from whygap.results.files import write_whole
from whygap.tables.design import Design

__all__ = ["plan", "replicate", "run"]

GRAPHS: tuple[Graph, ...] = ("independent", "chain")
ROWS = {"independent": (2000, 8000), "chain": (2000,)}  # of either table
DRAWS = {"independent": 200, "chain": 100}  # of ours
PEER_DRAWS = {2000: 200, 8000: 50}  # dowhy takes four seconds a draw, and sixteen
LEVEL = 0.9
PEERS = {"linear": "dowhy, its defaults", "quadratic": "dowhy, squares and products"}
RIVAL = "Shapley values over the graph"
PARENTS = {"independent": {}, "chain": {"x2": ["x1"], "x3": ["x2"]}}
PEER_SCRIPT = Path(__file__).with_name("peer_graph.py")


def plan(*, quick: bool) -> Plan:
    """Both graphs; the one in which all ask for the same numbers with more rows, too."""
    return [(_config(graph, rows), 3 if quick else DRAWS[graph])
            for graph in GRAPHS for rows in ROWS[graph][: 1 if quick else None]]  # fmt: skip


def _config(graph: Graph, rows: int = 2000) -> Config:
    return Config(world="graph", rows=(rows, rows), settings={"learner": "fast"}, parts=("points",),
                  options={"graph": graph}, level=LEVEL)  # fmt: skip


def replicate(config: Config, seed: int) -> Line:
    """Points of one draw: value, low, high; and the rival's attributions to mechanisms."""
    started, settings = time.process_time(), config.settings_of(seed)
    design = _draw(config, seed)
    gap = explain_design(design, ("points",), settings)
    points = gap.points.get("covariate", {})
    seconds = round(time.process_time() - started, 2)
    rival = graph_shapley.importance(design, settings, PARENTS[config.options["graph"]])
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "cpu_seconds": seconds,
        "points": {name: [e.value, *e.interval(config.level)] for name, e in points.items()},
        "graph_shapley": {name: rival.value(name) for name in NAMES},
    }


def _draw(config: Config, seed: int) -> Design:
    world = GraphWorld(config.options["graph"])
    return world.draw(ByDomain(*config.rows), np.random.default_rng([seed, *config.rows]))


def run(order: Order) -> Path:
    """Run what is missing, write the table and the page."""
    folder = order.folder("graph")
    rows: list[dict[str, Any]] = []
    lines: list[Line] = []
    for config, count in plan(quick=order.quick):
        path = folder / "replicates.jsonl"
        if order.jobs:
            how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
            run_missing(config, range(count), path, job=replicate, **how)
            if os.environ.get("WHYGAP_PEERS"):
                asked = min(count, PEER_DRAWS[config.rows[0]])
                _ask_peer(config, asked, folder / "peers.jsonl", order)
        kept = sorted(read_lines(path, config.label), key=engine_of)
        ours = list({line["seed"]: line for line in kept}.values())
        lines += ours
        theirs = read_lines(folder / "peers.jsonl", config.label)
        rows += _rows(config, ours, theirs)
    text = comma_separated(list(rows[0]), [row.values() for row in rows], digits=4)
    write_whole(folder / "graph.csv", text)
    note = f"{engines(lines)} Draws are kept in `replicates.jsonl` and `peers.jsonl`."
    cells = [(graph, size) for graph in GRAPHS for size in ROWS[graph]]
    tables = {
        f"{graph}_{size}": _table([r for r in rows if (r["graph"], r["rows"]) == (graph, size)])
        for graph, size in cells
    }
    return write_page(folder / "graph.md", order.command("graph"), note, tables=tables, level=LEVEL)


def _ask_peer(config: Config, count: int, path: Path, order: Order) -> None:
    """The same draws, given to dowhy in its own environment, five at a time."""
    done = {line["seed"] for line in read_lines(path, config.label)}
    missing = [seed for seed in range(count) if seed not in done]
    for seeds in (missing[k : k + 5] for k in range(0, len(missing), 5)):
        with tempfile.TemporaryDirectory() as place:
            files = [_rows_file(config, seed, Path(place)) for seed in seeds]
            said = subprocess.run(  # noqa: S603 - the user's own interpreter
                [os.environ["WHYGAP_PEERS"], "-I", str(PEER_SCRIPT), *map(str, files)],
                capture_output=True, text=True, check=True,
            ).stdout.splitlines()  # fmt: skip
        with path.open("a", encoding="utf-8") as kept:
            for seed, text in zip(seeds, said, strict=True):
                line = {"config": config.label, "seed": seed} | json.loads(text)
                kept.write(json.dumps(line, sort_keys=True) + "\n")
        order.report(f"{config.label}: dowhy, {len(seeds)} draws")


def _rows_file(config: Config, seed: int, folder: Path) -> Path:
    design, path = _draw(config, seed), folder / f"{seed}.npz"
    np.savez(path, source=design.features.source, target=design.features.target, names=NAMES,
             loss_source=design.loss.source, loss_target=design.loss.target,
             graph=config.options["graph"], seed=seed)  # fmt: skip
    return path


def _rows(config: Config, ours: Sequence[Line], theirs: Sequence[Line]) -> list[dict[str, Any]]:
    """One row per method and covariate: truth of its own estimand, mean, error, coverage."""
    world = GraphWorld(config.options["graph"])
    points, mechanisms = world.points(), world.mechanisms()
    found = [_row(config, "whygap, without the graph", name, points[name],
                  [line["points"][name] for line in ours]) for name in NAMES]  # fmt: skip
    asked = {"graph_shapley": (RIVAL, ours)} | {k: (title, theirs) for k, title in PEERS.items()}
    for key, (title, lines) in asked.items():
        for name in NAMES:
            values = [[line[key][name]] for line in lines if key in line]
            found.append(_row(config, title, name, mechanisms[name], values))
    return found


def _whole(rows: Sequence[Mapping[str, Any]]) -> float:
    """The root mean squared error over all columns."""
    return math.sqrt(float(np.mean([row["rmse"] ** 2 for row in rows])))


def _row(
    config: Config, method: str, name: str, truth: float, found: Sequence[Sequence[float]]
) -> dict[str, Any]:
    values = np.array([value[0] for value in found])
    ends = np.array([value[1:] for value in found if len(value) > 1]).reshape(-1, 2)
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    some = len(values) > 0
    return {
        "graph": config.options["graph"], "rows": config.rows[0], "method": method,
        "covariate": name, "truth": truth,
        "draws": len(values), "bias": float(values.mean() - truth) if some else math.nan,
        "rmse": float(np.sqrt(np.mean((values - truth) ** 2))) if some else math.nan,
        "coverage": float(held.mean()) if len(held) else math.nan,
    }  # fmt: skip


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Root mean squared errors in points of accuracy, and of all covariates together."""
    body = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        cells = [f"{number(100 * r['rmse'], 2)} ({signed(100 * r['bias'])})" for r in mine]
        covered = " ".join(number(row["coverage"], 2) for row in mine)
        truths = " ".join(number(100 * row["truth"], 2) for row in mine)
        whole = number(100 * _whole(mine), 2)
        body.append([method, truths, *cells, whole, covered, mine[0]["draws"]])
    head = ["method", "truth of its own estimand", *NAMES, "all", "90% intervals cover", "draws"]
    return table(head, body, text=2)
