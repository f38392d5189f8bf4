"""A fair test: every other tool that could be installed, on the same draws, in one table.

    WHYGAP_PEERS=DIR/bin/python python -m experiments fair       notes the versions installed there

Nothing else is run here: the numbers come from `naming`, `graph`, `rules` and `coverage`, which run
the tools themselves. A tool that does not do a task has an empty cell.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from experiments.pages import number, table, write_page
from experiments.recheck import rests_on
from experiments.simulation import Order
from whygap.results.files import write_whole

__all__ = ["run"]

PACKAGES = ("dowhy", "deepchecks", "DivExplorer", "wise-pizza")
ASK = """
import json, sys
from importlib.metadata import version
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """What it is called on this page, and on those of `naming`, `graph` and `rules`."""

    title: str
    package: str = ""
    naming: str = ""
    graph: str = ""
    rules: str = ""


TOOLS = (
    Tool("**whygap**", naming="whygap", graph="whygap, without the graph", rules="whygap"),
    Tool("DoWhy, given the causal graph", "dowhy", graph="dowhy, its defaults"),
    Tool("DoWhy, graph, squares and products", "dowhy", graph="dowhy, squares and products"),
    Tool("Shapley values over the graph", graph="Shapley values over the graph"),
    Tool("drift test per column", "scipy", naming="drift"),
    Tool("change of SHAP values", "lightgbm", naming="shap"),
    Tool("Oaxaca-Blinder", naming="oaxaca"),
    Tool("deepchecks, weak segments", "deepchecks", rules="deepchecks, weak segments"),
    Tool("DivExplorer", "DivExplorer", rules="DivExplorer"),
    Tool("wise-pizza", "wise-pizza", rules="wise-pizza"),
)
HEAD = (
    "tool",
    "version",
    "points of each column: error with 2,000, 8,000 rows",
    "90% intervals hold",
    "guilty column named: other rows",
    "other outcomes",
    "innocent blamed: nothing changed",
    "harmless drift",
    "beside the guilty one, other rows",
    "other outcomes",
    "planted rule found (weak, middling, strong)",
    "shows rules where nothing changed",
    "CPU s",
)


def run(order: Order) -> Path:
    """Note versions where an environment is named; gather; write the page."""
    folder = order.folder("fair")
    versions = _versions(folder / "versions.json")
    naming, graph, rules = (
        _read(order.output / name / f"{name}.csv") for name in ("naming", "graph", "rules")
    )
    lines = [_line(tool, versions, naming, graph, rules) for tool in TOOLS]
    note = "Gathered from the tables of the pages named, each of which says what made it. "
    note += rests_on(order.output, ("naming", "graph", "rules", "coverage"))
    command = order.command("fair")
    return write_page(folder / "fair.md", command, note, found=table(HEAD, lines, text=2),
                      draws=_draws(naming, graph, rules), **_published(order.output))  # fmt: skip


def _versions(path: Path) -> dict[str, str]:
    """Those noted before, and those of the environment named now."""
    noted: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    interpreter = os.environ.get("WHYGAP_PEERS")
    if interpreter:
        said = subprocess.run(  # noqa: S603 - the user's own interpreter
            [interpreter, "-I", "-c", ASK, *PACKAGES], capture_output=True, text=True, check=True
        )
        noted |= json.loads(said.stdout) | {name: version(name) for name in ("scipy", "lightgbm")}
        write_whole(path, json.dumps(noted, indent=1, sort_keys=True) + "\n")
    return noted


def _read(path: Path) -> Rows:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _line(
    tool: Tool, versions: Mapping[str, str], naming: Rows, graph: Rows, rules: Rows
) -> list[str]:
    said = f"{tool.package} {versions[tool.package]}" if tool.package in versions else "this one"
    points = [r for r in graph if r["graph"] == "independent" and r["method"] == tool.graph]
    stories = {r["story"]: r for r in naming if r["method"] == tool.naming}
    planted = {float(r["effect"]): r for r in rules if r["tool"] == tool.rules}
    return [
        tool.title, said, *_points(points),
        _cell(stories, "other rows", "named"), _cell(stories, "other outcomes", "named"),
        _cell(stories, "nothing", "false"), _cell(stories, "harmless drift", "false"),
        _cell(stories, "other rows", "false"), _cell(stories, "other outcomes", "false"),
        " ".join(_share(planted[e]["found"]) for e in sorted(planted) if e),
        _share(planted[0.0]["showed"]) if 0.0 in planted else "",
        _cell(stories, "nothing", "seconds"),
    ]  # fmt: skip


def _points(rows: Rows) -> tuple[str, str]:
    """By the number of rows: root mean squared error over columns and draws; mean coverage."""
    errors, covered = [], []
    for size in sorted({int(r["rows"]) for r in rows}):
        mine = [r for r in rows if int(r["rows"]) == size and int(r["draws"])]
        errors.append(number(100 * math.sqrt(_mean([float(r["rmse"]) ** 2 for r in mine])), 2))
        covered.append(number(_mean([float(r["coverage"]) for r in mine]), 2))
    none = all(math.isnan(float(r["coverage"])) for r in rows)
    return " ".join(errors), "none given" if rows and none else " ".join(covered)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _cell(rows: Mapping[str, Mapping[str, str]], story: str, name: str) -> str:
    return _share(rows[story][name]) if story in rows else ""


def _share(text: str) -> str:
    return number(float(text), 2) if text else ""


def _draws(naming: Rows, graph: Rows, rules: Rows) -> dict[str, int]:
    """The fewest draws behind a cell of each page."""
    pages = {"naming": naming, "graph": graph, "rules": rules}
    counts = {name: [int(r["draws"]) for r in rows] for name, rows in pages.items()}
    return {name: min((n for n in found if n), default=0) for name, found in counts.items()}


def _published(evidence: Path) -> dict[str, str]:
    """Coverage of single variables' values: ours, and the released method's intervals."""
    from experiments.trust import gathered, means_beside_published

    return means_beside_published(gathered(evidence))
