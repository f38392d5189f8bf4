"""Which learner serves which kind of nuisance: decided once, remembered, recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whygap.learning.choose import (
    Choice,
    Probe,
    all_trivial,
    choose_auto,
    choose_boosted,
    choose_fast,
    undersmoothed,
)
from whygap.learning.choose_ratio import choose_ratio
from whygap.learning.conditional_mean import MeanTask
from whygap.learning.density_ratio import domain_inputs
from whygap.learning.features import Features
from whygap.learning.models import Mean
from whygap.learning.paper import PaperMenu
from whygap.learning.own import OwnEstimators
from whygap.results import NuisanceRecord
from whygap.settings import Settings

__all__ = ["Menu", "mean_probes", "ratio_probes"]

_PROBED_BLOCKS = 3
_RATIO_FAMILIES = {
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
        quadratic: bool = False,
        ratio: bool = False,
    ) -> Any:
        """The learner for a kind of nuisance; less regularised for quadratic uses."""
        if kind not in self.choices:
            choice = self._choose(probes(), ratio)
            self.choices[kind] = choice
            self.records.append(
                NuisanceRecord(
                    kind, target, columns, choice.learner.name, choice.score_name, choice.scores
                )
            )
        learner = self.choices[kind].learner
        return undersmoothed(learner) if quadratic and self.settings.twins else learner

    def _choose(self, probes: Sequence[Probe], ratio: bool) -> Choice:
        named, seed = self.settings.learner, self.settings.seed
        if all_trivial(probes):
            return Choice(Mean(), {}, "")
        if not isinstance(named, str):
            return Choice(OwnEstimators(**named), {}, "")
        if ratio and named in _RATIO_FAMILIES:
            return choose_ratio(probes, _RATIO_FAMILIES[named], seed)
        match named:
            case "fast":
                return choose_fast(probes)
            case "boosted":
                return choose_boosted(probes, seed)
            case "paper":
                return Choice(PaperMenu(seed=seed), {}, "")
            case _:
                return choose_auto(probes, seed)


def mean_probes(features: Features, tasks: Sequence[MeanTask]) -> list[Probe]:
    """Probes of conditional means: three training sets of each task, and a held-out block."""
    probes = []
    for task in tasks:
        for trained_on in task.trained_on[:_PROBED_BLOCKS]:
            domain = task.view.domain
            block = min(frozenset(range(features.blocks.count)) - trained_on)
            rows = features.training_rows(domain, trained_on)
            held = features.blocks.rows(domain, block)
            target = task.target(trained_on)
            probes.append(
                Probe(
                    task.kind,
                    features.inputs(task.view, rows, task.columns, task.extra),
                    target[rows],
                    features.weights[domain][rows],
                    features.inputs(task.view, held, task.columns, task.extra),
                    target[held],
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
