"""One analysis of one drawn design by the method as published (`whygap.paper`), written down.

The names of the estimates are those of `experiments.analysis`, so that one truth serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from experiments.analysis import Found, PartName, Subset, set_label
from whygap import paper
from whygap.estimate import Estimate
from whygap.paper.nuisances import LearnerName
from whygap.study import Study
from whygap.tables.design import Design

__all__ = ["analyse_as_published"]

PARTS: tuple[PartName, ...] = ("covariate", "outcome")


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """What `whygap.paper` reads of a study, without tables."""

    design: Design


def analyse_as_published(
    design: Design,
    learner: LearnerName,
    seed: int,
    details: tuple[str, ...],
    subsets: tuple[Subset, ...] | None,
    level: float,
) -> Found:
    """The parts; of the detailed parts the subsets named, or (None) what Algorithm 4 values."""
    study = cast(Study, _Drawn(design))
    parts = paper.aggregate(study, learner=learner, seed=seed)
    named = ("gap", "baseline", "covariate", "outcome")
    estimates: dict[str, Estimate] = {f"aggregate {name}": getattr(parts, name) for name in named}
    asked = [name for name in PARTS if name in details]
    if asked and subsets is None:
        found = paper.detailed(study, learner=learner, seed=seed)
        for name in asked:
            estimates |= _shares(name, getattr(found, name))
    for name in asked if subsets is not None else ():
        for subset in subsets or ((),):
            players = [design.players[k].name for k in subset]
            estimates |= _values(name, players, _value(study, name, players, learner, seed))
    defined = {name: estimates[f"{name} denominator"].interval(level)[0] > 0 for name in asked}
    return Found(estimates, defined, ranks={}, learners={"whygap.paper": learner})


def _value(
    study: Study, part: PartName, players: list[str], learner: LearnerName, seed: int
) -> paper.SubsetValue:
    value = paper.value_covariate if part == "covariate" else paper.value_outcome
    return value(study, players, learner=learner, seed=seed)


def _shares(part: PartName, solved: paper.Shares) -> dict[str, Estimate]:
    found = {f"{part} share {name}": share for name, share in solved.values.items()}
    for players, value in solved.subsets.items():
        found |= _values(part, players, value)
    if len(solved.values) > 1:
        first, second = list(solved.values)[:2]
        contrast = solved.values[first] - solved.values[second]
        found[f"{part} difference {first}-{second}"] = contrast
    return found


def _values(part: PartName, players: Sequence[str], v: paper.SubsetValue) -> dict[str, Estimate]:
    label = set_label(players)
    return {
        f"{part} denominator": v.denominator,
        f"{part} numerator {label}": v.numerator,
        f"{part} value {label}": v.value,
    }
