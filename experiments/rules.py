"""Planted rules: who finds the rows whose outcomes changed, and who sees rules where none are?

    python -m experiments rules --jobs 2                 whygap's replicates, and the page
    WHYGAP_RULE_PEERS=DIR/bin/python python -m experiments rules    the three other tools, too

The other tools live in an environment of their own, because deepchecks 0.19.1 needs scikit-learn
before 1.5 ('max_error' is not a valid scoring value in later ones) and numpy before 2:

    python3 -m venv DIR
    DIR/bin/pip install deepchecks==0.19.1 divexplorer==0.2.6 wise-pizza==0.2.9 \
        "scikit-learn<1.5" "numpy<2" "pandas<2.2" "setuptools<81"

All see the same tables: 3,000 source and 3,000 target rows. deepchecks and DivExplorer, made for
one table, get the target's rows and whether the model erred; wise-pizza, made for a change between
two tables, gets both. Numbers are cut into quarters for those that need levels, which is how the
rules are planted; wise-pizza is asked once more with sixths, which is how whygap cuts them. Theirs
are the first five segments, ours the rules that are confirmed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pages import number, table, write_page
from experiments.record import engine_of, engines, made_by
from experiments.replicates import Config, Line, run_missing
from experiments.simulation import Order, Plan, all_lines
from experiments.summary import comma_separated
from experiments.worlds.planted import COLUMNS, Mask, Planted, planted
from whygap._explain import explain_design
from whygap.domains import Array, ByDomain
from whygap.results import Condition, Rule
from whygap.results.files import write_whole
from whygap.tables.design import MODEL_SCORE, Design

__all__ = ["plan", "replicate", "run"]

EFFECTS = (0.3, 0.6, 1.0)  # chance that a label inside the rule is turned round
ROWS = (3000, 3000)
ALARMS = 0.05  # of analyses of tables without an effect that may show a rule
SAME = 0.5  # a rule is found when its rows and the planted ones overlap by this Jaccard index
PEERS = {"deepchecks": "deepchecks, weak segments", "divexplorer": "DivExplorer",
         "wise_pizza": "wise-pizza", "wise_pizza_sixths": "wise-pizza, cut as we cut"}  # fmt: skip
PEER_DRAWS = {"deepchecks": 50, "divexplorer": 50, "wise_pizza": 100, "wise_pizza_sixths": 100}
PEER_SCRIPT = Path(__file__).with_name("peer_rules.py")


def plan(*, quick: bool) -> Plan:
    """An effect each, and none: of that, enough draws to see 5%."""
    if quick:
        return [(_config(1.0), 2)]
    return [*((_config(effect), 200) for effect in EFFECTS), (_config(0.0), 300)]


def _config(effect: float) -> Config:
    return Config(
        world="planted", rows=ROWS, settings={"learner": "fast"}, parts=("where",),
        options={"effect": effect},
    )  # fmt: skip


def replicate(config: Config, seed: int) -> Line:
    """The confirmed rules of one draw, with their true contributions."""
    started = time.process_time()
    world, settings = planted(config.options["effect"], seed), config.settings_of(seed)
    design = _draw(world, config, seed)
    gap = explain_design(design, ("affected",), settings)
    rules = [rule for affected in gap.affected.values() for rule in affected.rules]
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "planted": list(world.columns),
        "cpu_seconds": round(time.process_time() - started, 2),
        "rules": [_told(rule, world, design) for rule in rules],
    }


def _draw(world: Planted, config: Config, seed: int) -> Design:
    return world.draw(ByDomain(*config.rows), np.random.default_rng([seed, *config.rows]))


def _told(rule: Rule, world: Planted, design: Design) -> dict[str, Any]:
    def inside(features: Array, prediction: Array) -> Mask:
        return np.logical_and.reduce(
            [_fulfil(condition, features, prediction) for condition in rule.conditions]
        )

    rows = inside(design.features.target, design.prediction.target)
    return {
        "columns": sorted({condition.variable for condition in rule.conditions}),
        "words": str(rule),
        "jaccard": jaccard(rows, world.mask(design.features.target)),
        "low": rule.interval[0],
        "high": rule.interval[1],
        "truth": world.contribution(inside),
    }


def _fulfil(condition: Condition, features: Array, prediction: Array) -> Mask:
    names = [column.name for column in COLUMNS]
    if condition.variable == MODEL_SCORE:
        values, levels = prediction, ()
    else:
        place = names.index(condition.variable)
        values, levels = features[:, place], COLUMNS[place].levels
    match condition.kind:
        case "is":
            return np.asarray(values == levels.index(condition.level))
        case "above":
            return np.asarray(values > condition.number)
        case "at most":
            return np.asarray(values <= condition.number)
    return np.isnan(values)


def jaccard(one: Mask, other: Mask) -> float:
    """Rows in both, of the rows in either."""
    either = int(np.sum(one | other))
    return float(np.sum(one & other)) / either if either else 0.0


def run(order: Order) -> Path:
    """Run what is missing, ours and (where their environment is named) the others'; the page."""
    folder = order.folder("rules")
    lines: dict[str, list[Line]] = {}
    for config, count in plan(quick=order.quick):
        path = folder / "replicates.jsonl"
        if order.jobs:
            how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
            run_missing(config, range(count), path, job=replicate, **how)
        kept = [ln for ln in all_lines(folder) if ln["config"] == config.label]
        lines[config.label] = list({ln["seed"]: ln for ln in sorted(kept, key=engine_of)}.values())
        if order.jobs and os.environ.get("WHYGAP_RULE_PEERS"):
            _ask_peers(config, count, folder / "peers.jsonl", order)
    rows = [row for config, _ in plan(quick=order.quick)
            for row in _scores(config, lines[config.label], folder / "peers.jsonl")]  # fmt: skip
    head = list(rows[0])
    write_whole(folder / "rules.csv",
                comma_separated(head, [row.values() for row in rows], digits=4))  # fmt: skip
    everything = [line for group in lines.values() for line in group]
    note = f"{engines(everything)} Draws are kept in `replicates.jsonl` and `peers.jsonl`."
    alike = _at_equal_alarms([config for config, _ in plan(quick=order.quick)], folder)
    return write_page(folder / "rules.md", order.command("rules"), note, found=_table(rows),
                      alike=alike, intervals=_coverage(everything),
                      shared=_in_shared_draws(everything, folder))  # fmt: skip


