"""The power table: in real comparisons, how many variables are clear, and is the first told apart?

Every comparison is analysed once with the fast learner. The paper's shares, which cost minutes and
more, are those that the case studies keep (default learners, 128 subsets); the demo's are computed
here. Finished lines are kept, and what an analysis says in words, for
`stories`; the tables are read from the folder the user names, and nothing of them is kept.
"""

from __future__ import annotations

import csv
import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from experiments.cases import Move, data_folder, insurance_study, readmission_study
from experiments.pages import LEVEL, Measured, number, table, write_page
from experiments.record import engine_of, made_by
from experiments.simulation import Order
from experiments.summary import comma_separated
from whygap._explain import explain
from whygap._version import ENGINE
from whygap.datasets import load_employment
from whygap.results import Gap, Points, Shares
from whygap.results.files import write_whole
from whygap.settings import Settings
from whygap.study import Study

__all__ = ["COMPARISONS", "QUESTIONS", "Answer", "answers", "run"]

DEMO = "employment (demo)"
NOT_KEPT = -1  # how many are tied, where a case study does not say
QUESTIONS = {
    "points baseline": "points of W",
    "points covariate": "points of Z",
    "recoverable here": "what can be won back",
    "covariate": "the paper's covariate shares",
    "outcome": "the paper's outcome shares",
}
MOVES = (
    Move("NE", "WV"),
    Move("NE", "NM"),
    Move("NE", "WY"),
    Move("NE", "NE", 2018, 2024),
    Move("KS", "LA", 2024, 2024),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question has to say about one comparison.

    Attributes:
        question: a key of `QUESTIONS`.
        variables: how many there are.
        clear: how many have an interval without 0.
        first: the largest by size, "" where there is none to name.
        value: of the first, with `low` and `high`.
        tied_with: how many others may be first as well (`Points.first`), or `NOT_KEPT`.
        defined: False where the paper's denominator cannot be told from 0.
    """

    comparison: str
    question: str
    variables: int
    clear: int
    first: str
    value: float
    low: float
    high: float
    tied_with: int
    defined: bool
    seconds: float


def _insurance(move: Move) -> Callable[[Path | None], Study]:
    return lambda data: insurance_study(data, move)


COMPARISONS: dict[str, Callable[[Path | None], Study]] = {
    DEMO: lambda _: load_employment().study(),
    **{f"insurance, {move.name}": _insurance(move) for move in MOVES},
    "readmission, 3,750 each": lambda data: readmission_study(data, rows=3750),
    "readmission, 16,000 each": lambda data: readmission_study(data, rows=16000),
}


def run(order: Order) -> Path:
    """Analyse what is missing, write the table and the page; returns its path."""
    folder = order.folder("power")
    if order.jobs and not order.quick:
        data_folder(order.data)
    for name, study in list(COMPARISONS.items())[: 1 if order.quick else None]:
        shares = ("shares",) if name == DEMO else ()
        _keep(
            name,
            study,
            ("points", "affected", "recoverable", *shares),
            folder / "answers.jsonl",
            order,
        )
    found = _kept(folder / "answers.jsonl")
    lines = [Answer(**{f.name: line[f.name] for f in fields(Answer)}) for line in found]
    lines += _from_case_studies(order.output)
    head = [f.name for f in fields(Answer)]
    body = [[getattr(line, name) for name in head] for line in lines]
    write_whole(folder / "power.csv", comma_separated(head, body, digits=5))
    made = ", ".join(map(str, sorted({engine_of(line) for line in found}))) or "–"
    note = (
        f"Made by engine {made}, the case studies' shares by the engine their pages name. Answers "
        "are kept in `answers.jsonl`, with the settings and versions that made them; the table "
        "behind the page is `power.csv`."
    )
    command = order.command("power --data DIR")
    return write_page(folder / "power.md", command, note, table=power_table(lines),
                      firsts=first_table(lines))  # fmt: skip


def _kept(path: Path) -> list[dict[str, Any]]:
    """One line per comparison and question, of the newest engine, in their order."""
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    newest = {(line["comparison"], line["question"]): line for line in sorted(lines, key=engine_of)}
    keys = [(name, question) for name in COMPARISONS for question in QUESTIONS]
    return [newest[key] for key in keys if key in newest]


def _keep(
    name: str, study: Callable[[Path | None], Study], asked: tuple[str, ...], path: Path, o: Order
) -> None:
    """Ask one comparison some questions unless their answers are kept."""
    kept = [ln for ln in _kept(path) if ln["comparison"] == name]
    there = {ln["question"] for ln in kept if not o.anew or engine_of(ln) == ENGINE}
    wanted = [q for one in asked for q in (("covariate", "outcome") if one == "shares" else (one,))]
    told = [q for q in wanted if q != "affected"]
    if not o.jobs or all(any(q.startswith(one) for q in there) for one in told):
        return
    o.report(f"{name}: {', '.join(asked)}")
    settings = Settings(learner="fast", n_jobs=o.jobs, progress=False)
    started = time.monotonic()
    gap = explain(study(o.data), detail=asked, settings=settings)
    seconds = time.monotonic() - started
    with path.open("a", encoding="utf-8") as file:
        for answer in answers(name, gap, seconds):
            line = asdict(answer) | made_by(settings)
            file.write(json.dumps(line, sort_keys=True, default=float) + "\n")
    story = {"comparison": name, "text": gap.summary(), **made_by(settings)}
    with path.with_name("stories.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(story, sort_keys=True) + "\n")


def answers(comparison: str, gap: Gap, seconds: float) -> list[Answer]:
    """What an analysis says, question by question."""
    found = {f"points {part}": points for part, points in gap.points.items()}
    if gap.recoverable and gap.recoverable.variables:
        found["recoverable here"] = gap.recoverable.variables
    said = [_answer(comparison, question, joint, seconds) for question, joint in found.items()]
    return said + [_share_answer(comparison, solved, seconds) for solved in gap.shares.values()]


def _share_answer(comparison: str, solved: Shares, seconds: float) -> Answer:
    if solved.defined:
        return _answer(comparison, solved.part, solved.values, seconds)
    return _undefined(comparison, solved.part, len(solved.players), seconds)


def _undefined(comparison: str, question: str, variables: int, seconds: float) -> Answer:
    nan = math.nan
    return Answer(comparison, question, variables, 0, "", nan, nan, nan, NOT_KEPT, False, seconds)


def _answer(comparison: str, question: str, joint: Points, seconds: float) -> Answer:
    first = joint.largest_first()[0]
    measured = Measured.of(joint[first])
    return Answer(
        comparison, question, len(joint), len(joint.significant(LEVEL)), first, measured.value,
        measured.low, measured.high, _tied_with(joint, first), True, seconds,
    )  # fmt: skip


def _tied_with(joint: Points, first: str) -> int:
    """Others that may be first: the largest, or the lowest where the first is negative."""
    may_be = joint.first(LEVEL, lowest=joint[first].value < 0)
    return sum(name != first for name in may_be)


def _from_case_studies(evidence: Path) -> list[Answer]:
    """The paper's shares as the case studies keep them."""
    files = {f"insurance, {move.name}": ("insurance", move.name) for move in MOVES}
    files |= {
        f"readmission, {rows} each": ("readmission", f"{rows} encounters each")
        for rows in ("3,750", "16,000")
    }
    found = []
    for comparison, (case, name) in files.items():
        folder = evidence / f"casestudy_{case}"
        path = folder / f"{name.lower().replace(' ', '_').replace(',', '')}.csv"
        if path.exists():
            page = (folder / f"{folder.name}.md").read_text(encoding="utf-8")
            found += [_kept_shares(comparison, part, path, _ties(page, name, part))
                      for part in ("covariate", "outcome")]  # fmt: skip
    return found


def _ties(page: str, name: str, part: str) -> int:
    """What the overview of a case study says of the outcome; it does not say it of the other."""
    row = re.search(
        rf"^\| {re.escape(name)} \|.*\| [^|]*(tied with (\d+)|alone) \|$", page, re.MULTILINE
    )
    return int(row[2] or 0) if row and part == "outcome" else NOT_KEPT


def _kept_shares(comparison: str, part: str, path: Path, ties: int) -> Answer:
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["part"] == part]
    shares = {
        line["term"]: Measured(*(float(line[k]) for k in ("estimate", "low", "high")))
        for line in lines
        if not line["term"].startswith("(")
    }
    if all(math.isnan(share.value) for share in shares.values()):
        return _undefined(comparison, part, len(shares), math.nan)
    first = max(shares, key=lambda name: abs(shares[name].value))
    clear = sum(share.sign != 0 for share in shares.values())
    largest = shares[first]
    return Answer(comparison, part, len(shares), clear, first, largest.value, largest.low,
                  largest.high, ties, True, math.nan)  # fmt: skip


