"""Years of weeks: how often does watching cry wolf, and how soon does it find a planted shift?

A null year is 52 weeks from the source's own world; the rules allow no loss at all, so that every
alarm is false and the limit is as near as it can be. In a shifted year the outcome begins to follow
the lab value less in week 26; the rules, and MAPIE's `RiskMonitoring` beside them, allow a loss of
two points. Rules are held against results by the same function that `whygap watch` uses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.pages import number, table, write_page
from experiments.record import engine_of, made_by
from experiments.simulation import Order
from whygap._explain import explain_design
from whygap._explain_many import SOURCE_ONLY
from whygap._version import ENGINE
from whygap._watch.alarms import broken, culprit_of
from whygap._watch.rules import Rule, allowance
from whygap.estimate import Estimate
from whygap.learning.menu import Menu
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.settings import Settings
from whygap.study import Study

__all__ = ["SHIFTS", "Year", "mapie_week", "null_year", "run", "shifted_year"]

WEEKS, SHIFTED_FROM = 52, 26
SOURCE_ROWS, WEEK_ROWS = 2000, 300
SLOPE = 1.5  # of the lab value in the outcome's logit, at home
SHIFTS = {"small": 0.9, "medium": 0.5, "large": 0.0}  # the slope after the shift
TOLERATED = 0.02  # a loss of two points
# A rate of .05 among the null years has a standard error of .015.
YEARS = {"medium": 20, "large": 20, "null": 200}
QUICK = {"null": 2, "large": 2}
NOT_FOUND = WEEKS - SHIFTED_FROM + 2  # counted as the week after the last
PARTS = ("gap", "outcome")
MONITORS = ("weeks", "mapie", "mapie_started_then")  # ours, and the rival's two
Year = dict[str, Any]


def week(rows: int, slope: float, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of the world; the model knows the outcome's law at home."""
    age, lab, dose, noise = rng.normal(size=(4, rows))
    rest = 0.3 * age + 0.8 * dose
    risk = 1 / (1 + np.exp(-(rest + SLOPE * lab)))
    y = rng.random(rows) < 1 / (1 + np.exp(-(rest + slope * lab)))
    columns = {"age": age, "lab": lab, "dose": dose, "noise": noise}
    return pd.DataFrame(columns | {"y": y.astype(int), "risk": risk})


def true_loss(slope: float) -> float:
    """Accuracy after the shift less before, by many rows."""
    rng = np.random.default_rng(0)
    after, before = (week(10**6, s, rng) for s in (slope, SLOPE))
    right = [(rows["y"] == (rows["risk"] >= 0.5)).mean() for rows in (after, before)]
    return float(right[0] - right[1])


def rule(part: str, below: float) -> Rule:
    """One rule on one part."""
    return Rule(part="total" if part == "gap" else part, below=below)


def error_at(look: int) -> float:
    """The chance of a false alarm at a look, of 5% over all of them."""
    return allowance(look, 0.05, WEEKS)


@dataclass
class Weeks:
    """Weeks against one source: learners of source fits are chosen in the first."""

    source: pd.DataFrame
    settings: Settings
    first: Menu | None = None

    def parts(self, target: pd.DataFrame) -> dict[str, Estimate]:
        """The gap and its parts."""
        design = self._study(target).design
        menu = Menu(self.settings)
        if self.first is not None:
            known = [kind for kind in SOURCE_ONLY if kind in self.first.choices]
            menu.choices.update({kind: self.first.choices[kind] for kind in known})
            menu.records.extend(record for record in self.first.records if record.name in known)
        found = Analysis.begin(design, self.settings, Silent(), menu).decomposition()
        self.first = self.first or menu
        return {"gap": found.total, **found.parts}

    def named(self, target: pd.DataFrame, part: str) -> tuple[str, ...]:
        """The variables that an alarm on a loss would name."""
        gap = explain_design(self._study(target).design, ("points", "affected"), self.settings)
        return culprit_of(gap, part, -1.0)[0]

    def _study(self, target: pd.DataFrame) -> Study:
        return Study(self.source, target, outcome="y", baseline=["age"], prediction="risk")


def settings_of(seed: int) -> Settings:
    """The fast learner; intervals come from cross-fitting as always."""
    return Settings(learner="fast", seed=seed, progress=False)


def null_year(seed: int) -> Year:
    """First false alarm of each rule: its week, or None; and weeks that plain 95% would report."""
    rng = np.random.default_rng([seed, 1])
    weeks = Weeks(week(SOURCE_ROWS, SLOPE, rng), settings_of(seed))
    first: dict[str, int | None] = dict.fromkeys(PARTS)
    plain = dict.fromkeys(PARTS, 0)
    for look in range(1, WEEKS + 1):
        found = weeks.parts(week(WEEK_ROWS, SLOPE, rng))
        for part in PARTS:
            if (
                first[part] is None
                and broken(rule(part, 0.0), found[part], error_at(look)) is not None
            ):
                first[part] = look
            plain[part] += found[part].interval(0.9)[1] < 0
    return {"first": first, "uncorrected": plain}


