"""Nuisances of the paper's own estimator of v_Y(s), `outcome_form="v_statistic"`.

A cross-check of the default form, and slower: plain cross-fitting (no twins), a phantom density
ratio and the model itself at recombined rows for every subset. Intervals are the paper's: the error
of the source risk is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, Domain, IntArray
from whygap.equations import v_statistic
from whygap.equations.v_statistic import PlainValues
from whygap.errors import SettingsError
from whygap.estimate import Estimate
from whygap.learning.choose import Probe
from whygap.learning.conditional_mean import Checked, Fits, Label, MeanTask, fit_means
from whygap.learning.inputs import Inputs
from whygap.learning.menu import mean_probes
from whygap.learning.models import Model
from whygap.nuisances.ground import Ground
from whygap.nuisances.held_out import out_of_fold
from whygap.nuisances.phantom_ratio import PhantomRatio, fit_phantom_ratio, phantom_probe
from whygap.nuisances.recombined import Lenders, Recombination, stream_pairs
from whygap.nuisances.risk_bins import Fold
from whygap.settings import Settings
from whygap.tables.design import Design, Note

__all__ = ["PLAIN_NOTE", "VStatisticPart", "prepare_v_statistic", "require_model"]

PLAIN_NOTE = Note(
    "info",
    "The outcome shares use the paper's own estimator (outcome_form='v_statistic'): plain "
    "cross-fitting without twins, and intervals that do not count the error of the estimated "
    "source risk.",
)
_PROBED_FOLDS = 3
_FOR_PROBES, _FOR_PAIRS = 41, 42

Labelled = tuple[Inputs, Array, Array]


@dataclass(frozen=True, slots=True, eq=False)
class VStatisticPart:
    """Shared by all subsets; `numerator(players)` values one."""

    ground: Ground
    values: PlainValues
    folds: tuple[Fold, ...]
    probe_sets: Sequence[tuple[int, ...]]
    repeat: int

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.ground.design.players)

    def denominator(self) -> Estimate:
        """Mean squared difference of the two risks' metrics."""
        return v_statistic.denominator(self.values)

    def numerator(self, players: tuple[int, ...]) -> Estimate:
        """Debiased numerator of v_Y(s); exactly 0 for the full set."""
        if len(players) == self.players:
            p_1 = self.values.p_1.target
            return v_statistic.numerator(self.values, p_1, np.zeros_like(p_1))
        found = [self._block(fold, players) for fold in self.folds]
        back = self.ground.rows.target
        m, averages = (np.concatenate(arrays)[back] for arrays in zip(*found, strict=True))
        return v_statistic.numerator(self.values, m, averages)

    def _block(self, fold: Fold, players: tuple[int, ...]) -> tuple[Array, Array]:
        """m(G) and the average over pairs, at the target rows of one block."""
        ground, rows = self.ground, fold.held_out_rows
        rng = self._rng(_FOR_PAIRS, fold, players)
        columns, swapped = _columns(ground.design, players)
        m = self._fit_m(fold, columns).predict(fold.observed(rows, columns))
        ratio = fit_phantom_ratio(fold, swapped, self._ratio_learner(), rng)
        at = _recombination(fold, ratio, ground.design.recombined)
        features = ground.features
        lenders = Lenders(
            rows, fold.number[rows], features.weights.target[rows], _units(ground)[rows]
        )
        averages = v_statistic.pair_averages(
            stream_pairs(features.raw.target, lenders, swapped, at, rng),
            ground.sorted_outcome.target[rows],
            m,
            self_normalised=ground.settings.self_normalised,
        )
        return m, averages

    def _fit_m(self, fold: Fold, columns: tuple[int, ...]) -> Model:
        """m(G) = p_1(Y=1 | W, Z_s, q_bin), trained on the target rows of the other blocks."""
        ground = self.ground
        learner = ground.menu.learner(
            "m",
            lambda: [
                _m_probe(f, _columns(ground.design, s)[0])
                for s in self.probe_sets
                for f in self.folds[:_PROBED_FOLDS]
            ],
            columns="W, Z_s, source risk",
            target="outcome, target",
        )
        inputs, target, weight = _labelled(fold, fold.training_rows, columns)
        label = Label.of(ground.features, "m", fold.trained_on, columns)
        with label.named("Fitting"):
            return Checked(learner.fit(inputs, target, weight, "probability"), label)

    def _ratio_learner(self) -> object:
        """Chosen also on the empty set, whose phantoms are the furthest from the originals."""
        return self.ground.menu.learner(
            "pi_phantom",
            lambda: [
                phantom_probe(f, _columns(self.ground.design, s)[1], self._rng(_FOR_PROBES, f, s))
                for s in dict.fromkeys([(), *self.probe_sets])
                for f in self.folds[:_PROBED_FOLDS]
            ],
            columns="W, Z, source risk",
            target="original or recombined row, target",
            ratio=True,
        )

    def _rng(self, purpose: int, fold: Fold, players: tuple[int, ...]) -> np.random.Generator:
        """Draws that depend on what they are for, not on the order in which subsets come."""
        key = [self.ground.settings.seed, purpose, self.repeat, fold.block, *players]
        return np.random.default_rng(np.random.SeedSequence(key))


