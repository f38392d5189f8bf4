"""One analysis of one drawn design by the main path, with every estimate written down.

Only numpy, scipy, scikit-learn, LightGBM, joblib and threadpoolctl are needed here, so that
replicates run on any machine that has these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from experiments.quantities import culprit_estimates
from experiments.worlds.world import World
from whygap._explain import PARTS, Analysis, Caption
from whygap.domains import ByDomain
from whygap.equations.corners import Decomposition
from whygap.estimate import Estimate
from whygap.progress import Silent
from whygap.results import Shares
from whygap.running.shares import PartName
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Found", "PartName", "Subset", "analyse", "draw", "set_label", "terms_of"]

Subset = tuple[int, ...]
STORED_NAMES = {"source_only": "left_behind", "target_only": "new_ground"}
NO_TEST = 1e-6  # a confidence level at which any positive denominator counts as one


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Everything one analysis estimated.

    Attributes:
        estimates: by name, e.g. `aggregate gap`, `outcome denominator`, `outcome value {Z1}`,
            `covariate share Z2`.
        defined: by part, whether the denominator could be told from 0; where it could not,
            `explain` shows no values and no shares, but here they are written down.
        ranks: by part, rank interval per player (shares only).
        learners: by nuisance, the learner that was chosen.
        effective_rows: by ratio, how many source rows are left after weighting.
    """

    estimates: Mapping[str, Estimate]
    defined: Mapping[str, bool]
    ranks: Mapping[str, Mapping[str, tuple[int, int]]]
    learners: Mapping[str, str]
    effective_rows: Mapping[str, float] = field(default_factory=dict)


def draw(world: World, rows: tuple[int, int], seed: int) -> Design:
    """The rows of one seed."""
    return world.draw(ByDomain(*rows), np.random.default_rng([seed, *rows]))


def analyse(
    design: Design,
    settings: Settings,
    details: tuple[str, ...],
    subsets: tuple[Subset, ...] | None,
    level: float,
    cuts: Mapping[str, float] | None = None,
) -> Found:
    """Everything asked for; of the paper's parts the subsets named, or (None) all and the shares.

    Who is hit is asked for by `cuts`: the rows of a column above its cut.
    """
    parts = tuple(name for name in PARTS if name in details)
    analysis = Analysis.begin(design, replace(settings, level=NO_TEST), Silent())
    answers = analysis.details([name for name in details if subsets is None or name not in parts])
    estimates = culprit_estimates(analysis, answers, cuts or {})
    for name in parts if subsets is not None else ():
        estimates |= _values(analysis, name, subsets or ())
    found = analysis.decomposition()
    gap = analysis.gap(Caption(), found, answers)
    for solved in gap.shares.values():
        estimates |= _shares(solved)
    return Found(
        {f"aggregate {name}": e for name, e in terms_of(found).items()} | estimates,
        {name: estimates[f"{name} denominator"].interval(settings.level)[0] > 0 for name in parts},
        {name: _ranks(solved, level) for name, solved in gap.shares.items() if solved.defined},
        {record.name: record.chosen for record in gap.diagnostics.nuisances},
        {ratio.name: round(ratio.effective_size, 1) for ratio in gap.diagnostics.ratios},
    )


def terms_of(found: Decomposition) -> dict[str, Estimate]:
    """The gap and its parts under the names that stored evidence has."""
    named = {STORED_NAMES.get(name, name): part for name, part in found.parts.items()}
    return {"gap": found.total, **named}


def _ranks(solved: Shares, level: float) -> dict[str, tuple[int, int]]:
    return {who: (rank.best, rank.worst) for who, rank in solved.ranking(level).items()}


def _shares(solved: Shares) -> dict[str, Estimate]:
    """The whole detail: numerators, values, shares, and the contrast of the first two players."""
    found = {f"{solved.part} denominator": solved.denominator}
    for subset in solved.subsets:
        label = set_label(subset.players)
        found[f"{solved.part} numerator {label}"] = subset.numerator
        if subset.value is not None:
            found[f"{solved.part} value {label}"] = subset.value
    for player, share in solved.values.items():
        found[f"{solved.part} share {player}"] = share
    if len(solved.values) > 1:
        first, second = solved.players[:2]
        contrast = solved.difference(first, second)
        found[f"{solved.part} difference {first}-{second}"] = contrast
    return found


def _values(analysis: Analysis, name: PartName, subsets: Sequence[Subset]) -> dict[str, Estimate]:
    """Numerators and, where the denominator is positive, values of the named subsets."""
    if name == "outcome" and not subsets:
        return {"outcome denominator": analysis.outcome_denominator()}
    solved, players = analysis.values(name, subsets), analysis.design.players
    found = {f"{name} denominator": solved.denominator}
    for subset, numerator in zip(subsets, solved.numerators, strict=True):
        label = set_label([players[k].name for k in subset])
        found[f"{name} numerator {label}"] = numerator
        if solved.denominator.value > 0:
            found[f"{name} value {label}"] = 1 - numerator / solved.denominator
    return found


def set_label(players: Sequence[str]) -> str:
    """A subset as names of estimates have it."""
    return "{" + ",".join(players) + "}"
