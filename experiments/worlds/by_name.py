"""Worlds by name, each imported only when asked for."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whygap.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from experiments.worlds.answers import Answers
    from experiments.worlds.world import World

__all__ = ["WORLDS", "answers_of", "make_world", "truths"]

CLASSES = {
    "gaussian": "experiments.worlds.gaussian.GaussianWorld",
    "known_risk": "experiments.worlds.known_risk.KnownRiskWorld",
    "clustered": "experiments.worlds.clustered.ClusteredWorld",
    "comparison_a": "experiments.worlds.comparison.CovariateComparison",
    "comparison_b": "experiments.worlds.comparison.OutcomeComparison",
    "untuned": "experiments.worlds.untuned.UntunedWorld",
    "correlated": "experiments.worlds.correlated.CorrelatedWorld",
    "latent": "experiments.worlds.latent.LatentWorld",
    "partly_shared": "experiments.worlds.partly_shared.PartlySharedWorld",
}
WORLDS = (*CLASSES, "null", "pool")


def make_world(name: str, metric: str, options: Mapping[str, Any]) -> World:
    """The world of this name."""
    if name == "pool":
        from experiments.pools import load_pool

        return load_pool(Path(options["file"]))
    if name == "null":
        from experiments.worlds.untuned import null_world

        return null_world(options["kind"], metric)
    if name in CLASSES:
        module, noun = CLASSES[name].rsplit(".", 1)
        world: World = getattr(importlib.import_module(module), noun)(metric=metric, **options)
        return world
    raise InputError(
        f"There is no world '{name}'",
        hint=did_you_mean(name, WORLDS) or f"Worlds are: {', '.join(WORLDS)}.",
    )


def answers_of(world: World) -> Answers:
    """Who knows the points, groups and budgets of a world."""
    from experiments.worlds.atoms import Atoms
    from experiments.worlds.atoms_answers import AtomsAnswers
    from experiments.worlds.clustered import ClusteredWorld
    from experiments.worlds.correlated import CorrelatedWorld
    from experiments.worlds.correlated_truth import CorrelatedAnswers
    from experiments.worlds.gaussian import GaussianWorld
    from experiments.worlds.gaussian_answers import GaussianAnswers
    from experiments.worlds.latent import LatentWorld
    from experiments.worlds.latent_answers import LatentAnswers
    from experiments.worlds.untuned import UntunedWorld
    from experiments.worlds.untuned_answers import UntunedAnswers

    match world:
        case GaussianWorld():
            return GaussianAnswers(world)
        case ClusteredWorld():
            return GaussianAnswers(world.marginal)
        case CorrelatedWorld():
            return CorrelatedAnswers(world)
        case LatentWorld():
            return LatentAnswers(world)
        case UntunedWorld():
            return UntunedAnswers(world)
        case Atoms():
            return AtomsAnswers(world)
    raise InputError("This world does not know its points", got=type(world).__name__)


def truths(
    world: World,
    details: tuple[str, ...],
    subsets: tuple[tuple[int, ...], ...] | None,
    cuts: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """True values, named as in `experiments.analysis`; what does not exist is left out."""
    from experiments.quantities import CULPRITS, culprit_truths

    corners = world.corners()
    found = {
        f"aggregate {name}": float(getattr(corners, name))
        for name in ("gap", "left_behind", "baseline", "covariate", "outcome", "new_ground")
        if hasattr(corners, name)
    }
    for part in details:
        if part not in CULPRITS:
            found |= _part_truths(world, part, subsets)
    if cuts or set(details) & set(CULPRITS):
        found |= culprit_truths(world, details, cuts or {})
    return found


def _part_truths(
    world: World, part: str, subsets: tuple[tuple[int, ...], ...] | None
) -> dict[str, float]:
    from experiments.worlds.world import all_subsets, shares

    truth = world.covariate_truth if part == "covariate" else world.outcome_truth
    names = world.players
    wanted = all_subsets(len(names)) if subsets is None else subsets
    known = {subset: truth(subset) for subset in wanted}
    found = {f"{part} denominator": truth(()).denominator}
    for subset, value in known.items():
        label = "{" + ",".join(names[k] for k in subset) + "}"
        found[f"{part} numerator {label}"] = value.numerator
        found[f"{part} value {label}"] = value.value
    if subsets is None:
        solved = shares(lambda subset: known[subset].value, len(names))
        found |= {f"{part} share {n}": s for n, s in zip(names, solved, strict=True)}
        if len(names) > 1:
            found[f"{part} difference {names[0]}-{names[1]}"] = solved[0] - solved[1]
    return {name: float(value) for name, value in found.items() if not math.isnan(value)}
