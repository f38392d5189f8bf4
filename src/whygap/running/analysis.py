"""One run of the method on one design: what is fitted once, what each question asks of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from whygap.data_checks import look_at
from whygap.domains import ByDomain, Subset
from whygap.equations.corners import Decomposition, decompose
from whygap.errors import InputError
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance, median_of
from whygap.learning.menu import Menu, all_records
from whygap.notes import Note
from whygap.nuisances.covariate import prepare_covariate
from whygap.nuisances.cross_fit import CrossFit, cross_fit, sample_of, zero
from whygap.nuisances.meaning import meaning_notes
from whygap.nuisances.outcome import outcome_denominator, prepare_outcome
from whygap.nuisances.overlap import (
    fit_notes,
    fit_ratios_alone,
    not_comparable,
    ratio_records,
    ratios_of,
    region_notes,
)
from whygap.nuisances.separators import find_separators
from whygap.nuisances.source_risk import SourceRisk, fit_source_risks
from whygap.nuisances.support import Region, find_region
from whygap.nuisances.walk import plain_values
from whygap.progress import Reporter
from whygap.results import Affected, Diagnostics, Gap, Overlap, Recoverable, Shares
from whygap.results.overlap import Separator
from whygap.running.about import Caption, about_of, parts_of
from whygap.running.answers import Details, SubsetNumerators
from whygap.running.checkpoint import fingerprint, open_checkpoint
from whygap.running.culprits import affected, points, recoverable
from whygap.running.game import Run, probe_subsets
from whygap.running.interrupted import IN_WORDS, interrupted_note, unfinished, was_interrupted
from whygap.running.memory import give_back
from whygap.running.shares import Part, PartName, no_shares, shares, undefined
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.tables.design import Design

SHARED: tuple[PartName, ...] = ("covariate", "outcome")  # the parts that have shares
STAGES = ("points", "affected", "recoverable", *SHARED)  # what details consist of, in order


@dataclass
class Analysis:
    """One run: its design, its cross-fittings (one per repeat), its clock."""

    settings: Settings
    design: Design  # the whole tables
    report: Reporter
    menu: Menu
    sample: Sample  # all their rows
    region: Region | None = None  # where the tables are compared; None is everywhere
    started: float = field(default_factory=time.monotonic)  # from when a time budget counts
    crossfits: list[CrossFit] = field(default_factory=list)  # of what is compared, if anything
    whole: list[CrossFit] = field(default_factory=list)  # of the whole tables, if made
    seconds: dict[str, float] = field(default_factory=dict)
    right_or_wrong: list[CrossFit] = field(default_factory=list)  # see `_binary`
    risks: tuple[Sequence[CrossFit], list[tuple[SourceRisk, ...]]] | None = None
    notes: list[Note] = field(default_factory=list)
    menus: list[Menu] = field(default_factory=list)  # of all cross-fittings

    @classmethod
    def begin(
        cls, design: Design, settings: Settings, report: Reporter, menu: Menu | None = None
    ) -> Analysis:
        """Find out where the tables can be compared, and fit what every part needs there."""
        clock = time.perf_counter()
        menu = menu or Menu(settings)
        with one_thread():
            run = cls(settings, design, report, menu, sample_of(design, settings))
            report.stage("fitting shared models")
            run._fit()
        run.seconds["aggregate"] = time.perf_counter() - clock
        return run

    def _fit(self) -> None:
        settings, design = self.settings, self.design
        if settings.support == "common":
            ratios = fit_ratios_alone(design, settings)
        else:
            self.crossfits = self._whole()
            if settings.support == "all":
                return
            ratios = ratios_of(self.crossfits[0])
            if not ratio_records(ratios)[-1].lacks_counterparts:
                return
        self.region = find_region(ratios.wz)
        self.notes += region_notes(self.region)
        if self.region.is_too_small:
            self.crossfits = []
            return
        menu = Menu(settings) if self.whole else self.menu
        inner = design.take(self.region.rows)
        sample, bound = self.region.sample(self.sample), self.region.largest_ratio
        self.crossfits = self._crossfits(inner, menu, sample, bound)

    @property
    def _outcome_first(self) -> bool:
        return self.design.order == "outcome first"

    def _whole(self) -> list[CrossFit]:
        if not self.whole:
            menu = self.menu if self.region is None else Menu(self.settings)
            self.whole = self._crossfits(self.design, menu, self.sample)
        return self.whole

    def _crossfits(
        self, design: Design, menu: Menu, sample: Sample, bound: float = math.inf
    ) -> list[CrossFit]:
        settings = self.settings
        self.menus.append(menu)
        if design.order == "outcome first":
            design = design.with_outcome_column()
        found: list[CrossFit] = []
        for seed in np.random.SeedSequence(settings.seed).spawn(settings.repeats):
            shared = found[0].sample if found else sample
            found.append(cross_fit(design, settings, seed, menu, shared, bound))
        return found

    @property
    def comparable(self) -> bool:
        """Whether the tables share enough to compare them anywhere."""
        return bool(self.crossfits)

    def decomposition(self) -> Decomposition:
        """Take the gap apart along the corner means, combined over repeats."""
        whole = None
        if self.region is not None and self.sample is not None:
            whole = plain_values(self.sample, self.design)
            if not self.comparable:
                reason = str(not_comparable(self.region, self.design))
                total = whole.target - whole.source
                return Decomposition(total, whole.source, whole.target, reason=reason)
        walks = [crossfit.walk.corners for crossfit in self.crossfits]
        found = {name: median_of([one[name] for one in walks]) for name in walks[0]}
        return decompose(found, whole, outcome_first=self._outcome_first)

    def details(self, wanted: Sequence[str]) -> Details:
        """Answer what is asked, in that order; after Ctrl-C, keep what is answered.

        Args:
            wanted: names of `settings.DETAILS`; "covariate" and "outcome" are the shares of one
                part alone.
        """
        run = self._run()
        answers: dict[str, Callable[[], Any]] = {
            "points": lambda: points(self.crossfits, run),
            "affected": lambda: self._affected(run),
            "recoverable": lambda: self._recoverable(run),
            "covariate": lambda: self._shares("covariate", run),
            "outcome": lambda: self._shares("outcome", run),
        }
        stages = [one for name in wanted for one in (SHARED if name == "shares" else (name,))]
        possible = [name for name in stages if self.comparable or name == "recoverable"]
        found: dict[str, Any] = {}
        try:
            for name in possible:
                clock = time.perf_counter()
                found[name] = answers[name]()
                give_back()
                self.seconds[name] = time.perf_counter() - clock
                if was_interrupted(found[name]):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            missing = [words for answer in found.values() for words in unfinished(answer)]
            missing += [IN_WORDS[name] for name in possible if name not in found]
            self.notes.append(interrupted_note(missing))
        shares: dict[str, Shares] = {name: found.pop(name) for name in SHARED if name in found}
        return Details(**found, shares=shares)

    def _run(self) -> Run:
        where = self.settings.checkpoint
        print_ = fingerprint(self.design, self.settings)
        checkpoint = open_checkpoint(where, print_)
        return Run(self.settings, self.report, checkpoint, self.started)

    def _affected(self, run: Run) -> dict[str, Affected]:
        if self._outcome_first:
            self.notes.append(Note("outcome_first", "info"))
            return {}
        return {"outcome": affected(self.crossfits, run)}

    def _recoverable(self, run: Run) -> Recoverable:
        """Budgets of the whole tables; the target's mix where the tables can be compared."""
        with one_thread():
            whole, compared = self._budgeted()
        return recoverable(whole, compared, self._source_risks(compared), run)

    def _budgeted(self) -> tuple[list[CrossFit], list[CrossFit]]:
        """Cross-fittings of the whole tables and of what is compared, the outcome no column."""
        if not self._outcome_first:
            return self._whole(), self.crossfits
        plain, menu = replace(self.design, order="covariates first"), Menu(self.settings)
        whole = self._crossfits(plain, menu, self.sample)
        if self.region is None or not self.crossfits:
            return whole, whole if self.crossfits else []
        inner, first = plain.take(self.region.rows), self.crossfits[0]
        return whole, self._crossfits(inner, menu, first.sample, first.bound)

    def _shares(self, part: PartName, run: Run) -> Shares:
        self.report.stage(f"fitting models of the {part} part")
        names = tuple(player.name for player in self.design.players)
        if reason := no_shares(self.design):
            return undefined(part, names, zero(self.crossfits[0]), reason)
        return shares(part, self.parts(part), names, run)

    def _binary(self) -> list[CrossFit]:
        """Cross-fittings of a 0/1 outcome: of several classes, whether the label is right."""
        if self.design.task == "binary":
            return self.crossfits
        if not self.right_or_wrong:
            first = self.crossfits[0]
            shared = first.design.as_binary(), first.menu, first.sample
            self.right_or_wrong = self._crossfits(*shared, first.bound)
        return self.right_or_wrong

    def _source_risks(self, crossfits: Sequence[CrossFit]) -> list[tuple[SourceRisk, ...]]:
        """Per cross-fitting the source risk, or that of every class; of the last ones asked for."""
        if self.risks is None or self.risks[0] is not crossfits:
            with one_thread():
                self.risks = crossfits, [fit_source_risks(c) for c in crossfits]
        return self.risks[1]

    def parts(self, name: PartName) -> list[Part]:
        """What a part shares over subsets, one per repeat."""
        if reason := no_shares(self.design):
            raise InputError("There are no shares of this metric", hint=reason)
        probes = probe_subsets(len(self.design.players), self.settings.seed)
        prepare = prepare_covariate if name == "covariate" else prepare_outcome
        crossfits = self._binary()
        risks = self._source_risks(crossfits)
        with one_thread():
            return [
                cast(Part, prepare(crossfit, probes, risk))
                for crossfit, (risk,) in zip(crossfits, risks, strict=True)
            ]

    def values(self, name: PartName, subsets: Sequence[Subset]) -> SubsetNumerators:
        """Denominator and numerators of some subsets of a part."""
        parts = self.parts(name)
        with one_thread():
            return SubsetNumerators(
                median_of([part.denominator for part in parts]),
                tuple(median_of([part.numerator(s) for part in parts]) for s in subsets),
            )

    def outcome_denominator(self) -> Estimate:
        """How far apart outcomes are: the same as in `values`, without models of subsets."""
        crossfits = self._binary()
        risks = self._source_risks(crossfits)
        with one_thread():
            return median_of(
                [outcome_denominator(c, risk) for c, (risk,) in zip(crossfits, risks, strict=True)]
            )

    @cached_property
    def separators(self) -> tuple[Separator, ...]:
        """Columns that tell the tables apart."""
        return find_separators(self.design)

    def look(self) -> None:
        """Note where columns do not mean the same in both tables."""
        if self.comparable:
            ratio = self.whole[0].ratio_wz if self.whole else None
            with one_thread():
                self.notes += meaning_notes(self.design, self.settings, ratio, self.separators)

    def gap(self, caption: Caption, found: Decomposition, details: Details) -> Gap:
        """Put everything into one result."""
        crossfit = (self.crossfits or self._whole())[0]
        overlap = Overlap(ratio_records(ratios_of(crossfit)), self.separators)
        kept = ByDomain(1.0, 1.0) if self.region is None else self.region.kept
        said = (*overlap.notes(), *fit_notes(crossfit)) if self.comparable else ()
        about = about_of(caption, self.design, self.settings, self.seconds, kept)
        parts = parts_of(found, about)
        return Gap(
            total=found.total,
            source=found.source,
            target=found.target,
            parts=parts,
            part_covariance=joint_covariance(list(parts.values())),
            reason=found.reason,
            points=details.points,
            affected=details.affected,
            recoverable=details.recoverable,
            shares=details.shares,
            notes=(*self.design.notes, *self.notes, *said),
            diagnostics=Diagnostics(
                nuisances=all_records([crossfit.menu, *self.menus]),
                ratios=overlap.ratios,
                separators=overlap.separators,
                prediction=look_at(self.design),
            ),
            about=about,
            table_kind=caption.table_kind,
        )