def power_table(found: list[Answer]) -> str:
    """Comparisons by questions: how many are clear, and with how many the first is tied."""
    by_key = {(answer.comparison, answer.question): answer for answer in found}
    body = [
        [name, *(_cell(by_key.get((name, question))) for question in QUESTIONS)]
        for name in COMPARISONS
    ]
    return table(["comparison", *QUESTIONS.values()], body, text=len(QUESTIONS) + 1)


def _cell(answer: Answer | None) -> str:
    if answer is None:
        return "not run"
    if not answer.defined:
        return "undefined"
    clear = f"{answer.clear} of {answer.variables} clear"
    if answer.variables == 1 or answer.tied_with == NOT_KEPT:
        return clear
    return f"{clear}; first {f'tied with {answer.tied_with}' if answer.tied_with else 'told apart'}"


def first_table(found: list[Answer]) -> str:
    """The first variable of every question, with its interval."""
    body = [
        [a.comparison, QUESTIONS[a.question], a.first, number(a.value, 4),
         f"{number(a.low, 4)} to {number(a.high, 4)}", number(a.seconds, 0)]
        for a in found if a.defined
    ]  # fmt: skip
    head = ["comparison", "question", "first", "estimate", "95% interval", "wall seconds"]
    return table(head, body, text=3)
