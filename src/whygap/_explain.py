"""THE MAIN PATH: two tables in, an explanation of the gap out (paper: Algorithms 1 and 4)."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, cast

import numpy as np

from whygap.domains import ByDomain
from whygap.equations import corners
from whygap.errors import InputError, SettingsError, did_you_mean
from whygap.estimate import Estimate, median_of
from whygap.learning.menu import Menu
from whygap.nuisances.covariate import prepare_covariate
from whygap.nuisances.cross_fit import CrossFit, cross_fit
from whygap.nuisances.outcome import prepare_outcome
from whygap.nuisances.overlap import overlap_notes, ratio_records
from whygap.nuisances.profiles import profiles
from whygap.nuisances.source_risk import Risks, twin_risks
from whygap.nuisances.support import restrict
from whygap.progress import Reporter, reporter
from whygap.results import About, Aggregate, Detailed, Diagnostics, Gap
from whygap.running.checkpoint import fingerprint, open_checkpoint
from whygap.running.shares import INTERRUPTED, Part, detail, probe_subsets
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design, Note

__all__ = [
    "PARTS",
    "Analysis",
    "PartName",
    "explain",
    "explain_with",
    "parts_named",
    "subset_values",
    "was_interrupted",
]

PARTS = ("covariate", "outcome")
PartName = Literal["covariate", "outcome"]
_CUT_SHORT = "You interrupted the analysis"


def explain(
    study: Study,
    detail: Sequence[str] | str = PARTS,
    settings: Settings | None = None,
) -> Gap:
    """Explain the performance gap of a study.

    Args:
        study: the two tables and their roles.
        detail: which parts get shares per covariate: "covariate", "outcome", both, or none.
        settings: how to run; `Settings()` unless given.

    Returns:
        The gap, its three parts, the shares asked for, and how far to trust them.
    """
    settings = settings or Settings()
    return explain_with(study, detail, settings, Menu(settings))


def explain_with(study: Study, detail: Sequence[str] | str, settings: Settings, menu: Menu) -> Gap:
    """Explain a study with a menu of learners that may already have chosen some of them."""
    wanted = parts_named(detail)
    with reporter(settings.progress) as report:
        design = study.read(report)
        analysis = Analysis.begin(design, settings, report, menu)
        aggregate = analysis.aggregate()
        return analysis.gap(study, aggregate, analysis.details(wanted))


def subset_values(
    study: Study,
    part: str,
    subsets: Sequence[Sequence[str]],
    settings: Settings | None = None,
) -> list[Estimate]:
    """Explained shares v(s) of the subsets you name, without Shapley shares."""
    settings = settings or Settings()
    (name,) = parts_named(part)
    with reporter(settings.progress) as report:
        design = study.read(report)
        positions = [_positions(design, subset) for subset in subsets]
        analysis = Analysis.begin(design, settings, report)
        parts = analysis.parts(name)
        with one_thread():
            bottom = median_of([p.denominator() for p in parts])
            low, high = bottom.interval(settings.level)
            if low <= 0:
                raise InputError(
                    f"The {name} values are undefined: their denominator is not distinguishable "
                    "from 0",
                    got=f"{bottom.value:.3g} ({settings.level:.0%}: {low:.3g} to {high:.3g})",
                    hint="There is no shift of this kind to explain, or too few rows to see it.",
                )
            tops = [median_of([p.numerator(s) for p in parts]) for s in positions]
    return [1 - top / bottom for top in tops]


@dataclass(slots=True)
class Analysis:
    """One run: its design (restricted or not), its crossfits (one per repeat), its clock."""

    settings: Settings
    design: Design
    kept: ByDomain[float]
    crossfits: list[CrossFit]
    report: Reporter
    seconds: dict[str, float] = field(default_factory=dict)
    risks: dict[int, Risks] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    @classmethod
    def begin(
        cls, design: Design, settings: Settings, report: Reporter, menu: Menu | None = None
    ) -> Analysis:
        """Restrict if asked for, and fit what every part needs."""
        clock = time.perf_counter()
        kept = ByDomain(1.0, 1.0)
        root = np.random.SeedSequence(settings.seed)
        with one_thread():
            if settings.support == "common":
                restricted = restrict(design, settings, np.random.SeedSequence([settings.seed, 1]))
                design, kept = restricted.design, restricted.kept
            report.stage("fitting shared models")
            menu = menu or Menu(settings)
            crossfits: list[CrossFit] = []
            for seed in root.spawn(settings.repeats):
                sample = crossfits[0].sample if crossfits else None
                crossfits.append(cross_fit(design, settings, seed, menu, sample))
        run = cls(settings, design, kept, crossfits, report)
        run.seconds["aggregate"] = time.perf_counter() - clock
        return run

    def aggregate(self) -> Aggregate:
        """Corner means, combined over repeats, and the three parts."""
        means = {
            "000": corners.mean_000,
            # Without W there is nothing to reweight: E_100 is E_000, not an estimate of it.
            "100": corners.mean_100 if self.design.baseline else corners.mean_000,
            "110": corners.mean_110,
            "111": corners.mean_111,
        }
        return corners.aggregate(
            {
                name: median_of([mean(g.aggregate) for g in self.crossfits])
                for name, mean in means.items()
            }
        )

    def details(self, wanted: Sequence[PartName]) -> dict[PartName, Detailed]:
        """Shares of the parts asked for; after Ctrl-C, of those that are finished."""
        found: dict[PartName, Detailed] = {}
        try:
            for part in wanted:
                found[part] = self.detail(part)
                sampling = found[part].sampling
                if sampling is not None and sampling.stopped == INTERRUPTED:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            left_out = [part for part in wanted if part not in found]
            self.notes.append(Note("warning", _interrupted_text(left_out)))
        return found

    def detail(self, part: PartName) -> Detailed:
        """Shares of one part."""
        clock = time.perf_counter()
        self.report.stage(f"fitting models of the {part} part")
        checkpoint = open_checkpoint(
            self.settings.checkpoint, fingerprint(self.design, self.settings)
        )
        result = detail(
            self.parts(part), part, self.design.players, self.settings, checkpoint, self.report
        )
        self.seconds[part] = time.perf_counter() - clock
        return result

    def parts(self, name: PartName) -> list[Part]:
        """What a part shares over subsets, one per repeat."""
        prepare = prepare_covariate if name == "covariate" else prepare_outcome
        probes = probe_subsets(len(self.design.players), self.settings.seed)
        with one_thread():
            return [
                cast(Part, prepare(crossfit, probes, self._source_risk(k)))
                for k, crossfit in enumerate(self.crossfits)
            ]

    def _source_risk(self, repeat: int) -> Risks:
        if repeat not in self.risks:
            self.risks[repeat] = twin_risks(self.crossfits[repeat])
        return self.risks[repeat]

    def gap(self, study: Study, aggregate: Aggregate, details: dict[PartName, Detailed]) -> Gap:
        """Everything in one result."""
        crossfit = self.crossfits[0]
        ratios = ratio_records(crossfit)
        notes = (*self.design.notes, *overlap_notes(crossfit, ratios), *self.notes)
        return Gap(
            aggregate=aggregate,
            covariate=details.get("covariate"),
            outcome=details.get("outcome"),
            diagnostics=Diagnostics(tuple(crossfit.menu.records), ratios, notes),
            about=self._about(study),
            profiles=profiles(crossfit),
            table_kind=study.table_kind,
        )

    def _about(self, study: Study) -> About:
        design, metric = self.design, study.metric_
        names = [c.name for c in design.columns]
        return About(
            outcome=study.outcome,
            metric=metric.name,
            higher_is_better=metric.higher_is_better,
            is_share=metric.is_share,
            source_name=study.source_name,
            target_name=study.target_name,
            rows=design.rows,
            effective_rows=design.sample().effective_size(),
            baseline=tuple(names[c] for c in design.baseline),
            players={p.name: tuple(names[c] for c in p.columns) for p in design.players},
            settings=self.settings.to_mapping(),
            versions=_versions(),
            seconds=dict(self.seconds),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            kept_share=self.kept,
        )


def parts_named(detail: Sequence[str] | str) -> tuple[PartName, ...]:
    """The detailed parts asked for, checked, in the order they are computed."""
    names = (detail,) if isinstance(detail, str) else tuple(detail or ())
    for name in names:
        if name not in PARTS:
            raise SettingsError(
                f"There is no detailed part '{name}'",
                hint=did_you_mean(name, PARTS) or "Parts are 'covariate' and 'outcome'.",
            )
    return tuple(cast(PartName, p) for p in PARTS if p in names)


def was_interrupted(gap: Gap) -> bool:
    """Whether Ctrl-C ended the analysis early."""
    return any(note.text.startswith(_CUT_SHORT) for note in gap.diagnostics.notes)


def _interrupted_text(left_out: Sequence[str]) -> str:
    if not left_out:
        return f"{_CUT_SHORT}: the shares rest on the subsets finished until then."
    return (
        f"{_CUT_SHORT}: it has no shares of the "
        f"{' and '.join(left_out)} part{'s' if len(left_out) > 1 else ''}."
    )


def _positions(design: Design, subset: Sequence[str]) -> tuple[int, ...]:
    names = [p.name for p in design.players]
    wanted = [subset] if isinstance(subset, str) else list(subset)
    for name in wanted:
        if name not in names:
            raise InputError(
                f"There is no player named '{name}'",
                hint=did_you_mean(name, names) or f"Players are: {', '.join(names)}.",
            )
    return tuple(sorted({names.index(name) for name in wanted}))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("whygap", "numpy", "scipy", "scikit-learn", "lightgbm"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
