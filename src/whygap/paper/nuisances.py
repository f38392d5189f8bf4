"""Fit the nuisances: equations (3) and (7) to (9), density ratios (appendices C and D)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from whygap.domains import Array, ByDomain, Domain, Subset
from whygap.errors import SettingsError, name_list, require_known
from whygap.estimate import Estimate
from whygap.study import Study
from whygap.tables.design import Design, require_plain

Predict = Callable[[Array], Array]
LearnerName = Literal["paper", "fast"]
LEAST_PROBABILITY = 1e-3  # of a domain: a forest may say 0, and a ratio must stay finite
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

    def average(self, source: Array, target: Array, plugin: Array | None = None) -> Estimate:
        """Average over evaluation rows: P_0,n of `source` plus P_1,n of `target`.

        The plug-in estimate is P_1,n of `plugin`; None: the estimate has nothing to debias.
        """
        i = self.evaluation
        rows = {"source": source[i.source], "target": target[i.target]}
        estimate = Estimate.from_contributions(self.sample, **rows)
        if plugin is None:
            return replace(estimate, plugin=estimate.value)
        mean = np.average(plugin[i.target], weights=self.sample.weights.target)
        return replace(estimate, plugin=float(mean))

    def players(self, names: str | Sequence[str]) -> Subset:
        """Return the numbers of covariates by name, sorted.

        Args:
            names: of covariates or groups; a single name counts as a list.
        """
        everyone = [player.name for player in self.design.players]
        subset = name_list(names, "The subset s")
        for name in subset:
            require_known(name, everyone, f"'{name}' is no covariate of the study", "Covariates")
        return tuple(sorted({everyone.index(name) for name in subset}))

    def _inputs(self, columns: Sequence[int]) -> ByDomain[Array]:
        return self.encoded.map(lambda rows: rows[:, np.isin(self.owner, columns)])

    def _fit(self, domain: Domain, response: Array, inputs: ByDomain[Array]) -> Predict:
        train = self.training[domain]
        rows = inputs[domain][train]
        weights = self.weights[domain][train]
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
        """Fit p_1 / p_0 of some columns by classification; 1 without columns.

        Args:
            columns: by number.
        """
        inputs = self._inputs(columns)
        rows, weights = (
            pair.zip(self.training, lambda values, train: values[train])
            for pair in (inputs, self.weights)
        )
        return inputs.map(_fit_ratio(rows, weights, self.learner, self.seed))

    def loss_at(self, risk: ByDomain[Array]) -> ByDomain[Array]:
        """Return the mean loss a(x) + b(x) p of an outcome with risk p."""
        return self.design.intercept.zip(self.design.slope.zip(risk, np.multiply), np.add)

    @cached_property
    def risks(self) -> ByDomain[Predict]:
        """Return p_0(Y=1 | W, Z) and p_1(Y=1 | W, Z) as functions of encoded rows."""
        outcome = self.design.outcome
        return ByDomain(*(self._fit(domain, y, self.encoded) for domain, y in outcome.items()))

    evaluation = cached_property(lambda n: n.training.map(lambda train: np.flatnonzero(~train)))
    sample = cached_property(lambda n: n.design.sample(n.evaluation))  # weights and clusters
    weights = cached_property(lambda n: n.design.sample().weights)  # of all rows, with mean 1
    p_0 = cached_property(lambda n: n.encoded.map(n.risks.source))  # Q = p_0(Y=1 | W, Z)
    p_1 = cached_property(lambda n: n.encoded.map(n.risks.target))  # p_1(Y=1 | W, Z)
    q_bin = cached_property(lambda n: n.p_0.map(lambda risk: binned(risk, n.bins)))
    binned_rows = cached_property(lambda n: np.column_stack([n.encoded.target, n.q_bin.target]))
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
        """Fit eq. (3), the s-partial outcome law p_1(Y=1 | G), G = (W, Z_s, q_bin).

        Args:
            subset: s, covariates by number.
        """
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
        """Find the columns of `binned_rows` that a recombined row has from another row: Z_-s."""
        return np.append(~np.isin(self.owner, self.design.subset_columns(subset)), False)

    def stays(self, phantom: Array) -> NDArray[np.bool_]:
        """Return which rows, like `binned_rows`, have a risk in the recorded bin."""
        return np.equal(binned(self.risks.source(phantom[:, :-1]), self.bins), phantom[:, -1])

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

        Takes `binned_rows`. A phantom row has W, Z_s and the bin of one target row and Z_-s of
        another. The ratio is 0 where that is not its own bin, so only phantoms in their bin are
        compared with real rows.
        """
        rng = np.random.default_rng([self.seed, 1])
        rows = self.binned_rows[self.training.target]
        weights = self.weights.target[self.training.target]
        origin = np.tile(np.arange(len(rows)), PERMUTATIONS)
        donor = rng.permuted(origin.reshape(PERMUTATIONS, -1), axis=1).ravel()
        phantom = np.where(self.swapped(subset), rows[donor], rows[origin])
        stays = self.stays(phantom)
        weight = (weights[origin] * weights[donor])[stays] / PERMUTATIONS
        pair = ByDomain(phantom[stays], rows)
        ratio = _fit_ratio(pair, ByDomain(weight, weights), self.learner, self.seed)
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