def prepare_v_statistic(
    ground: Ground, probe_sets: Sequence[tuple[int, ...]], repeat: int = 0
) -> VStatisticPart:
    """Both risks by plain cross-fitting, and the bins of the target rows."""
    require_model(ground.design, ground.settings)
    p_0, p_1 = _risk(ground, "source"), _risk(ground, "target")
    plain = ground.features.plain
    values = PlainValues(
        ground.sample,
        ground.evaluated(ground.sorted_outcome),
        ground.evaluated(ground.sorted_intercept),
        ground.evaluated(ground.sorted_slope),
        plain.map(lambda view: out_of_fold(p_0, view)),
        plain.map(lambda view: out_of_fold(p_1, view)),
        ground.aggregate.pi_wz,
    )
    folds = tuple(
        Fold.of(ground, k, *(fits.models[ground.blocks.complement(k)] for fits in (p_0, p_1)))
        for k in ground.blocks.evaluated
    )
    return VStatisticPart(ground, values, folds, probe_sets, repeat)


def require_model(design: Design, settings: Settings) -> None:
    """The V-statistic asks the model, and the source risk, about rows that nobody observed."""
    if settings.outcome_form != "v_statistic":
        return
    if design.recombined is None:
        raise SettingsError(
            "The 'outcome_form' setting 'v_statistic' needs the model itself, at rows recombined "
            "from the baseline and covariate columns",
            got="a prediction column, or a model that reads other columns",
            hint="Give Study(model=...) without prediction=, or use outcome_form='binned', which "
            "needs predictions at the observed rows only.",
        )
    if design.source_risk is not None:
        raise SettingsError(
            "The 'outcome_form' setting 'v_statistic' needs the source risk at recombined rows, "
            "where a source_risk column says nothing",
            hint="Leave out source_risk= (the risk is then estimated), or use "
            "outcome_form='binned'.",
        )


def _risk(ground: Ground, domain: Domain) -> Fits:
    """p_0 or p_1 given W and Z, each trained on all blocks but one."""
    name = "p_0" if domain == "source" else "p_1"
    task = MeanTask(
        name,
        "probability",
        ground.all_columns(),
        ground.features.plain[domain],
        ground.sorted_outcome[domain],
        ground.blocks.complements(),
    )
    learner = ground.menu.learner(
        name,
        lambda: mean_probes(ground.features, [task]),
        columns="W, Z",
        target=f"outcome, {domain}",
    )
    return fit_means(ground.features, learner, task)


def _columns(design: Design, players: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of (W, Z_s), and of Z_-s."""
    known = design.subset_columns(players)
    return known, tuple(c for c in design.covariates if c not in known)


def _units(ground: Ground) -> IntArray:
    """The cluster of every target row, or the row itself; block-sorted."""
    clusters, order = ground.design.clusters, ground.blocks.order.target
    if clusters is None:
        return np.arange(len(order))
    return np.unique(clusters.target, return_inverse=True)[1][order].astype(np.int64)


def _labelled(fold: Fold, rows: IntArray, columns: tuple[int, ...]) -> Labelled:
    ground = fold.ground
    weight = ground.features.weights.target[rows]
    return fold.observed(rows, columns), ground.sorted_outcome.target[rows], weight


def _m_probe(fold: Fold, columns: tuple[int, ...]) -> Probe:
    train = _labelled(fold, fold.training_rows, columns)
    return Probe("probability", *train, *_labelled(fold, fold.held_out_rows, columns))


def _recombination(
    fold: Fold, ratio: PhantomRatio, metric: Callable[[Array], tuple[Array, Array]] | None
) -> Recombination:
    """Everything at recombined rows; wide matrices are held twice while they are put together."""
    assert metric is not None  # noqa: S101 - require_model has seen to it
    width = len(fold.ground.features.columns)
    functions = fold.ground.features.basis.target.shape[1]
    wide = (2 + len(fold.terms.ends)) * functions
    return Recombination(
        fold.number_at, fold.p_1_at, ratio.at, metric, 4 * width + 2 * functions + 2 * wide + 32
    )
