"""Measure revisions with the top 0, 1, ..., K variables, on rows no model was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap.domains import Array, IntArray
from whygap.errors import SettingsError, TableError
from whygap.estimate import Sample
from whygap.repair.model import RiskClassifier, SourceRisk, revision_inputs
from whygap.repair.scores import Scores, score_target
from whygap.settings import Settings
from whygap.tables.build import LEAST_ROWS
from whygap.tables.design import Design

__all__ = ["Bench", "Step", "StepKind", "check_revisable", "check_top", "revision_learner"]

StepKind = Literal["original", "targeted", "reweighted", "retrained"]
Columns = tuple[int, ...]
FEWEST_EACH = 10  # two of each outcome in each of five folds: an AUC exists


@dataclass(frozen=True, slots=True)
class Step:
    """One choice, measured."""

    # "original" (the model as it is), "targeted" (source risk corrected on the target),
    # "reweighted" (retrained on reweighted source rows), "retrained" (everything, on the target)
    kind: StepKind
    k: int  # how many variables were chosen
    variables: tuple[str, ...]  # their names
    scores: Scores  # on held-out target rows
    effective_rows: float  # of the reweighted source rows; else the rows trained on


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a choice of variables brings, whatever their order."""

    scores: Scores
    effective_rows: float


class Bench:
    """Scores choices of variables on one design, on the same folds, each choice once."""

    def __init__(self, design: Design, settings: Settings, threshold: float = 0.5) -> None:
        check_rows(design)
        self.design = design
        self.sample: Sample = design.sample()
        self.threshold = threshold
        self.seed = settings.seed
        rng = np.random.default_rng([settings.seed, 8])
        self.fold: IntArray = _folds(
            design.outcome.target, self.sample.units.target, settings.folds, rng
        )
        self.risk = self._source_risk()
        self._known: dict[tuple[StepKind, frozenset[int]], _Measured] = {}

    def original(self) -> Step:
        """The model's own predictions."""
        scores = self._scores(self.design.prediction.target)
        return Step("original", 0, (), scores, float(self.design.rows.source))

    def targeted(self, players: tuple[int, ...]) -> Step:
        """Y on (Q, W, Z_s), fitted on part of the target, measured on the rest."""
        return self._step("targeted", players, self._targeted)

    def reweighted(self, players: tuple[int, ...]) -> Step:
        """Y on (W, Z), fitted on source rows that are made to look like the target in (W, Z_s)."""
        return self._step("reweighted", players, self._reweighted)

    def retrained(self) -> Step:
        """Y on (Q, W, Z) with every variable: the ceiling."""
        return replace(self.targeted(tuple(range(len(self.design.players)))), kind="retrained")

    def _step(
        self, kind: StepKind, players: Columns, measure: Callable[[Columns], _Measured]
    ) -> Step:
        key = (kind, frozenset(players))
        if key not in self._known:
            self._known[key] = measure(self.design.subset_columns(tuple(sorted(players))))
        found = self._known[key]
        names = tuple(self.design.players[p].name for p in players)
        return Step(kind, len(players), names, found.scores, found.effective_rows)

    def _targeted(self, columns: tuple[int, ...]) -> _Measured:
        design = self.design
        given = None if design.source_risk is None else design.source_risk.target
        risk = self.risk.at(self._all(design.features.target), given)
        rows = revision_inputs(risk, design.features.target, columns)
        probability = np.zeros(len(rows))
        for k in np.unique(self.fold):
            train = self.fold != k
            model = revision_learner(design, columns, self.seed).fit(
                rows[train], design.outcome.target[train], self.sample.weights.target[train]
            )
            probability[~train] = model.predict_proba(rows[~train])[:, 1]
        return _Measured(self._scores(probability), float(design.rows.target))

    def _reweighted(self, columns: tuple[int, ...]) -> _Measured:
        weight = self.sample.weights.source * self._ratio(columns)
        model = self._source_model(weight / weight.mean())
        probability = model.predict_proba(self._all(self.design.features.target))[:, 1]
        effective = float(weight.sum() ** 2 / (weight**2).sum())
        return _Measured(self._scores(probability), effective)

    def _ratio(self, columns: tuple[int, ...]) -> Array:
        """p_1 / p_0 of some columns at source rows, out of fold."""
        rows = self.design.rows
        if not columns:
            return np.ones(rows.source)
        features = np.vstack(list(self.design.features))[:, list(columns)]
        domain = np.repeat([0.0, 1.0], list(rows))
        weight = np.concatenate(list(self.sample.weights))
        rng = np.random.default_rng([self.seed, 9])
        units, folds = self.sample.units.source, 3  # two thirds train the ratio at the others
        source_fold = rng.permutation(np.arange(int(units.max()) + 1) % folds)[units]
        fold = np.concatenate([source_fold, np.full(rows.target, -1)])
        ratio = np.zeros(rows.source)
        for k in range(folds):
            train = fold != k
            model = RiskClassifier(categories_in(self.design, columns), seed=self.seed)
            model.fit(features[train], domain[train], weight[train])
            odds = model.predict_proba(features[fold == k])
            prior = (domain[train] == 0).sum() / rows.target
            ratio[source_fold == k] = odds[:, 1] / odds[:, 0] * prior
        return ratio

    def _source_risk(self) -> SourceRisk:
        if self.design.source_risk is not None:
            return SourceRisk(None)
        return SourceRisk(self._source_model(self.sample.weights.source))

    def _source_model(self, weight: Array) -> RiskClassifier:
        """Y on (W, Z), fitted on the source rows with these weights."""
        design = self.design
        columns = design.baseline + design.covariates
        return RiskClassifier(categories_in(design, columns), seed=self.seed).fit(
            self._all(design.features.source), design.outcome.source, weight
        )

    def _all(self, features: Array) -> Array:
        return features[:, list(self.design.baseline + self.design.covariates)]

    def _scores(self, probability: Array) -> Scores:
        return score_target(self.sample, probability, self.design.outcome.target, self.threshold)


