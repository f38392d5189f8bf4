"""Which learner serves which kind of nuisance: decided once, remembered, recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from whygap.learning.blocks import BlockSet
from whygap.learning.choose import FAMILIES, Choice, Probe, Sight, choose
from whygap.learning.features import Features
from whygap.learning.models import Learner, Mean
from whygap.learning.primitives import MeanTask, domain_rows, named, training
from whygap.learning.source_fits import SourceFits
from whygap.results import NuisanceRecord
from whygap.settings import Settings


@dataclass(slots=True, eq=False)
class Menu:
    """Learners by kind of nuisance; the first request of a kind decides."""

    settings: Settings
    choices: dict[str, Choice] = field(default_factory=dict)
    records: list[NuisanceRecord] = field(default_factory=list)
    source_fits: SourceFits | None = None  # where fits on source rows are kept for other targets

    def learner(
        self, kind: str, probes: Callable[[], Sequence[Probe]], *, columns: str, target: str
    ) -> Learner:
        """The learner for one kind of nuisance, chosen on probes when it is first asked for."""
        if kind not in self.choices:
            with named(f"Choosing a learner for {kind} failed with {columns}"):
                choice = self._choose(probes())
            self.choices[kind] = choice
            found = choice.learner.name, choice.score_name, choice.scores
            self.records.append(NuisanceRecord(kind, target, columns, *found))
        return self.choices[kind].learner

    def twin_learner(
        self, kind: str, tasks: Callable[[], Sequence[MeanTask]], features: Features, **shown: str
    ) -> Learner:
        """The learner for a quadratic use: judged by twins."""
        return self.learner(kind, lambda: mean_probes(features, tasks(), twins=True), **shown)

    def noise(self, kind: str) -> float:
        """Of the choice of a learner of twins: what it adds to a mean squared error."""
        return self.choices[kind].noise

    def _choose(self, probes: Sequence[Probe]) -> Choice:
        named, seed = self.settings.learner, self.settings.seed
        if all(probe.is_trivial for probe in probes):
            return Choice(Mean())
        if isinstance(named, str) and named in FAMILIES:
            return choose(probes, FAMILIES[named], seed)
        from whygap.learning.estimators import OwnEstimators  # and all of scikit-learn

        return Choice(OwnEstimators(**named, seed=seed))


def all_records(menus: Sequence[Menu]) -> tuple[NuisanceRecord, ...]:
    """What the first menu chose, and what only later ones had to choose."""
    found: dict[str, NuisanceRecord] = {}
    for menu in menus:
        for record in menu.records:
            found.setdefault(record.name, record)
    return tuple(found.values())


def mean_probes(
    features: Features, tasks: Sequence[MeanTask], *, twins: bool = False
) -> list[Probe]:
    """Every held-out block of each task, seen by one model or by the twins of its first halving.

    Tasks count alike, however many rows their domains have.
    """
    blocks = features.blocks
    probes: list[Probe] = []
    for task in tasks:
        own = []
        for block in range(blocks.count):
            sets = blocks.halvings(block, 1)[0] if twins else (blocks.complement(block),)
            own.append(_mean_probe(features, task, block, sets))
        total = sum(float(probe.weight.sum()) for probe in own)
        probes.extend(replace(probe, weight=probe.weight / total) for probe in own)
    return probes


def _mean_probe(features: Features, task: MeanTask, block: int, sets: Sequence[BlockSet]) -> Probe:
    sights = []
    for blocks in sets:
        train = training(features, task, blocks, task.columns)
        held = training(features, task, blocks, task.columns, seen_at=frozenset([block]))
        sights.append(Sight(train, held.inputs, held.target))
    return Probe(tuple(sights), held.weight, block, task.repeated)


def ratio_probes(
    features: Features, column_sets: Sequence[tuple[int, ...]], *, repeated: bool = False
) -> list[Probe]:
    """Probes of domain classifiers; `repeated` ones come again with other columns."""
    probes = []
    for columns in column_sets:
        for block in range(features.blocks.count):
            train = domain_rows(features, features.blocks.complement(block), columns)
            held = domain_rows(features, frozenset([block]), columns)
            sights = (Sight(train, held.inputs, held.target),)
            probes.append(Probe(sights, held.weight, block, repeated))
    return probes
