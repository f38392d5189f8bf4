"""Everything that does not depend on a subset: blocks, features, source risk, ratios, corners."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.corners import AggregateValues
from whygap.equations.halvings import Plan
from whygap.equations.lines import Walk
from whygap.estimate import Estimate, Sample
from whygap.learning.blocks import Blocks, BlockSet, make_blocks
from whygap.learning.features import Features, make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.primitives import Columns, Fits, MeanTask, fit_means, fit_ratios
from whygap.nuisances.held_out import everywhere, mean_task, out_of_fold
from whygap.nuisances.kept_ratios import KeptRatios
from whygap.nuisances.terms import Shared
from whygap.nuisances.walk import fit_walk
from whygap.settings import Settings
from whygap.tables.design import Design

# Units per domain: beyond, influence values are summed over random groups. This bounds memory and
# makes standard errors uncertain by 0.5%; variances stay unbiased.
INFLUENCE_GROUPS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Shared by the aggregate and all details of one cross-fitting; rows are in table order."""

    design: Design
    settings: Settings
    features: Features
    menu: Menu
    sample: Sample  # all rows
    # The source risk q at all rows: at source rows out of fold, at target rows averaged over the
    # source blocks' fits (which never saw target rows; out of fold if clusters are in both tables);
    # None where the outcome is not 0 or 1
    risk: ByDomain[Array] | None
    walk: Walk  # the metric from corner to corner
    ratio_w: Fits
    ratio_wz: Fits
    ratio_wy: Fits | None = None  # where the outcome comes first
    bound: float = math.inf  # what no density ratio of W and Z exceeds where these rows are
    kept: KeptRatios = field(default_factory=KeptRatios)  # density ratios on subsets

    @property
    def blocks(self) -> Blocks:
        """How the rows were cut."""
        return self.features.blocks

    @property
    def halves(self) -> tuple[BlockSet, ...]:
        """Training sets of the quadratic terms: twins."""
        return self.blocks.halves()

    @property
    def plan(self) -> Plan:
        """Which halvings quadratic terms are averaged over."""
        return Plan.of(self.blocks)

    @property
    def shared(self) -> Shared:
        """What fits of further terms need."""
        own = self.design, self.features, self.menu, self.sample
        return Shared(*own, self.aggregate.pi_w, self.aggregate.pi_wz, self.risk)

    @property
    def aggregate(self) -> AggregateValues:
        """The outcome part's per-row metric with what is known of it, and both ratios."""
        return self.walk.outcome.term.values

    def cut(self, ratio: Array, columns: Columns) -> Array:
        """A ratio of these columns, at most as large as is asked for and can be."""
        return np.minimum(ratio, largest(self.design, self.settings, self.bound, columns))

    def column(self, place: int) -> ByDomain[Array]:
        """One raw column; all of them at once are a copy of the tables."""
        return self.design.features.map(lambda x: x[:, place].copy())

    def all_columns(self) -> tuple[int, ...]:
        """W and Z."""
        return self.design.baseline + self.design.covariates


def zero(crossfit: CrossFit) -> Estimate:
    """Exactly 0, without error."""
    nothing = crossfit.sample.weights.map(lambda w: np.zeros(len(w)))
    return Estimate.from_contributions(
        crossfit.sample, source=nothing.source, target=nothing.target, plugin=0.0
    )


def cross_fit(
    design: Design,
    settings: Settings,
    seed: np.random.SeedSequence,
    menu: Menu,
    sample: Sample | None = None,
    bound: float = math.inf,
) -> CrossFit:
    """Cut the blocks and fit what the aggregate terms need (paper: Algorithm 1).

    Repeats of one analysis pass the first one's `sample`, so that their estimates combine; within a
    region no density ratio of W and Z exceeds its `bound`.
    """
    blocks = make_blocks(design, settings, np.random.default_rng(seed))
    features = make_features(design, blocks, blocks.halves(), menu.source_fits)
    everything = design.baseline + design.covariates
    affine = design.task == "binary" and not design.given
    risk = _source_risk(design, features, menu, everything) if affine else None
    ratio_w = ratio(features, menu, "pi_w", design.baseline)
    ratio_wz = ratio(features, menu, "pi_wz", everything)
    sample = sample or sample_of(design, settings)
    ratio_wy = ratio(features, menu, "pi_wy", design.second) if design.given else None
    pi_w, pi_wz = (
        np.minimum(out_of_fold(fits, "source"), largest(design, settings, bound, fits.columns))
        for fits in (ratio_w, ratio_wy or ratio_wz)
    )
    walk = fit_walk(Shared(design, features, menu, sample, pi_w, pi_wz, risk))
    own = design, settings, features, menu, sample, risk, walk
    return CrossFit(*own, ratio_w, ratio_wz, ratio_wy, bound)


def sample_of(design: Design, settings: Settings) -> Sample:
    """The rows, in no more units than are to be kept apart."""
    rng = np.random.default_rng([settings.seed, 2])  # a stream of its own
    return design.sample().grouped(INFLUENCE_GROUPS, rng)


def largest(design: Design, settings: Settings, bound: float, columns: Columns) -> float:
    """What density ratios of these columns are cut at.

    At `settings.clip` when asked for, and at the region's bound; that is none of ratios that know
    the outcome, which may be anything however alike W and Z are.
    """
    asked = math.inf if settings.clip is None else settings.clip
    return asked if set(design.given) & set(columns) else min(asked, bound)


def _source_risk(
    design: Design, features: Features, menu: Menu, columns: tuple[int, ...]
) -> ByDomain[Array]:
    """q(x) = p_0(Y=1 | x): the user's column, or fitted on source rows."""
    if design.source_risk is not None:
        return design.source_risk
    blocks, outcome = features.blocks, design.outcome.source
    halves = blocks.complements()
    task = mean_task(features, "p_0", "probability", columns, "source", outcome, halves)
    fits = _fitted(features, menu, task, columns="W, Z", target="outcome, source")
    source = out_of_fold(fits, "source")
    if design.shares_clusters:
        return ByDomain(source, out_of_fold(fits, "target"))
    return ByDomain(source, np.mean(list(everywhere(fits, "target").values()), axis=0))


def _fitted(features: Features, menu: Menu, task: MeanTask, **shown: str) -> Fits:
    learner = menu.learner(task.name, lambda: mean_probes(features, [task]), **shown)
    return fit_means(features, learner, task)


def ratio(features: Features, menu: Menu, name: str, columns: tuple[int, ...]) -> Fits:
    """The density ratio of some columns, by the learner that suits it."""
    shown = {"pi_w": "W", "pi_wy": "W, Y"}.get(name, "W, Z")
    probes = partial(ratio_probes, features, [columns])
    learner = menu.learner(name, probes, columns=shown, target="domain")
    return fit_ratios(features, learner, columns, name)
