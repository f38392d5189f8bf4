"""The case study of people at work: every metric at a glance, the first of a question in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.case_kept import kept_gap
from experiments.case_page import tidy
from experiments.pages import LEVEL, interval, number, render, signed, table, write_page
from experiments.simulation import Order
from experiments.workers import HOME, QUESTIONS, STATES, Question, workers_study
from whygap._version import ENGINE
from whygap.render.plot import save_figure
from whygap.render.text import headline, section_texts
from whygap.render.units import metric_name
from whygap.results import Gap
from whygap.results.files import write_whole
from whygap.settings import Settings

__all__ = ["run"]

IN_FULL = ("points", "affected", "recoverable")  # of the first metric of a question
BESIDE = ("points",)  # of the others: who is hit and the budgets would be told twice
QUICK_ROWS = 600
SHOWN = 4  # variables of a part in a figure


@dataclass(frozen=True)
class Told:
    """One explained comparison."""

    question: Question
    metric: str
    state: str
    gap: Gap

    @property
    def slug(self) -> str:
        """For file names."""
        return f"{self.question.name}_{self.metric}_{self.state.lower()}"


def run(order: Order) -> Path:
    """Explain every question, metric and state; write tables, figures and the page."""
    folder = order.folder("casestudy_workers")
    told = [
        _explained(question, metric, state, order)
        for question in QUESTIONS.values()
        for metric in question.metrics[: 1 if order.quick else None]
        for state in [code for code in STATES if code != HOME][: 1 if order.quick else None]
    ]
    for one in told:
        write_whole(folder / f"{one.slug}.csv", tidy(one.gap))
    return write_page(
        folder / "casestudy_workers.md",
        order.command("casestudy workers --data DIR"),
        f"Made by engine {ENGINE}. Every estimate is in the `.csv` files.",
        quick=order.quick,
        overview=_overview(told),
        sections=[_section(question, told, folder) for question in QUESTIONS.values()],
    )


def _explained(question: Question, metric: str, state: str, order: Order) -> Told:
    order.report(f"workers: {metric} of {question.column}, {STATES[state]}")
    study = workers_study(order.data, question, metric, state, QUICK_ROWS if order.quick else None)
    folder = order.output / "artefacts" / order.folder("casestudy_workers").name
    detail = IN_FULL if metric == question.metrics[0] else BESIDE
    learner = "fast" if order.quick else "auto"
    settings = Settings(learner=learner, n_jobs=max(order.jobs, 1), progress=False)
    place = folder / f"{question.name}_{metric}_{state.lower()}"
    return Told(question, metric, state, kept_gap(study, settings, place, order.report, detail))


def _overview(told: list[Told]) -> str:
    """All comparisons at a glance; a part that can be told from 0 is bold."""
    lines = []
    for one in told:
        gap = one.gap
        move = f"{number(gap.source.value)} to {number(gap.target.value)}"
        cells = [interval(part) for part in (gap.total, *gap.parts.values())]
        lines.append(
            [one.question.column, metric_name(one.gap.about), STATES[one.state], move, *cells]
        )
    head = [
        "outcome",
        "metric",
        "state",
        "from Ohio",
        "change",
        "baseline",
        "covariates",
        "outcome",
    ]
    return table(head, lines, text=3)


def _section(question: Question, told: list[Told], folder: Path) -> str:
    """A question in words, by its first metric."""
    here = [one for one in told if one.question == question and one.metric == question.metrics[0]]
    save_figure(here[0].gap.plot(level=LEVEL, top=SHOWN), folder / f"{here[0].slug}.svg")
    stories = {
        STATES[one.state]: [
            *headline(one.gap, one.gap.findings(LEVEL)),
            *section_texts(one.gap, one.gap.findings(LEVEL))["recoverable"][1:3],
        ]
        for one in here
    }
    return render(
        "workers_section.md",
        question=question,
        stories=stories,
        clear={
            STATES[one.state]: _clear_parts([t for t in told if _same_place(t, one)])
            for one in here
        },
        figure=f"{here[0].slug}.svg",
    ).strip()


def _same_place(one: Told, other: Told) -> bool:
    return (one.question, one.state) == (other.question, other.state)


def _clear_parts(told: list[Told]) -> dict[str, list[str]]:
    """Metrics by which a part can be told from 0, with what they say."""
    found: dict[str, list[str]] = {}
    for one in told:
        for part, estimate in one.gap.parts.items():
            if estimate.excludes_zero(LEVEL):
                said = f"{metric_name(one.gap.about)} {signed(estimate.value, 3)}"
                found.setdefault(part, []).append(said)
    return found
