"""One analysis of one drawn design, as `whygap._explain` runs it, with every estimate written down.

Only numpy, scipy, scikit-learn, LightGBM, joblib and threadpoolctl are needed here, so that
replicates run on any machine that has these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap.equations import corners
from whygap.estimate import Estimate
from whygap.learning.menu import Menu
from whygap.nuisances.covariate import prepare_covariate
from whygap.nuisances.cross_fit import CrossFit, cross_fit
from whygap.nuisances.outcome import prepare_outcome
from whygap.nuisances.source_risk import Risks, twin_risks
from whygap.progress import Silent
from whygap.results import Detailed
from whygap.running.shares import Part, detail, probe_subsets
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["Analysis", "PartName", "Subset", "analyse", "prepare_part"]

Subset = tuple[int, ...]
PartName = Literal["covariate", "outcome"]
_NO_TEST = 1e-6  # a confidence level at which any positive denominator counts as one


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Everything one analysis estimated.

    Attributes:
        estimates: by name, e.g. `aggregate gap`, `outcome denominator`, `outcome value {Z1}`,
            `covariate share Z2`.
        defined: by part, whether the denominator could be told from 0; where it could not,
            `whygap._explain` shows no values and no shares, but here they are written down.
        ranks: by part, rank interval per player (shares only).
        learners: by nuisance, the learner that was chosen.
    """

    estimates: Mapping[str, Estimate]
    defined: Mapping[str, bool]
    ranks: Mapping[str, Mapping[str, tuple[int, int]]]
    learners: Mapping[str, str]


def analyse(
    design: Design,
    settings: Settings,
    parts: tuple[PartName, ...],
    subsets: tuple[Subset, ...] | None,
    level: float,
) -> Analysis:
    """Aggregate terms, and per part the subsets named, or (None) all subsets and the shares."""
    with one_thread():
        menu = Menu(settings)
        # The seed of `whygap._explain`'s first cross-fitting.
        (seed,) = np.random.SeedSequence(settings.seed).spawn(1)
        crossfit = cross_fit(design, settings, seed, menu)
        estimates = _aggregate(crossfit)
        defined: dict[str, bool] = {}
        ranks: dict[str, dict[str, tuple[int, int]]] = {}
        risk = twin_risks(crossfit) if parts else {}
        for name in parts:
            part = _prepare(crossfit, name, risk)
            defined[name] = part.denominator().interval(settings.level)[0] > 0
            solved = None
            if subsets is None and part.denominator().value > 0:
                always = replace(settings, level=_NO_TEST)
                solved = detail([part], name, design.players, always, None, Silent())
            if solved is not None and solved.defined:
                estimates |= _shares(solved, name)
                ranking = solved.ranking(level)
                ranks[name] = {who: (rank.best, rank.worst) for who, rank in ranking.items()}
            else:
                defined[name] = defined[name] and solved is None
                estimates |= _values(part, name, design, subsets or ((),))
    chosen = {record.name: record.chosen for record in menu.records}
    return Analysis(estimates, defined, ranks, chosen)


def prepare_part(design: Design, settings: Settings, name: PartName) -> Part:
    """One detailed part, ready to value subsets."""
    with one_thread():
        (seed,) = np.random.SeedSequence(settings.seed).spawn(1)
        crossfit = cross_fit(design, settings, seed, Menu(settings))
        return _prepare(crossfit, name, twin_risks(crossfit))


def _aggregate(crossfit: CrossFit) -> dict[str, Estimate]:
    means = {
        "000": corners.mean_000(crossfit.aggregate),
        "100": corners.mean_100(crossfit.aggregate),
        "110": corners.mean_110(crossfit.aggregate),
        "111": corners.mean_111(crossfit.aggregate),
    }
    parts = corners.aggregate(means)
    return {
        f"aggregate {name}": getattr(parts, name)
        for name in ("gap", "baseline", "covariate", "outcome")
    }


def _prepare(crossfit: CrossFit, name: PartName, risk: Risks) -> Part:
    probes = probe_subsets(len(crossfit.design.players), crossfit.settings.seed)
    if name == "covariate":
        return prepare_covariate(crossfit, probes, risk)
    return prepare_outcome(crossfit, probes, risk)


def _shares(solved: Detailed, name: PartName) -> dict[str, Estimate]:
    """The whole detail: numerators, values and shares."""
    found = {f"{name} denominator": solved.denominator}
    for subset in solved.subsets:
        label = "{" + ",".join(subset.players) + "}"
        found[f"{name} numerator {label}"] = subset.numerator
        if subset.value is not None:
            found[f"{name} value {label}"] = subset.value
    for player, share in solved.shares.items():
        found[f"{name} share {player}"] = share
    return found | _top_difference(solved)


def _top_difference(solved: Detailed) -> dict[str, Estimate]:
    """The contrast of the first two players."""
    if len(solved.players) < 2:
        return {}
    first, second = solved.players[:2]
    return {f"{solved.part} difference {first}-{second}": solved.difference(first, second)}


def _values(
    part: Part, name: PartName, design: Design, subsets: tuple[Subset, ...]
) -> dict[str, Estimate]:
    """Numerators and, where the denominator is positive, values of the named subsets."""
    denominator = part.denominator()
    found = {f"{name} denominator": denominator}
    for subset in subsets:
        label = "{" + ",".join(design.players[k].name for k in subset) + "}"
        numerator = part.numerator(subset)
        found[f"{name} numerator {label}"] = numerator
        if denominator.value > 0:
            found[f"{name} value {label}"] = 1 - numerator / denominator
    return found