def shifted_year(kind: str, seed: int) -> Year:
    """Weeks from the shift to the alarm, ours and MAPIE's; and what ours names."""
    rng = np.random.default_rng([seed, 2])
    source = week(SOURCE_ROWS, SLOPE, rng)
    slopes = [SLOPE if look < SHIFTED_FROM else SHIFTS[kind] for look in range(1, WEEKS + 1)]
    tables = [week(WEEK_ROWS, slope, rng) for slope in slopes]
    weeks, asked = Weeks(source, settings_of(seed)), rule("outcome", -TOLERATED)
    found: int = NOT_FOUND
    named: tuple[str, ...] = ()
    for look in range(SHIFTED_FROM, WEEKS + 1):
        target = tables[look - 1]
        if broken(asked, weeks.parts(target)["outcome"], error_at(look)) is not None:
            found, named = look - SHIFTED_FROM + 1, weeks.named(target, "outcome")
            break
    return {
        "weeks": found,
        "variables": list(named),
        "mapie": mapie_week(source, tables) - SHIFTED_FROM + 1,
        "mapie_started_then": mapie_week(source, tables[SHIFTED_FROM - 1 :]),
    }


def mapie_week(source: pd.DataFrame, tables: list[pd.DataFrame]) -> int:
    """The week in which MAPIE's monitor speaks; the one after the last where it does not.

    Its bound after each row does not depend on later rows, so that one update with all weeks gives
    what weekly updates would.
    """
    from mapie.exchangeability_testing import RiskMonitoring

    monitor = RiskMonitoring(risk="accuracy", tolerance=TOLERATED, warn=False)
    monitor.compute_threshold(*_labels(source))
    monitor.update(*_labels(pd.concat(tables)))
    bounds = monitor.online_risk_lower_bound_sequence_history
    ends = np.cumsum([len(table_) for table_ in tables]) - 1
    spoke = np.flatnonzero(bounds[ends] > monitor.threshold)
    return int(spoke[0]) + 1 if len(spoke) else len(tables) + 1


def _labels(rows: pd.DataFrame) -> tuple[Any, Any]:
    return rows["y"].to_numpy(), (rows["risk"] >= 0.5).astype(int).to_numpy()


def run(order: Order) -> Path:
    """Run the years that are missing, write the page; returns its path."""
    folder = order.folder("monitoring")
    path = folder / "years.jsonl"
    for kind, count in (QUICK if order.quick else YEARS).items():
        job: Callable[[int], Year] = null_year if kind == "null" else partial(shifted_year, kind)
        _keep(kind, job, count, path, order)
    lines = list(_kept(path))
    made = ", ".join(map(str, sorted({engine_of(line) for line in lines}))) or "–"
    note = f"Made by engine {made}. Every year is a line of `years.jsonl`, with its settings."
    nulls = [line for line in lines if line["kind"] == "null"]
    return write_page(
        folder / "monitoring.md",
        order.command("monitoring"),
        note,
        null=null_table(nulls),
        years=len(nulls),
        shifted=shift_table(lines),
    )


def _kept(path: Path) -> Iterator[Year]:
    """One line a year, of the newest engine."""
    texts = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = sorted((json.loads(text) for text in texts), key=engine_of)
    yield from {(line["kind"], line["seed"]): line for line in lines}.values()


def _keep(kind: str, job: Callable[[int], Year], count: int, path: Path, order: Order) -> None:
    done = {
        line["seed"]
        for line in _kept(path)
        if line["kind"] == kind and (not order.anew or engine_of(line) == ENGINE)
    }
    for seed in range(count) if order.jobs else ():
        if seed in done:
            continue
        started = time.process_time()
        found = {"kind": kind, "seed": seed, **job(seed), **made_by(settings_of(seed))}
        found["cpu_seconds"] = round(time.process_time() - started, 2)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found, sort_keys=True) + "\n")
        order.report(f"{kind} {seed}")


def null_table(lines: list[Year]) -> str:
    """Years with any false alarm, and what looking without correction would have done."""
    body = []
    for part in PARTS:
        false = sum(line["first"][part] is not None for line in lines)
        plain = sum(line["uncorrected"][part] > 0 for line in lines)
        rate = false / len(lines) if lines else float("nan")
        body.append([part, len(lines), false, number(rate, 3), plain])
    head = ["rule on", "null years", "with a false alarm", "share", "at 95% without correction"]
    return table(head, body, text=1)


def shift_table(lines: list[Year]) -> str:
    """Weeks to the alarm, in the median and the mean, ours and MAPIE's."""
    body = []
    for kind, slope in SHIFTS.items():
        here = [line for line in lines if line["kind"] == kind]
        if not here:
            continue
        named = [line["variables"] for line in here if line["variables"]]
        body.append([
            kind, number(100 * true_loss(slope), 1), len(here),
            *(_weeks([line[key] for line in here]) for key in MONITORS),
            f"{sum(names[0] == 'lab' for names in named)} of {len(named)}",
            f"{sum('lab' in names for names in named)} of {len(named)}",
            number(float(np.mean([len(names) for names in named])), 1) if named else "–",
        ])  # fmt: skip
    head = ["shift", "true loss, points", "years", "whygap", "MAPIE", "MAPIE, begun in week 26",
            "`lab` comes first", "`lab` is named", "variables named, of 4"]  # fmt: skip
    return table(head, body, text=1)


def _weeks(found: list[int]) -> str:
    median, missed = float(np.median(found)), sum(weeks >= NOT_FOUND for weeks in found)
    never = f", not in the year: {missed}" if missed else ""
    return f"{median:.0f} (mean {np.mean(found):.1f}{never})"
