"""The paper's case studies on open data: insurance across states, readmission with heart failure.

Each case is explained, shown beside its rivals, and acted upon. Finished analyses are kept under
`artefacts/`, so that a stopped run goes on where it was (see `experiments.case_kept`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from experiments.case_kept import Beside, kept
from experiments.case_page import (
    INSURANCE,
    NULL,
    READMISSION,
    Paper,
    case_section,
    overview_table,
    tidy,
    verdict,
)
from experiments.cases import Move, data_folder, insurance_study, readmission_study
from experiments.louisiana import louisiana_table
from experiments.pages import write_page
from experiments.simulation import Order
from whygap._version import ENGINE
from whygap.errors import InputError, SettingsError, did_you_mean
from whygap.results import Gap
from whygap.results.files import write_whole
from whygap.settings import Settings
from whygap.study import Study

__all__ = ["CASES", "Comparison", "Place", "analysed", "case_settings", "run"]


@dataclass(frozen=True)
class Place:
    """Where tables come from, and how large the analysis may be."""

    data: Path | None
    artefacts: Path
    quick: bool

    @classmethod
    def of(cls, order: Order) -> Place:
        """As the command line says."""
        return cls(order.data, order.output / "artefacts", order.quick)


@dataclass(frozen=True)
class Comparison:
    """Two tables, and what the paper would lead us to expect of them."""

    name: str
    study: Callable[[Place], Study]
    expected: Paper
    optional: bool = False

    @property
    def slug(self) -> str:
        """For file names."""
        return self.name.lower().replace(" ", "_").replace(",", "")


def run(order: Order, case: str = "insurance") -> Path:
    """Explain every comparison of a case, write tables, figures and the page."""
    if case not in CASES:
        raise SettingsError(
            f"There is no case study '{case}'",
            hint=did_you_mean(case, CASES) or f"Case studies are: {', '.join(CASES)}.",
        )
    data_folder(order.data)
    page, place = _Page(case, order), Place.of(order)
    for comparison in CASES[case][: 1 if order.quick else None]:
        order.report(f"{case}: {comparison.name}")
        try:
            study = comparison.study(place)
        except InputError as error:
            if not comparison.optional:
                raise
            order.report(f"  left out: {error}")
            page.sections[comparison.name] = ""
        else:
            page.add(comparison, *analysed(study, comparison, case, order))
    return page.write()


def analysed(study: Study, comparison: Comparison, case: str, order: Order) -> tuple[Gap, Beside]:
    """The kept results of a comparison, after computing what is missing."""
    name = order.folder(f"casestudy_{case}").name
    folder = Place.of(order).artefacts / name / comparison.slug
    return kept(study, case_settings(order.quick, order.jobs), folder, order.report)


def case_settings(quick: bool, jobs: int) -> Settings:
    """How every comparison of a case is analysed."""
    if quick:
        return Settings(learner="fast", subsets=64, n_jobs=max(jobs, 1), progress=False)
    return Settings(subsets=128, n_jobs=max(jobs, 1), progress=False)


@dataclass
class _Page:
    """The page grows by one section per comparison and is whole after each."""

    case: str
    order: Order
    found: list[tuple[str, Gap]] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)

    def add(self, comparison: Comparison, gap: Gap, beside: Beside) -> None:
        folder, name, slug = self.folder, comparison.name, comparison.slug
        write_whole(folder / f"{slug}.csv", tidy(gap))
        self.found.append((name, gap))
        words = verdict(gap, beside, comparison.expected)
        self.sections[name] = case_section(name, slug, gap, beside, folder, words)
        self.write()

    @property
    def folder(self) -> Path:
        return self.order.folder(f"casestudy_{self.case}")

    def write(self) -> Path:
        return write_page(
            self.folder / f"casestudy_{self.case}.md",
            self.order.command(f"casestudy {self.case} --data DIR"),
            f"Made by engine {ENGINE}. Every estimate is in the `.csv` files.",
            quick=self.order.quick,
            overview=overview_table(self.found) if self.found else "",
            sections=self.sections,
        )


def _insurance(move: Move, expected: Paper) -> Comparison:
    def study(place: Place) -> Study:
        rows = (1200, 1200) if place.quick else (3000, 6000)
        return insurance_study(place.data, move, rows=rows)

    return Comparison(move.name, study, expected)


def _louisiana(place: Place) -> Study:
    table = louisiana_table(place.artefacts / "folktables")
    return insurance_study(place.data, Move("NE", "LA"), table=table)


def _readmission(rows: int) -> Comparison:
    def study(place: Place) -> Study:
        return readmission_study(place.data, rows=1200 if place.quick else rows)

    return Comparison(f"{rows:,} encounters each", study, READMISSION)


CASES: dict[str, tuple[Comparison, ...]] = {
    "insurance": (
        _insurance(Move("NE", "WV"), INSURANCE),
        _insurance(Move("NE", "NM"), INSURANCE),
        _insurance(Move("NE", "WY"), NULL),
        _insurance(Move("NE", "NE", 2018, 2024), INSURANCE),
        _insurance(Move("KS", "LA", 2024, 2024), INSURANCE),
        Comparison("NE to LA", _louisiana, INSURANCE, optional=True),
    ),
    "readmission": (_readmission(3750), _readmission(16000)),
}
