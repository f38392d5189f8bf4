"""Split the rows once and fit the nuisances: equations (3) and (7) to (9), density ratios."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from whygap.domains import Array, ByDomain, Domain, Subset
from whygap.errors import SettingsError, name_list, require_known
from whygap.estimate import Estimate, Sample
from whygap.paper.learners import LearnerName, Predict, fit_mean, fit_ratio
from whygap.study import Study
from whygap.tables.design import Design, require_plain

TRAINING_SHARE = 0.8  # of the rows of each table; the rest evaluates (appendix D)
PERMUTATIONS = 10  # phantom copies of the target: about 1 recombined row in 20 keeps its bin


def binned(risk: Array, bins: int) -> Array:
    """Round a risk q to q_bin = floor(q B + 1/2) / B (section 4.2)."""
    return np.asarray(np.floor(risk * bins + 0.5) / bins)


@dataclass(frozen=True, eq=False)
class Nuisances:
    """Fit nuisances on the training rows; `mu_`, `pi_`, `p_` and m hold values at all rows.

    mu_ab_x is a mean of the loss: a and b say which domain the laws of Z and Y are from, x what is
    conditioned on. mu_10_w is eq. (8). W may be empty: then functions of W are constants, and pi_w
    is 1. `columns` are positions in the design, `subset` is s: covariates by number.
    """

    design: Design  # all rows
    encoded: ByDomain[Array]  # levels as indicators, no gaps
    owner: NDArray[np.int64]  # of every encoded column, the column of the design it belongs to
    training: ByDomain[NDArray[np.bool_]]  # the rows that train; the rest evaluates
    learner: LearnerName
    seed: int  # of the split, of forests and of permutations
    bins: int  # B of the binned source risk

    @classmethod
    def from_study(cls, study: Study, learner: LearnerName, seed: int, bins: int = 20) -> Self:
        """Split a study's rows at random, clusters whole: the first line of Algorithms 1 and 4."""
        names = ("paper", "fast")
        require_known(learner, names, f"There is no learner '{learner}'", "Learners", SettingsError)
        require_plain(study.design, "whygap.paper", "wg.explain takes all metrics and outcomes.")
        design = study.design
        rng = np.random.default_rng(seed)
        if design.clusters is None:
            training = design.rows.map(lambda n: rng.permutation(n) < TRAINING_SHARE * n)
        else:
            place = rng.random(1 + max(int(cluster.max()) for cluster in design.clusters))
            training = design.clusters.map(lambda cluster: place[cluster] < TRAINING_SHARE)
        return cls(design, *_encode(design), training, learner, seed, bins)

    @cached_property
    def evaluation(self) -> ByDomain[NDArray[np.int64]]:
        """Return the positions of evaluation rows."""
        return self.training.map(lambda train: np.flatnonzero(~train))

    @cached_property
    def sample(self) -> Sample:
        """Return the evaluation rows, with weights and clusters."""
        return self.design.sample(self.evaluation)

    def average(self, source: Array, target: Array, plugin: Array | None = None) -> Estimate:
        """Average over evaluation rows: P_0,n of `source` plus P_1,n of `target`.

        The plug-in estimate is P_1,n of `plugin`; None: the estimate has nothing to debias.
        """
        rows = ByDomain(source, target).zip(self.evaluation, lambda array, i: array[i])
        value = sum(self.sample.mean(rows))
        if plugin is not None:
            value = float(self.sample.weights.target @ plugin[self.evaluation.target])
            value /= len(rows.target)
        return Estimate.from_contributions(
            self.sample, source=rows.source, target=rows.target, plugin=value
        )

    def players(self, names: str | Sequence[str]) -> Subset:
        """Return the numbers of covariates by name, sorted."""
        everyone = [player.name for player in self.design.players]
        subset = name_list(names, "The subset s")
        for name in subset:
            require_known(name, everyone, f"'{name}' is no covariate of the study", "Covariates")
        return tuple(sorted({everyone.index(name) for name in subset}))

    @cached_property
    def _weights(self) -> ByDomain[Array]:
        return (self.design.weights or self.design.rows.map(np.ones)).map(lambda w: w / w.mean())

    def _inputs(self, columns: Sequence[int]) -> ByDomain[Array]:
        return self.encoded.map(lambda rows: rows[:, np.isin(self.owner, columns)])

    def _fit(self, domain: Domain, response: Array, inputs: ByDomain[Array]) -> Predict:
        train = self.training[domain]
        rows = inputs[domain][train]
        weights = self._weights[domain][train]
        return fit_mean(rows, response[train], weights, self.learner, self.seed)

    def mean(
        self, domain: Domain, response: Array, columns: Sequence[int], *extra: ByDomain[Array]
    ) -> ByDomain[Array]:
        """Fit E_d[response | columns and extra columns] on training rows of domain d."""
        inputs = self._inputs(columns)
        for column in extra:
            inputs = inputs.zip(column, lambda rows, values: np.column_stack([rows, values]))
        return inputs.map(self._fit(domain, response, inputs))

    def ratio(self, columns: Sequence[int]) -> ByDomain[Array]:
        """Fit p_1 / p_0 of some columns by classification; 1 without columns."""
        inputs = self._inputs(columns)
        rows, weights = (
            pair.zip(self.training, lambda values, train: values[train])
            for pair in (inputs, self._weights)
        )
        return inputs.map(fit_ratio(rows, weights, self.learner, self.seed))

    def loss_at(self, risk: ByDomain[Array]) -> ByDomain[Array]:
        """Return the mean loss a(x) + b(x) p of an outcome with risk p."""
        return self.design.intercept.zip(self.design.slope.zip(risk, np.multiply), np.add)

    @cached_property
    def risks(self) -> ByDomain[Predict]:
        """Return p_0(Y=1 | W, Z) and p_1(Y=1 | W, Z) as functions of encoded rows."""
        outcome = self.design.outcome
        return ByDomain(*(self._fit(domain, y, self.encoded) for domain, y in outcome.items()))

    p_0 = cached_property(lambda n: n.encoded.map(n.risks.source))  # Q = p_0(Y=1 | W, Z)
    p_1 = cached_property(lambda n: n.encoded.map(n.risks.target))  # p_1(Y=1 | W, Z)
    q_bin = cached_property(lambda n: n.p_0.map(lambda risk: binned(risk, n.bins)))
    mu_0_wz = cached_property(lambda n: n.loss_at(n.p_0))  # mu_..0(W, Z)
    mu_1_wz = cached_property(lambda n: n.loss_at(n.p_1))  # mu_..1(W, Z)
    mu_00_w = cached_property(lambda n: n.mu_00_wzs(()))  # mu_.00(W)
    mu_10_w = cached_property(lambda n: n.mu_s0_w(n.mu_0_wz))  # mu_.10(W), eq. (8)
    pi_w = cached_property(lambda n: n.pi_wzs(()))  # pi_100(W)
    pi_wz = cached_property(lambda n: n.ratio(range(len(n.design.columns))))  # pi_110(W, Z)

    def mu_00_wzs(self, subset: Subset) -> ByDomain[Array]:
        """Fit eq. (7), mu_.0-s0(Z_s, W) = E_.00[l | Z_s, W], on source rows."""
        return self.mean("source", self.design.loss.source, self.design.subset_columns(subset))

    def mu_s0_w(self, mu_00_wzs: ByDomain[Array]) -> ByDomain[Array]:
        """Fit eq. (9), mu_.s0(W) = E_.s0[l | W]: mu_.0-s0 regressed on W in the target."""
        return self.mean("target", mu_00_wzs.target, self.design.baseline)

    def pi_wzs(self, subset: Subset) -> ByDomain[Array]:
        """Fit pi_1s0(W, Z_s) = p_1(W, Z_s) / p_0(W, Z_s)."""
        return self.ratio(self.design.subset_columns(subset))

    def m(self, subset: Subset) -> ByDomain[Array]:
        """Fit eq. (3), the s-partial outcome law p_1(Y=1 | G), G = (W, Z_s, q_bin)."""
        columns = self.design.subset_columns(subset)
        return self.mean("target", self.design.outcome.target, columns, self.q_bin)

    def h(self, subset: Subset, m: ByDomain[Array]) -> ByDomain[Array]:
        """Fit E_1[b^2 (p_1 - m(G)) | G]; 0 for accuracy and 0-1 loss, where b^2 = 1."""
        square = self.design.slope.target**2
        if np.ptp(square) == 0:
            return m.map(np.zeros_like)
        response = square * (self.p_1.target - m.target)
        return self.mean("target", response, self.design.subset_columns(subset), self.q_bin)

    def swapped(self, subset: Subset) -> NDArray[np.bool_]:
        """Find the encoded columns of Z_-s, which a recombined row has from another row."""
        return ~np.isin(self.owner, self.design.subset_columns(subset))

    def slope_at(self, rows: Array) -> Array:
        """Return b of the loss a(x) + b(x) y, up to the sign, at encoded rows."""
        b = self.design.slope.target
        if np.ptp(np.abs(b)) > 0:
            raise SettingsError(
                "The V-statistic of this metric needs the model, at rows that nobody observed",
                hint="Take form='identity', which needs no rows but your own.",
            )
        return np.full(len(rows), b[0])

    def phantom_ratio(self, subset: Subset) -> Predict:
        """Fit pi = p_1(Z_-s | W, Z_s, q_bin) / p_1(Z_-s) by classification (appendix C).

        Its rows are encoded, with the bin as one more column. A phantom row has W, Z_s and the bin
        of one target row and Z_-s of another. The ratio is 0 where that is not its own bin, so only
        phantoms in their bin are compared with real rows.
        """
        rng = np.random.default_rng([self.seed, 1])
        train = self.training.target
        rows = self.encoded.target[train]
        bin_of = self.q_bin.target[train]
        weights = self._weights.target[train]
        swapped = self.swapped(subset)
        origin = np.tile(np.arange(len(rows)), PERMUTATIONS)
        donor = rng.permuted(origin.reshape(PERMUTATIONS, -1), axis=1).ravel()
        phantom = np.where(swapped, rows[donor], rows[origin])
        same_bin = binned(self.risks.source(phantom), self.bins) == bin_of[origin]
        features = ByDomain(
            np.column_stack([phantom, bin_of[origin]])[same_bin], np.column_stack([rows, bin_of])
        )
        weight = (weights[origin] * weights[donor])[same_bin] / PERMUTATIONS
        ratio = fit_ratio(features, ByDomain(weight, weights), self.learner, self.seed)
        in_bin = weight.sum() / weights.sum()  # share of all phantoms, in and out of their bins
        return lambda at: ratio(at) / in_bin


def _encode(design: Design) -> tuple[ByDomain[Array], NDArray[np.int64]]:
    """Turn levels into indicators, and gaps into means with an indicator."""
    parts: list[Array] = []
    for column, values in zip(design.columns, np.vstack(list(design.features)).T, strict=True):
        gap = np.isnan(values)
        if column.kind == "category":
            parts.append((values[:, None] == np.unique(values[~gap])).astype(float))
        else:
            filled = np.where(gap, values[~gap].mean() if not gap.all() else 0.0, values)
            parts.append(np.column_stack([filled, gap] if gap.any() else [filled]))
    owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    return ByDomain(*np.split(np.hstack(parts), [design.rows.source])), owner
