"""The paper's case studies on open data: insurance across states, readmission with heart failure.

Each case is explained, shown beside its rivals, and acted upon. Finished analyses are kept under
`artefacts/`, so that a stopped run goes on where it was (see `experiments.case_kept`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.case_kept import Beside, kept
from experiments.case_page import case_section, overview_table, tidy
from experiments.case_verdict import INSURANCE, NULL, READMISSION, Paper, verdict
from experiments.cases import Move, data_folder, insurance_study, readmission_study
from experiments.engine import code_digest
from experiments.louisiana import louisiana_table
from experiments.provenance import provenance
from experiments.simulation import study_folder
from whygap.errors import InputError, SettingsError, did_you_mean
from whygap.results import Gap
from whygap.settings import Settings
from whygap.storage.files import write_whole
from whygap.study import Study

__all__ = ["CASES", "Case", "Comparison", "Place", "case_settings", "run"]

Report = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """Where tables come from, and how large the analysis may be."""

    data: Path | None
    artefacts: Path
    quick: bool


@dataclass(frozen=True)
class Comparison:
    """Two tables, and what the paper would lead us to expect of them."""

    name: str
    study: Callable[[Place], Study]
    expected: Paper | None
    optional: bool = False

    @property
    def slug(self) -> str:
        """For file names."""
        return self.name.lower().replace(" ", "_").replace(",", "")


@dataclass(frozen=True)
class Case:
    """One case study."""

    name: str
    introduction: str
    comparisons: tuple[Comparison, ...]


def run(
    output: Path,
    data: Path | None = None,
    quick: bool = False,
    jobs: int = 1,
    report: Report = lambda _: None,
    case: str = "insurance",
) -> Path:
    """Explain every comparison of a case, write tables, figures and the page."""
    if case not in CASES:
        raise SettingsError(
            f"There is no case study '{case}'",
            hint=did_you_mean(case, CASES) or f"Case studies are: {', '.join(CASES)}.",
        )
    chosen = CASES[case]
    data_folder(data)
    folder = study_folder(output, f"casestudy_{case}", quick)
    place = Place(data, output / "artefacts", quick)
    page = _Page(chosen, folder, quick)
    settings = case_settings(quick, jobs)
    for comparison in chosen.comparisons[: 1 if quick else None]:
        report(f"{case}: {comparison.name}")
        try:
            study = comparison.study(place)
        except InputError as error:
            if not comparison.optional:
                raise
            report(f"  left out: {error}")
            page.leave_out(comparison)
            continue
        kept_in = place.artefacts / folder.name / comparison.slug
        page.add(comparison, *kept(study, settings, kept_in, report))
    return page.write()


def case_settings(quick: bool, jobs: int) -> Settings:
    """How every comparison of a case is analysed."""
    if quick:
        return Settings(learner="fast", subsets=64, n_jobs=max(jobs, 1), progress=False)
    return Settings(subsets=128, n_jobs=max(jobs, 1), progress=False)


class _Page:
    """The page grows by one section per comparison and is whole after each."""

    def __init__(self, case: Case, folder: Path, quick: bool) -> None:
        self.case, self.folder, self.quick = case, folder, quick
        self.found: list[tuple[str, Gap]] = []
        self.sections: list[str] = []

    def add(self, comparison: Comparison, gap: Gap, beside: Beside) -> None:
        write_whole(self.folder / f"{comparison.slug}.csv", tidy(gap))
        self.found.append((comparison.name, gap))
        words = verdict(gap, beside, comparison.expected)
        section = case_section(comparison.name, comparison.slug, gap, beside, self.folder, words)
        self.sections.append(section)
        self.write()

    def leave_out(self, comparison: Comparison) -> None:
        self.sections.append(f"## {comparison.name}\n\n{_LEFT_OUT}")

    def write(self) -> Path:
        command = f"whygap study casestudy {self.case.name} --data DIR"
        command += " --quick" if self.quick else ""
        note = f"State of the engine: {code_digest()}. Every estimate is in the `.csv` files."
        glance = ["## At a glance", overview_table(self.found)] if self.found else []
        small = [_QUICK] if self.quick else []
        parts = [self.case.introduction, *small, *glance, *self.sections, provenance(command, note)]
        return write_whole(self.folder / f"casestudy_{self.case.name}.md", "\n\n".join(parts))


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


_LEFT_OUT = """The paper's own comparison was not run where this page was made: its rows are
fetched from the Census Bureau with folktables (`pip install 'whygap[acs]'`), which needs that
package and a connection. Where both are there, the command below adds it by itself."""

_INSURANCE_WORDS = """# Case study: public health insurance

Who has public health insurance, among people under 65 with an income of at most 30,000 dollars
(American Community Survey)? The model is the paper's: a neural network with 10 hidden units,
trained on 3,300 people of the source state; 3,000 other people of that state and up to 6,000 of
the target are compared. Baseline W: sex, age, race_white. Covariates Z: the other columns, each
a player; columns with one single value are left out. The tables that reach into 2024 have other
columns than the 2018 ones (hours worked and the income-to-poverty ratio among them), since the
survey changed. Everything is target minus source; intervals are 95%."""

_READMISSION_WORDS = """# Case study: readmission with heart failure

Is a patient readmitted within 30 days (UCI "Diabetes 130-US hospitals")? The model is a
class-weighted boosting of depth 2, trained on about 18,900 encounters of patients who never had
heart failure among their diagnoses; encounters of other such patients (source) are compared
with encounters with heart failure (target), once as many as in the paper and once as many as
there are. No patient is in both; encounters of one patient form a cluster. Baseline W:
demographics. Covariates Z: diagnoses and utilisation. Everything is target minus source; intervals
are 95%.

Readmission is rare and the model class-weighted, so that it says "readmitted" far too often for the
best accuracy. A recalibrated model hardly ever says so and is right more often; whether a revision
tells patients apart better shows in the AUC."""

_QUICK = """**A quick look**, for trying out: 1,200 rows of each table, the learner `fast` and 64
subsets, and one comparison only. The numbers are rougher than those of the full study."""

CASES: dict[str, Case] = {
    "insurance": Case(
        "insurance",
        _INSURANCE_WORDS,
        (
            _insurance(Move("NE", "WV"), INSURANCE),
            _insurance(Move("NE", "NM"), INSURANCE),
            _insurance(Move("NE", "WY"), NULL),
            _insurance(Move("NE", "NE", 2018, 2024), INSURANCE),
            _insurance(Move("KS", "LA", 2024, 2024), INSURANCE),
            Comparison("NE to LA", _louisiana, INSURANCE, optional=True),
        ),
    ),
    "readmission": Case(
        "readmission", _READMISSION_WORDS, (_readmission(3750), _readmission(16000))
    ),
}
