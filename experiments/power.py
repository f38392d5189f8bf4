"""The power table: in real comparisons, how many variables are clear, and is the first told apart?

Every comparison is analysed once with the fast learner: points and what can be won back as
`explain` does them, the paper's shares with fewer subsets (they cost minutes). Finished lines are
kept; the tables are read from the folder the user names, and nothing of them is kept.
"""

from __future__ import annotations

import json
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
from whygap.results import Detailed, Gap, Joint
from whygap.settings import Settings
from whygap.storage.files import write_whole
from whygap.study import Study

__all__ = ["COMPARISONS", "QUESTIONS", "Answer", "answers", "run"]

SUBSETS_OF_SHARES = 64  # of the paper's shares: two per variable; their sampling error is counted
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
        tied_with: how many others the rank intervals do not tell apart from the first.
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
    "employment (demo)": lambda _: load_employment().study(),
    **{f"insurance, {move.name}": _insurance(move) for move in MOVES},
    "readmission, 3,750 each": lambda data: readmission_study(data, rows=3750),
    "readmission, 16,000 each": lambda data: readmission_study(data, rows=16000),
}


def run(order: Order) -> Path:
    """Analyse what is missing, write the table and the page; returns its path."""
    folder = order.folder("power")
    if order.jobs and not order.quick:
        data_folder(order.data)
    for asked in (("points", "recoverable"), ("covariate", "outcome")):
        for name, study in list(COMPARISONS.items())[: 1 if order.quick else None]:
            _keep(name, study, asked, folder / "answers.jsonl", order)
    found = _kept(folder / "answers.jsonl")
    lines = [Answer(**{f.name: line[f.name] for f in fields(Answer)}) for line in found]
    head = [f.name for f in fields(Answer)]
    body = [[getattr(line, name) for name in head] for line in lines]
    write_whole(folder / "power.csv", comma_separated(head, body, digits=5))
    made = ", ".join(map(str, sorted({engine_of(line) for line in found}))) or "–"
    note = (
        f"Made by engine {made}. Answers are kept in `answers.jsonl`, with the settings and "
        "versions that made them; the table behind the page is `power.csv`."
    )
    command = order.command("power --data DIR")
    return write_page(folder / "power.md", command, note, table=power_table(lines),
                      firsts=first_table(lines), subsets=SUBSETS_OF_SHARES)  # fmt: skip


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
    if not o.jobs or any(question.startswith(asked) for question in there):
        return
    o.report(f"{name}: {', '.join(asked)}")
    few = "covariate" in asked
    settings = Settings(learner="fast", n_jobs=o.jobs, progress=False,
                        subsets=SUBSETS_OF_SHARES if few else "auto")  # fmt: skip
    started = time.monotonic()
    gap = explain(study(o.data), asked, settings)
    seconds = time.monotonic() - started
    with path.open("a", encoding="utf-8") as file:
        for answer in answers(name, gap, seconds):
            line = asdict(answer) | made_by(settings)
            file.write(json.dumps(line, sort_keys=True, default=float) + "\n")


def answers(comparison: str, gap: Gap, seconds: float) -> list[Answer]:
    """What an analysis says, question by question."""
    found: dict[str, Joint] = {}
    if gap.points:
        found |= {f"points {part}": joint for part, joint in gap.points.parts().items() if joint}
    if gap.recoverable and gap.recoverable.here.variables:
        found["recoverable here"] = gap.recoverable.here.variables
    said = [_answer(comparison, question, joint, seconds) for question, joint in found.items()]
    return said + [_share_answer(comparison, solved, seconds) for solved in gap.details().values()]


def _share_answer(comparison: str, solved: Detailed, seconds: float) -> Answer:
    if solved.defined:
        return _answer(comparison, solved.part, solved.joint(), seconds)
    nan = float("nan")
    none = len(solved.players)
    return Answer(comparison, solved.part, none, 0, "", nan, nan, nan, none - 1, False, seconds)


def _answer(comparison: str, question: str, joint: Joint, seconds: float) -> Answer:
    first = joint.largest_first()[0]
    measured = Measured.of(joint[first])
    return Answer(
        comparison, question, len(joint), len(joint.clear(LEVEL)), first, measured.value,
        measured.low, measured.high, _tied_with(joint, first), True, seconds,
    )  # fmt: skip


def _tied_with(joint: Joint, first: str) -> int:
    """Others that may have the first's rank: the largest, or the smallest where it is negative."""
    ranks = joint.ranking(LEVEL)
    if joint[first].value >= 0:
        return sum(rank.best == 1 for name, rank in ranks.items() if name != first)
    return sum(rank.worst == len(ranks) for name, rank in ranks.items() if name != first)


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
    if answer.variables == 1:
        return clear
    return f"{clear}; first {f'tied with {answer.tied_with}' if answer.tied_with else 'told apart'}"


def first_table(found: list[Answer]) -> str:
    """The first variable of every question, with its interval."""
    body = [
        [a.comparison, QUESTIONS[a.question], a.first, number(a.value, 4),
         f"{number(a.low, 4)} to {number(a.high, 4)}", f"{a.seconds:.0f}"]
        for a in found if a.defined
    ]  # fmt: skip
    head = ["comparison", "question", "first", "estimate", "95% interval", "wall seconds"]
    return table(head, body, text=3)