def _ask_peers(config: Config, count: int, path: Path, order: Order) -> None:
    """The same draws, given to each of the other tools in their own environment, ten at a time."""
    for tool, most in PEER_DRAWS.items():
        done = {line["seed"] for line in _theirs(path, config) if tool in line}
        missing = [seed for seed in range(min(count, most)) if seed not in done]
        for seeds in (missing[k : k + 10] for k in range(0, len(missing), 10)):
            said = _said(tool, config, seeds)
            with path.open("a", encoding="utf-8") as kept:
                for seed, text in zip(seeds, said, strict=True):
                    columns = planted(config.options["effect"], seed).columns
                    line = {"config": config.label, "seed": seed, "planted": columns}
                    kept.write(json.dumps(line | json.loads(text), sort_keys=True) + "\n")
            order.report(f"{config.label}: {PEERS[tool]}, {len(seeds)} draws")


def _said(tool: str, config: Config, seeds: Sequence[int]) -> list[str]:
    """What a tool prints of some draws, a line each."""
    with tempfile.TemporaryDirectory() as place:
        files = [str(_tables(config, seed, Path(place))) for seed in seeds]
        return subprocess.run(  # noqa: S603 - the user's own interpreter
            [os.environ["WHYGAP_RULE_PEERS"], "-I", str(PEER_SCRIPT), *files],
            env={**os.environ, "WHYGAP_RULE_TOOLS": tool},
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip


def _tables(config: Config, seed: int, folder: Path) -> Path:
    """One draw as a file of arrays."""
    world = planted(config.options["effect"], seed)
    design = _draw(world, config, seed)
    path = folder / f"{seed}.npz"
    np.savez(
        path,
        source=design.features.source, target=design.features.target,
        error_source=1 - design.loss.source, error_target=1 - design.loss.target,
        outcome=design.outcome.target, planted=world.mask(design.features.target),
        names=[c.name for c in COLUMNS], categories=[c.kind == "category" for c in COLUMNS],
    )  # fmt: skip
    return path


def _scores(config: Config, ours: Sequence[Line], path: Path) -> list[dict[str, Any]]:
    """One row per tool: how often it found the planted rows, named their columns, showed any."""
    theirs = _theirs(path, config)
    tools = {"whygap": [(line["planted"], line["rules"]) for line in ours]}
    for tool, name in PEERS.items():
        tools[name] = [(line["planted"], line[tool]) for line in theirs if tool in line]
    effect = config.options["effect"]
    return [{"effect": effect, "tool": tool, **_score(found)} for tool, found in tools.items()]


def _theirs(path: Path, config: Config) -> list[Line]:
    """What all tools said of each draw, together: each was asked by itself."""
    found: dict[int, Line] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        line = json.loads(text)
        if line["config"] == config.label:
            found[line["seed"]] = found.get(line["seed"], {}) | line
    return [found[seed] for seed in sorted(found)]


def _in_shared_draws(ours: Sequence[Line], folder: Path) -> str:
    """What we find in the draws that wise-pizza saw, too, from the weakest effect on."""
    theirs = [ln for e in EFFECTS for ln in _theirs(folder / "peers.jsonl", _config(e))]
    saw = {(line["config"], line["seed"]) for line in theirs if "wise_pizza" in line}
    found: dict[str, list[tuple[list[str], list[Mapping[str, Any]]]]] = {}
    for line in ours:
        if (line["config"], line["seed"]) in saw and line["config"] != _config(0.0).label:
            found.setdefault(line["config"], []).append((line["planted"], line["rules"]))
    return ", ".join(number(_score(found[label])["found"], 2) for label in sorted(found))


def _at_equal_alarms(configs: Sequence[Config], folder: Path) -> str:
    """What the others find when their own scores must exceed those of 95% of draws without effect.

    A user has no such draws: this says what their rankings are worth, not what they tell.
    """
    by_effect = {c.options["effect"]: _theirs(folder / "peers.jsonl", c) for c in configs}
    body = []
    for tool, name in PEERS.items():
        asked = {e: [ln for ln in lines if tool in ln] for e, lines in by_effect.items()}
        nothing = asked.get(0.0, [])
        if not nothing or not all(
            _has_scores(ln, tool) for lines in asked.values() for ln in lines
        ):
            continue
        strongest = [max((r["score"] for r in line[tool]), default=0.0) for line in nothing]
        bar = float(np.quantile(strongest, 1 - ALARMS))
        for effect, lines in asked.items():
            kept = [(ln["planted"], [r for r in ln[tool] if r["score"] > bar]) for ln in lines]
            if effect and kept:
                score = _score(kept)
                body.append([number(effect, 2), name, score["draws"], number(score["found"], 2)])
    return table(["effect", "tool", "draws", "planted rows found"], sorted(body), text=2)


def _has_scores(line: Line, tool: str) -> bool:
    return all("score" in rule for rule in line[tool])


def _score(found: Sequence[tuple[list[str], list[Mapping[str, Any]]]]) -> dict[str, Any]:
    if not found:
        return {"draws": 0, "found": "", "named": "", "showed": "", "rules": ""}
    overlap = [any(rule["jaccard"] >= SAME for rule in rules) for _, rules in found]
    named = [any(set(rule["columns"]) >= set(columns) for rule in rules)
             for columns, rules in found]  # fmt: skip
    return {
        "draws": len(found),
        "found": statistics.fmean(overlap),
        "named": statistics.fmean(named),
        "showed": statistics.fmean(bool(rules) for _, rules in found),
        "rules": statistics.fmean(len(rules) for _, rules in found),
    }


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["effect", "tool", "draws", "planted rows found", "planted columns named",
            "showed anything", "rules shown"]  # fmt: skip
    body = []
    for row in rows:
        nothing_planted = not row["effect"]
        cells = [
            "–" if nothing_planted and key in ("found", "named") else _number(row[key])
            for key in ("found", "named", "showed", "rules")
        ]
        effect = "none" if nothing_planted else number(row["effect"], 2)
        body.append([effect, row["tool"], row["draws"], *cells])
    return table(head, body, text=2)


def _number(value: float | str) -> str:
    return "not run" if isinstance(value, str) else number(value, 2)


def _coverage(lines: Sequence[Line]) -> str:
    """How many simultaneous intervals of shown rules hold the true contribution."""
    rules = [rule for line in lines for rule in line["rules"]]
    held = sum(rule["low"] <= rule["truth"] <= rule["high"] for rule in rules)
    return f"{held} of {len(rules)} ({held / len(rules):.1%})" if rules else "none shown yet"