def revision_learner(design: Design, columns: tuple[int, ...], seed: int) -> RiskClassifier:
    """Unfitted; its first input is the logit of the source risk, then come these columns."""
    return RiskClassifier(categories_in(design, columns, shift=1), seed=seed, start=0)


def categories_in(design: Design, columns: tuple[int, ...], shift: int = 0) -> tuple[int, ...]:
    """Positions, among these columns, of those without order; `shift` columns come before."""
    return tuple(
        place + shift for place, j in enumerate(columns) if design.columns[j].kind == "category"
    )


def check_revisable(design: Design, top: int) -> None:
    """Refuse too small a target and a number of variables that cannot be chosen."""
    check_rows(design)
    check_top(top, len(design.players))


def check_rows(design: Design) -> None:
    rows = design.rows.target
    happened = int(design.outcome.target.sum())
    if rows < LEAST_ROWS or min(happened, rows - happened) < FEWEST_EACH:
        raise TableError(
            f"Revising needs at least {LEAST_ROWS} target rows with at least {FEWEST_EACH} of "
            "each outcome",
            got=f"{rows} rows, {happened} with the outcome",
            hint="Label more target rows; plan_labels says how many an interval needs.",
        )


def check_top(top: int, players: int) -> None:
    """Refuse a number of variables that cannot be chosen."""
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise SettingsError("top must be a whole number, 0 or more", got=repr(top))
    if top > players:
        raise SettingsError(
            "top is larger than the number of players",
            got=f"{top} of {players}",
            hint=f"Use top={players} to revise with every variable.",
        )


def _folds(outcome: Array, units: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Folds by unit, cases spread evenly: units are dealt out in order of their mean outcome."""
    count = int(units.max()) + 1
    mean = np.bincount(units, weights=outcome, minlength=count) / np.bincount(units)
    order = np.lexsort((rng.random(count), mean))
    fold = np.empty(count, dtype=np.int64)
    fold[order] = np.arange(count) % folds
    return np.asarray(fold[units])
