"""Which learner serves which kind of nuisance: decided once, remembered, recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whygap.learning.blocks import BlockSet
from whygap.learning.choose import (
    Choice,
    Probe,
    all_trivial,
    choose_auto,
    choose_boosted,
    choose_fast,
)
from whygap.learning.choose_ratio import choose_ratio
from whygap.learning.choose_twins import SIMPLEST, Half, Rule, TwinProbe, choose_twins
from whygap.learning.conditional_mean import Label, MeanTask, training
from whygap.learning.density_ratio import domain_inputs
from whygap.learning.features import Features
from whygap.learning.models import Mean
from whygap.learning.own import OwnEstimators
from whygap.learning.paper import PaperMenu
from whygap.results import NuisanceRecord
from whygap.settings import Settings

__all__ = ["ALL_BLOCKS", "Menu", "mean_probes", "ratio_probes", "twin_probes"]

ALL_BLOCKS = None
_PROBED_BLOCKS = 3
_PROBED_TWIN_BLOCKS = 2
_FAMILIES = {
    "fast": ("fast",),
    "boosted": ("boosted",),
    "auto": ("fast", "boosted", "boosted on fast"),
}


@dataclass(slots=True, eq=False)
class Menu:
    """Learners by kind of nuisance; the first request of a kind decides."""

    settings: Settings
    choices: dict[str, Choice] = field(default_factory=dict)
    records: list[NuisanceRecord] = field(default_factory=list)

    def learner(
        self,
        kind: str,
        probes: Callable[[], Sequence[Probe]],
        *,
        columns: str,
        target: str,
        ratio: bool = False,
        strict: bool = False,
    ) -> Any:
        """The learner for a first-order use: chosen by its out-of-fold loss."""
        return self._remembered(
            kind, columns, target, lambda: self._choose(probes(), ratio, strict=strict)
        )

    def twin_learner(
        self,
        kind: str,
        tasks: Callable[[], Sequence[MeanTask]],
        features: Features,
        *,
        columns: str,
        target: str,
        blocks: int | None = _PROBED_TWIN_BLOCKS,
        rule: Rule = SIMPLEST,
    ) -> Any:
        """The learner for a quadratic use: chosen by its squared bias when there are twins.

        `blocks` are held out in turn, for each task. Two are quick; all make a surer choice, where
        a penalty too large shows as bias. `rule` settles what is left open.
        """

        def choose() -> Choice:
            families = _FAMILIES.get(self.settings.learner) if self._is_named else None
            if not self.settings.twins or families is None:
                return self._choose(mean_probes(features, tasks()), ratio=False)
            probes = [p for p in twin_probes(features, tasks(), blocks) if not p.is_trivial]
            if not probes:
                return Choice(Mean(), {}, "")
            return choose_twins(probes, families, self.settings.seed, rule)

        return self._remembered(kind, columns, target, choose)

    @property
    def _is_named(self) -> bool:
        return isinstance(self.settings.learner, str)

    def _remembered(
        self, kind: str, columns: str, target: str, choose: Callable[[], Choice]
    ) -> Any:
        if kind not in self.choices:
            with Label(kind, (), columns).named("Choosing a learner for"):
                choice = choose()
            self.choices[kind] = choice
            self.records.append(
                NuisanceRecord(
                    kind, target, columns, choice.learner.name, choice.score_name, choice.scores
                )
            )
        return self.choices[kind].learner

    def _choose(self, probes: Sequence[Probe], ratio: bool, *, strict: bool = False) -> Choice:
        named, seed = self.settings.learner, self.settings.seed
        if all_trivial(probes):
            return Choice(Mean(), {}, "")
        if not isinstance(named, str):
            return Choice(OwnEstimators(**named), {}, "")
        if ratio and named in _FAMILIES:
            return choose_ratio(probes, _FAMILIES[named], seed, strict=strict)
        match named:
            case "fast":
                return choose_fast(probes)
            case "boosted":
                return choose_boosted(probes, seed)
            case "paper":
                return Choice(PaperMenu(seed=seed), {}, "")
            case _:
                return choose_auto(probes, seed)


def twin_probes(
    features: Features, tasks: Sequence[MeanTask], blocks: int | None = _PROBED_TWIN_BLOCKS
) -> list[TwinProbe]:
    """Probes of twins: of each task some blocks, each with its first halving.

    Tasks count alike, however many rows their domains have.
    """
    found: list[TwinProbe] = []
    for task in tasks:
        held_out = features.blocks.evaluated[:blocks]
        own = [_twin_probe(features, task, block) for block in held_out]
        total = sum(float(probe.weight.sum()) for probe in own)
        found.extend(replace(probe, weight=probe.weight / total) for probe in own)
    return found


def _twin_probe(features: Features, task: MeanTask, block: int) -> TwinProbe:
    domain = task.view.domain
    held = features.blocks.training_rows(domain, block)
    pair = features.blocks.halvings(block, 1)[0]
    first, second = (_half(features, task, blocks, held) for blocks in pair)
    return TwinProbe(
        task.kind,
        (first, second),
        (task.target(pair[0])[held], task.target(pair[1])[held]),
        features.weights[domain][held],
    )


def _half(features: Features, task: MeanTask, blocks: BlockSet, held: slice) -> Half:
    extra = None if task.extra is None else task.extra[blocks]
    held_out = features.inputs(task.training_view(blocks), held, task.columns, extra)
    return Half(*training(features, task, blocks), held_out)


def mean_probes(features: Features, tasks: Sequence[MeanTask]) -> list[Probe]:
    """Probes of conditional means: three training sets of each task, and a held-out block."""
    probes = []
    for task in tasks:
        for trained_on in task.trained_on[:_PROBED_BLOCKS]:
            domain = task.view.domain
            block = min(frozenset(range(features.blocks.count)) - trained_on)
            held = features.blocks.training_rows(domain, block)
            extra = None if task.extra is None else task.extra[trained_on]
            held_out = features.inputs(task.training_view(trained_on), held, task.columns, extra)
            probes.append(
                Probe(
                    task.kind,
                    *training(features, task, trained_on),
                    held_out,
                    task.target(trained_on)[held],
                    features.weights[domain][held],
                )
            )
    return probes


def ratio_probes(features: Features, column_sets: Sequence[tuple[int, ...]]) -> list[Probe]:
    """Probes of domain classifiers."""
    probes = []
    for columns in column_sets:
        for block in features.blocks.evaluated[:_PROBED_BLOCKS]:
            train = domain_inputs(features, columns, features.blocks.complement(block))
            held = domain_inputs(features, columns, frozenset([block]))
            probes.append(Probe("probability", *train, *held))
    return probes
