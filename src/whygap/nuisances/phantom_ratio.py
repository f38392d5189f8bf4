"""The phantom ratio p_1(Z_-s | W, Z_s, q_bin) / p_1(Z_-s), from a classifier of target rows.

Original rows against phantoms: rows whose Z_-s was borrowed from another row. A phantom keeps the
bin of the row that kept its W and Z_s. Where its own bin is another one no original row can be, and
the ratio is exactly 0; so the classifier sees only phantoms that stayed in their bin, and

    ratio = odds * (weight of all phantoms, in their bin or not) / (weight of the originals).

Deviation from the paper (appendix, "Density ratio models"): there each phantom gets the bin of the
recombined row, which makes the classifier estimate p_1(Z_-s | W, Z_s) / p_1(Z_-s): without the
factor 1 / p_1(q_bin | W, Z_s) the weights do not sum to 1 within a bin (docs/v_statistic.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, IntArray
from whygap.errors import FitError
from whygap.learning.choose import Probe
from whygap.learning.choose_ratio import as_ratio_blend, odds
from whygap.learning.conditional_mean import Checked, Label
from whygap.learning.density_ratio import stacked
from whygap.learning.inputs import Inputs
from whygap.learning.models import Model
from whygap.nuisances.recombined import Mixed
from whygap.nuisances.risk_bins import Fold

__all__ = ["PhantomRatio", "fit_phantom_ratio", "phantom_probe"]

_MOST_ROUNDS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Originals (label 1) and phantoms in their bin (label 0), and the rounds of borrowing."""

    inputs: Inputs
    label: Array
    weight: Array
    rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class PhantomRatio:
    """Fitted classifiers whose odds are averaged; `rounds` turns odds into a ratio."""

    fold: Fold
    weights: tuple[float, ...]
    models: tuple[Model, ...]
    rounds: int

    def at(self, mixed: Mixed, number: Array) -> Array:
        """The ratio at recombined rows that are in the bin of the row that was kept."""
        inputs = self.fold.terms.join(self.fold.inputs_at(mixed), number)
        total = np.zeros(len(mixed))
        for weight, model in zip(self.weights, self.models, strict=True):
            total += weight * odds(model.predict(inputs))
        return total * self.rounds


def fit_phantom_ratio(
    fold: Fold, swapped: tuple[int, ...], learner: Any, rng: np.random.Generator
) -> PhantomRatio:
    """Train on the rows of the other blocks."""
    blend = as_ratio_blend(learner)
    rows = contrast(fold, fold.training_rows, swapped, rng)
    features, columns = fold.ground.features, fold.ground.all_columns()
    label = Label.of(features, "pi_phantom", fold.trained_on, columns)
    with label.named("Fitting"):
        models = tuple(
            Checked(part.fit(rows.inputs, rows.label, rows.weight, "probability"), label)
            for part in blend.learners
        )
    return PhantomRatio(fold, blend.weights, models, rows.rounds)


def phantom_probe(fold: Fold, swapped: tuple[int, ...], rng: np.random.Generator) -> Probe:
    """Training rows and held-out rows, each with phantoms of their own."""
    train = contrast(fold, fold.training_rows, swapped, rng)
    held = contrast(fold, fold.held_out_rows, swapped, rng)
    return Probe(
        "probability",
        train.inputs, train.label, train.weight,
        held.inputs, held.label, held.weight,
    )  # fmt: skip


def contrast(
    fold: Fold, rows: IntArray, swapped: tuple[int, ...], rng: np.random.Generator
) -> Contrast:
    """Each row borrows once a round, until about as many phantoms as originals are in their bin."""
    features = fold.ground.features
    weight = features.weights.target[rows]
    chance = weight / float(weight.sum())
    parts: list[Inputs] = [fold.observed(rows, fold.ground.all_columns())]
    weights: list[Array] = [weight]
    found = rounds = 0
    while found < len(rows) and rounds < _MOST_ROUNDS:
        lender = rng.choice(rows, size=len(rows), p=chance)
        mixed = Mixed.of(features.raw.target, rows, lender, swapped)
        same = np.flatnonzero(fold.number_at(mixed) == fold.number[rows])
        parts.append(fold.terms.join(fold.inputs_at(mixed.only(same)), fold.number[rows[same]]))
        weights.append(weight[same])
        found, rounds = found + len(same), rounds + 1
    if found == 0:
        raise _nothing_stayed(fold, len(rows), rounds)
    return Contrast(
        stacked(parts),
        np.repeat([1.0, 0.0], [len(rows), found]),
        np.concatenate(weights),
        rounds,
    )


def _nothing_stayed(fold: Fold, rows: int, rounds: int) -> FitError:
    return FitError(
        f"No recombined row stayed in its bin of the source risk in {rounds} rounds",
        got=f"{rows} rows, {fold.ground.settings.bins} bins",
        hint="Use fewer bins, or outcome_form='binned', which needs no recombined rows.",
    )
