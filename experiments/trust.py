"""How far to trust it: one chart per question, from the tables of all coverage experiments.

Nothing is run here. Every experiment that asks whether intervals hold keeps a `summary.csv`; this
page gathers them by the question a user asks, and says in words where intervals are weak.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from experiments.pages import number, table, write_page
from experiments.recheck import rests_on
from experiments.simulation import Order
from experiments.summary import Row

__all__ = ["QUESTIONS", "Cell", "gathered", "means_beside_published", "run"]

FROM = {
    "coverage": "the paper's world",
    "culprits": "worlds of points, groups, budgets",
    "metrics": "other metrics",
    "untuned": "a world nobody tuned to",
    "semisynthetic": "real rows, known truth",
    "judging": "real rows that judge",
    "partial_overlap": "partly shared ground",
    "shares": "the paper's comparison worlds",
}
QUESTIONS = {
    "parts": "Where does the gap come from?",
    "points": "How many points does each variable cost?",
    "where": "Who is hit?",
    "recoverable": "What can be won back?",
    "values": "The paper's values and shares of single variables",
}
ASKED = 0.9  # the level of every interval on these pages
# Made by whygap.paper, or by engine 9
AS_PUBLISHED = ("published=fast", "risk_uncertainty=False, twins=False")
OWN = ("defaults", "learner=fast", "learner=fast, support=auto", "subsets=160")


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of an experiment's table, with the experiment and the question it answers."""

    experiment: str
    question: str
    row: Row

    @property
    def rows(self) -> int:
        """Of the smaller table."""
        return min(self.row.rows_source, self.row.rows_target)

    @property
    def ours(self) -> bool:
        """Made by whygap as it is, not by a variant of it."""
        return self.row.settings in OWN

    @property
    def as_published(self) -> bool:
        """Made by the method as published."""
        return self.row.settings in AS_PUBLISHED


def question_of(quantity: str) -> str | None:
    """Which question a quantity answers; None for what users are not shown."""
    first, second = quantity.split()[:2]
    if first in ("points", "where", "recoverable"):
        return first
    if first == "aggregate":
        return "parts"
    single = second == "share" or (
        second == "value" and "," not in quantity and "{}" not in quantity
    )
    return "values" if single else None


def gathered(evidence: Path) -> list[Cell]:
    """Every cell that was shown in at least one draw."""
    found = []
    for experiment in FROM:
        path = evidence / experiment / "summary.csv"
        for row in _read(path) if path.exists() else ():
            question = question_of(row.quantity)
            if question and row.verdict != "never shown":
                found.append(Cell(experiment, question, row))
    return found


def _read(path: Path) -> list[Row]:
    text = {"config", "world", "metric", "settings", "quantity", "verdict"}
    whole = {"rows_source", "rows_target", "replicates", "undefined"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(**{
                f.name: line[f.name] if f.name in text
                else int(line[f.name]) if f.name in whole
                else float(line[f.name] or "nan")
                for f in fields(Row)
            })
            for line in csv.DictReader(file)
        ]  # fmt: skip


def run(order: Order) -> Path:
    """Gather, draw, write the page; returns its path."""
    from experiments.figures import save_figure, trust_figure

    folder = order.folder("trust")
    cells = gathered(order.output)
    pictures = {}
    for question, title in QUESTIONS.items():
        here = [cell for cell in cells if cell.question == question]
        if any(cell.ours for cell in here):
            save_figure(trust_figure(here, FROM), folder / f"trust_{question}.svg")
            pictures[question] = title
    note = "Gathered from the tables behind the other pages, each of which says what made it. "
    note += rests_on(order.output, list(FROM))
    return write_page(
        folder / "trust.md", order.command("trust"), note, pictures=pictures,
        answers={question: _answer(cells, question) for question in pictures},
        summary=_summary(cells), weak=_weak(cells), **means_beside_published(cells),
    )  # fmt: skip


def _own(cells: Sequence[Cell], question: str) -> list[Cell]:
    return [cell for cell in cells if cell.question == question and cell.ours]


def _answer(cells: Sequence[Cell], question: str) -> dict[str, Any]:
    """Of one question: how many cells, their mean coverage, how many lie below the band."""
    found = [cell.row for cell in _own(cells, question)]
    below = [row for row in found if row.verdict == "below"]
    return {
        "cells": len(found),
        "mean": number(statistics.fmean(row.coverage for row in found), 2),
        "below": {0: "None lies", 1: "One lies"}.get(len(below), f"{len(below)} lie"),
        "lowest": number(min(row.coverage for row in found), 2),
    }


def _summary(cells: Sequence[Cell]) -> str:
    """Questions by worlds: how often the intervals hold, on average, and in the worst cell."""
    used = [name for name in FROM if any(c.experiment == name and c.ours for c in cells)]
    lines = []
    for name in used:
        line = [f"[{FROM[name]}](../{name}/{name}.md)"]
        for question in QUESTIONS:
            here = [c.row.coverage for c in _own(cells, question) if c.experiment == name]
            worst = f"{number(statistics.fmean(here), 2)} ({number(min(here), 2)})" if here else ""
            line.append(worst)
        lines.append(line)
    return table(["world", *QUESTIONS.values()], lines)


def _weak(cells: Sequence[Cell]) -> str:
    """Every cell below its band, the lowest first."""
    below = [c for q in QUESTIONS for c in _own(cells, q) if c.row.verdict == "below"]
    lines = [
        [
            FROM[c.experiment],
            c.row.quantity,
            c.row.metric,
            f"{c.row.rows_source:,} + {c.row.rows_target:,}",
            number(c.row.coverage, 2),
            number(c.row.bias_over_sd, 2),
            c.row.replicates,
        ]
        for c in sorted(below, key=lambda c: c.row.coverage)
    ]
    head = ["world", "quantity", "metric", "rows", "holds", "bias, sd", "draws"]
    return table(head, lines, text=3)


def means_beside_published(cells: Sequence[Cell]) -> dict[str, str]:
    """Mean coverage of values in the paper's world, ours and as published, at the same sizes."""
    values = [c for c in cells if c.experiment == "coverage" and c.row.metric == "accuracy"]
    values = [c for c in values if c.question == "values" and " value " in c.row.quantity]
    published = [c.row for c in values if c.as_published]
    sizes = {row.rows_source for row in published}
    own = [c.row for c in values if c.row.settings == "defaults" and c.row.rows_source in sizes]
    means = {"ours": own, "published": published}
    return {
        name: number(statistics.fmean(row.coverage for row in rows), 2) if rows else "–"
        for name, rows in means.items()
    }
