"""Everything that does not depend on a subset: blocks, features, source risk, ratios, corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.equations.corners import AggregateValues
from whygap.estimate import Sample
from whygap.learning.blocks import Blocks, BlockSet, make_blocks
from whygap.learning.conditional_mean import Fits, MeanTask, fit_means
from whygap.learning.density_ratio import RatioFits, fit_ratios
from whygap.learning.features import Features, make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.models import Kind
from whygap.nuisances.held_out import everywhere, out_of_fold, ratio_out_of_fold
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["CrossFit", "cross_fit", "loss_kind"]

_FOR_GROUPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Shared by the aggregate and both detailed parts of one cross-fitting.

    Arrays named `sorted_*` hold all rows in block order; all others hold the evaluated rows, in the
    tables' own order (so that repeats line up).

    Attributes:
        sorted_risk: the source risk q: at source rows out of fold, at target rows averaged over
            the source blocks' fits (target rows were never seen by them).
    """

    design: Design
    settings: Settings
    features: Features
    menu: Menu
    sample: Sample
    rows: ByDomain[IntArray]
    sorted_outcome: ByDomain[Array]
    sorted_loss: ByDomain[Array]
    sorted_intercept: ByDomain[Array]
    sorted_slope: ByDomain[Array]
    sorted_risk: ByDomain[Array]
    aggregate: AggregateValues
    ratio_w: RatioFits
    ratio_wz: RatioFits

    @property
    def blocks(self) -> Blocks:
        """How the rows were cut."""
        return self.features.blocks

    @property
    def halves(self) -> tuple[BlockSet, ...]:
        """Training sets of the quadratic terms: twins, or plain cross-fitting."""
        if self.settings.twins:
            return self.blocks.halves(self.settings.halvings)
        return self.blocks.complements()

    def evaluated(self, sorted_values: ByDomain[Array]) -> ByDomain[Array]:
        """Keep the evaluated rows."""
        return sorted_values.zip(self.rows, lambda values, rows: values[rows])

    def all_columns(self) -> tuple[int, ...]:
        """W and Z."""
        return self.design.baseline + self.design.covariates


def loss_kind(loss: ByDomain[Array]) -> Kind:
    """0/1 losses are probabilities to learn, losses within [0, 1] are bounded, others are real."""
    both = np.concatenate([loss.source, loss.target])
    if np.isin(both, (0.0, 1.0)).all():
        return "probability"
    return "bounded" if both.min() >= 0 and both.max() <= 1 else "real"


def cross_fit(
    design: Design,
    settings: Settings,
    seed: np.random.SeedSequence,
    menu: Menu,
    sample: Sample | None = None,
) -> CrossFit:
    """Cut the blocks and fit what the aggregate terms need (paper: Algorithm 1).

    Repeats of one analysis pass the first one's `sample`, so that their estimates combine.
    """
    blocks = make_blocks(design, settings, np.random.default_rng(seed))
    features = make_features(design, blocks)
    arrays = {
        name: getattr(design, name).zip(blocks.order, lambda v, order: v[order])
        for name in ("outcome", "loss", "intercept", "slope")
    }
    everything = design.baseline + design.covariates
    sorted_risk = _source_risk(design, features, menu, arrays["outcome"], everything)
    mu_00_w = _mean_loss_given_w(design, features, menu, arrays["loss"])
    ratio_w = _ratio(features, menu, "pi_w", design.baseline)
    ratio_wz = _ratio(features, menu, "pi_wz", everything)
    rows = blocks.back()
    sample = sample or _sample(design, blocks, settings)
    loss = arrays["loss"].zip(rows, lambda v, r: v[r])
    mu_0_wz = _mean_loss_given_wz(arrays, sorted_risk, rows)
    pi_w = clipped(ratio_out_of_fold(ratio_w, "source"), settings)
    pi_wz = clipped(ratio_out_of_fold(ratio_wz, "source"), settings)
    values = AggregateValues(sample, loss, mu_00_w, mu_0_wz, pi_w, pi_wz)
    by_name = {f"sorted_{name}": pair for name, pair in arrays.items()}
    return CrossFit(
        design=design,
        settings=settings,
        features=features,
        menu=menu,
        sample=sample,
        rows=rows,
        sorted_risk=sorted_risk,
        aggregate=values,
        ratio_w=ratio_w,
        ratio_wz=ratio_wz,
        **by_name,
    )


def _sample(design: Design, blocks: Blocks, settings: Settings) -> Sample:
    """The rows that are averaged over, in no more units than are to be kept apart."""
    rng = np.random.default_rng([settings.seed, _FOR_GROUPS])
    return design.sample(blocks.evaluated_rows()).grouped(settings.influence_groups, rng)


def _mean_loss_given_wz(
    arrays: dict[str, ByDomain[Array]], risk: ByDomain[Array], rows: ByDomain[IntArray]
) -> ByDomain[Array]:
    """mu_..0(W, Z) = a + b p_0, at the evaluated rows."""
    intercept, slope = arrays["intercept"], arrays["slope"]
    fitted = ByDomain(*(intercept[d] + slope[d] * risk[d] for d in DOMAINS))
    return fitted.zip(rows, lambda values, kept: values[kept])


def clipped(ratio: Array, settings: Settings) -> Array:
    """The ratio, cut at `settings.clip` when asked for."""
    return ratio if settings.clip is None else np.minimum(ratio, settings.clip)


def _source_risk(
    design: Design,
    features: Features,
    menu: Menu,
    outcome: ByDomain[Array],
    columns: tuple[int, ...],
) -> ByDomain[Array]:
    """q(x) = p_0(Y=1 | x): the user's column, or fitted on source rows."""
    blocks = features.blocks
    if design.source_risk is not None:
        return design.source_risk.zip(blocks.order, lambda v, order: v[order])
    task = MeanTask(
        "p_0", "probability", columns, features.plain.source, outcome.source, blocks.complements()
    )
    learner = menu.learner(
        "p_0", lambda: mean_probes(features, [task]), columns="W, Z", target="outcome, source"
    )
    fits = fit_means(features, learner, task)
    source = np.concatenate([_own_block(fits, k) for k in range(blocks.count)])
    target = np.mean(list(everywhere(fits, features.plain.target).values()), axis=0)
    return ByDomain(source, target)


def _own_block(fits: Fits, block: int) -> Array:
    blocks = fits.features.blocks
    trained_on = blocks.complement(block if block in blocks.evaluated else blocks.evaluated[0])
    return fits.predict(trained_on, fits.features.plain.source, block)


def _mean_loss_given_w(
    design: Design, features: Features, menu: Menu, loss: ByDomain[Array]
) -> ByDomain[Array]:
    """mu_.00(W) = E_0[l | W]."""
    task = MeanTask(
        "mu_00_w",
        loss_kind(loss),
        design.baseline,
        features.plain.source,
        loss.source,
        features.blocks.complements(),
    )
    learner = menu.learner(
        "mu_00_w", lambda: mean_probes(features, [task]), columns="W", target="metric, source"
    )
    fits = fit_means(features, learner, task)
    return features.plain.map(lambda view: out_of_fold(fits, view))


def _ratio(features: Features, menu: Menu, name: str, columns: tuple[int, ...]) -> RatioFits:
    learner = menu.learner(
        name,
        lambda: ratio_probes(features, [columns]),
        columns="W" if name == "pi_w" else "W, Z",
        target="domain",
        ratio=True,
    )
    return fit_ratios(features, learner, columns, features.blocks.complements(), name)
