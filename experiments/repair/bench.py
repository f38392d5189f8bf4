"""Measure revisions with the top 0, 1, ..., K variables, on rows no model was trained on.

A revision is Y on (Q, W, Z_s): the logit of the source risk Q, the baseline and some variables,
fitted on target rows (the paper, section 5.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from experiments.repair.scores import Scores, score_target
from whygap.domains import Array, IntArray
from whygap.errors import TableError
from whygap.estimate import Estimate, Sample
from whygap.learning.standalone import fit_mean
from whygap.settings import Settings
from whygap.tables.build import LEAST_ROWS
from whygap.tables.design import Design

__all__ = ["Bench", "Step", "StepKind", "auc_differences"]

StepKind = Literal["original", "targeted", "retrained"]
FEWEST_EACH = 10  # rows of either outcome: two in each of five folds, so that an AUC exists
LEAST_RISK = 1e-4  # no fitted risk is nearer to 0 or 1, so that a log loss stays finite


@dataclass(frozen=True, slots=True)
class Step:
    """One choice of variables, measured.

    Attributes:
        kind: "original" (the model as it is), "targeted" (source risk corrected on the target) or
            "retrained" (corrected with every variable).
        variables: names of the chosen variables.
        scores: on held-out target rows.
    """

    kind: StepKind
    variables: tuple[str, ...]
    scores: Scores


class Bench:
    """Scores choices of variables on one design, on the same folds, each choice once."""

    def __init__(self, design: Design, settings: Settings, threshold: float = 0.5) -> None:
        _check_rows(design)
        self.design = design
        self.sample: Sample = design.sample()
        self.threshold = threshold
        self.seed = settings.seed
        rng = np.random.default_rng([settings.seed, 8])
        self.fold: IntArray = _folds(
            design.outcome.target, self.sample.units.target, settings.folds, rng
        )
        self.source_risk: Array = self._source_risk()  # at target rows
        self._scores_of: dict[frozenset[int], Scores] = {}

    def original(self) -> Step:
        """Score the model's own predictions."""
        return Step("original", (), self._scores(self.design.prediction.target))

    def targeted(self, players: tuple[int, ...]) -> Step:
        """Score Y on (Q, W, Z_s), fitted on part of the target and measured on the rest."""
        key = frozenset(players)
        if key not in self._scores_of:
            columns = self.design.subset_columns(tuple(sorted(players)))
            self._scores_of[key] = self._scores(self._revised(columns))
        names = tuple(self.design.players[p].name for p in players)
        return Step("targeted", names, self._scores_of[key])

    def retrained(self) -> Step:
        """Score Y on (Q, W, Z) with every variable: the ceiling."""
        return replace(self.targeted(tuple(range(len(self.design.players)))), kind="retrained")

    def _revised(self, columns: tuple[int, ...]) -> Array:
        """Return probabilities of target rows, each by a revision that was fitted without it."""
        design = self.design
        logit = special.logit(np.clip(self.source_risk, 1e-6, 1 - 1e-6))  # finite for every risk
        rows = np.column_stack([logit, design.features.target[:, list(columns)]])
        categories = _categories(design, columns, shift=1)
        probability = np.zeros(len(rows))
        for k in np.unique(self.fold):
            train = self.fold != k
            outcome, weight = design.outcome.target[train], self.sample.weights.target[train]
            risk = _fit_risk(rows[train], outcome, weight, categories, self.seed, start=0)
            probability[~train] = risk(rows[~train])
        return probability

    def _source_risk(self) -> Array:
        """Return Q at target rows: as it is known, or fitted on the source rows."""
        design = self.design
        if design.source_risk is not None:
            return design.source_risk.target
        columns = design.baseline + design.covariates
        source, target = (rows[:, list(columns)] for rows in design.features)
        outcome, weight = design.outcome.source, self.sample.weights.source
        return _fit_risk(source, outcome, weight, _categories(design, columns), self.seed)(target)

    def _scores(self, probability: Array) -> Scores:
        return score_target(self.sample, probability, self.design.outcome.target, self.threshold)


def auc_differences(
    design: Design, first: Sequence[str], second: Sequence[str], top: int, settings: Settings
) -> list[Estimate]:
    """Return AUC by the top k of one ranking minus that by the top k of another, k = 1..top.

    Differences are paired: rows and folds are the same, and the same variables give exactly 0.

    Args:
        design: encoded rows of both domains.
        first: names of players, most important first.
        second: names of players, most important first.
        top: the largest k.
        settings: seed and folds.
    """
    bench = Bench(design, settings)
    place = {player.name: k for k, player in enumerate(design.players)}
    orders = [tuple(place[name] for name in names[:top]) for names in (first, second)]
    differences = []
    for k in range(1, top + 1):
        ours, theirs = (bench.targeted(order[:k]).scores.auc for order in orders)
        differences.append(ours - theirs)
    return differences


def _fit_risk(
    features: Array,
    outcome: Array,
    weight: Array,
    categories: tuple[int, ...],
    seed: int,
    start: int | None = None,
) -> Callable[[Array], Array]:
    """Fit P(Y=1 | features); `start` is the column with the logit of a known risk."""
    risk = fit_mean(features, outcome, weight, categories, seed, start)
    return lambda rows: np.clip(risk(rows), LEAST_RISK, 1 - LEAST_RISK)


def _categories(design: Design, columns: tuple[int, ...], shift: int = 0) -> tuple[int, ...]:
    """Return positions, among these columns, of those without order; `shift` columns precede."""
    return tuple(
        place + shift for place, j in enumerate(columns) if design.columns[j].kind == "category"
    )


def _check_rows(design: Design) -> None:
    rows = design.rows.target
    happened = int(design.outcome.target.sum())
    if rows < LEAST_ROWS or min(happened, rows - happened) < FEWEST_EACH:
        raise TableError(
            f"Revising needs at least {LEAST_ROWS} target rows with at least {FEWEST_EACH} of "
            "each outcome",
            got=f"{rows} rows, {happened} with the outcome",
            hint="Label more target rows.",
        )


def _folds(outcome: Array, units: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Return folds by unit, cases spread evenly: units are dealt out by their mean outcome."""
    count = int(units.max()) + 1
    mean = np.bincount(units, weights=outcome, minlength=count) / np.bincount(units)
    order = np.lexsort((rng.random(count), mean))
    fold = np.empty(count, dtype=np.int64)
    fold[order] = np.arange(count) % folds
    return np.asarray(fold[units])
