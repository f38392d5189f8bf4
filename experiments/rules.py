"""Planted rules: who finds the rows whose outcomes changed, and who sees rules where none are?

    python -m experiments rules --jobs 2

All see 3,000 source and 3,000 target rows; ours are the rules that are confirmed. What deepchecks
0.19.1, DivExplorer 0.2.6 and wise-pizza 0.2.9 found in the first draws is kept in `peers.jsonl`:
their first five segments, with numbers cut into quarters, which is how the rules are planted, and
of wise-pizza also into sixths, which is how whygap cuts them.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pages import number, table, write_page
from experiments.record import engine_of, engines, made_by
from experiments.replicates import Config, Line, run_missing
from experiments.simulation import Order, Plan, all_lines, pack
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
    """Run what is missing, write the table and the page."""
    folder = order.folder("rules")
    lines: dict[str, list[Line]] = {}
    for config, count in plan(quick=order.quick):
        path = folder / "replicates.jsonl"
        if order.jobs:
            how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
            run_missing(config, range(count), path, job=replicate, **how)
        kept = [ln for ln in all_lines(folder) if ln["config"] == config.label]
        lines[config.label] = list({ln["seed"]: ln for ln in sorted(kept, key=engine_of)}.values())
    pack(folder)
    rows = [row for config, _ in plan(quick=order.quick)
            for row in _scores(config, lines[config.label], folder / "peers.jsonl")]  # fmt: skip
    head = list(rows[0])
    write_whole(folder / "rules.csv",
                comma_separated(head, [row.values() for row in rows], digits=4))  # fmt: skip
    everything = [line for group in lines.values() for line in group]
    note = f"{engines(everything)} Draws are kept in `replicates.jsonl.gz` and `peers.jsonl`."
    alike = _at_equal_alarms([config for config, _ in plan(quick=order.quick)], folder)
    return write_page(folder / "rules.md", order.command("rules"), note, found=_table(rows),
                      alike=alike, intervals=_coverage(everything),
                      shared=_in_shared_draws(everything, folder))  # fmt: skip


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