def fit_mean(
    features: Array, response: Array, weights: Array, learner: LearnerName, seed: int
) -> Predict:
    """Fit E[response | features] by a classifier if the response is 0 or 1, or by a regressor."""
    varies = np.ptp(features, axis=0) > 0
    if np.ptp(response) == 0 or not varies.any():
        constant = float(np.average(response, weights=weights))
        return lambda rows: np.full(len(rows), constant)
    binary = bool(np.isin(response, (0.0, 1.0)).all())
    model = _paper_menu(int(varies.sum()), binary, seed) if learner == "paper" else _fast(binary)
    model.fit(features[:, varies], response, model__sample_weight=weights)
    if binary:
        return lambda rows: np.asarray(model.predict_proba(rows[:, varies])[:, 1])
    return lambda rows: np.asarray(model.predict(rows[:, varies]))


def _fit_ratio(
    features: ByDomain[Array], weights: ByDomain[Array], learner: LearnerName, seed: int
) -> Predict:
    """Fit p_1(x) / p_0(x): the odds of a classifier of the domain, times n_0 / n_1."""
    domain = np.repeat([0.0, 1.0], [len(rows) for rows in features])
    stacked = np.vstack(list(features))
    weight = np.concatenate(list(weights))
    probability = fit_mean(stacked, domain, weight, learner, seed)
    prior = float(weights.source.sum() / weights.target.sum())  # n_0 / n_1

    def _ratio(rows: Array) -> Array:
        p = np.clip(probability(rows), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return np.asarray(p / (1 - p) * prior)

    return _ratio


def _paper_menu(columns: int, binary: bool, seed: int) -> GridSearchCV:
    """Select among forests and polynomials with a ridge penalty by 3-fold cross-validation."""
    trees: Any = RandomForestClassifier if binary else RandomForestRegressor
    # 164 cubic terms of 8 columns; of 34 columns there would be 7,769.
    cubic = PolynomialFeatures(3 if columns <= 8 else 1, include_bias=False)
    polynomial = make_pipeline(StandardScaler(), cubic, StandardScaler())
    forest = trees(n_estimators=200, random_state=seed)
    ridge = {"model__C": [0.01, 0.1, 1.0]} if binary else {"model__alpha": [1.0, 10.0, 100.0]}
    grid: list[dict[str, list[Any]]] = [
        {"terms": ["passthrough"], "model": [forest], "model__max_depth": [2, 4, 8]},
        {"terms": [polynomial], **ridge},
    ]
    scoring = "neg_log_loss" if binary else "neg_mean_squared_error"
    return GridSearchCV(_fast(binary), grid, scoring=scoring, cv=3)  # appendix D


def _fast(binary: bool) -> Pipeline:
    """Fit a ridge on a curve for each column and the products of two columns."""
    curves = SplineTransformer(n_knots=4, include_bias=False, extrapolation="linear")
    products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    basis = make_pipeline(StandardScaler(), FeatureUnion([("1", curves), ("2", products)]))
    model = LogisticRegression(solver="newton-cholesky", max_iter=500) if binary else Ridge()
    return Pipeline([("terms", basis), ("model", model)])
