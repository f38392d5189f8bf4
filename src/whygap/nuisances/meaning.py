"""Whether the columns mean the same in both tables: the model's prediction gives it away.

A model is one function of its columns. Where rows alike in every column get other predictions in
the two tables, a column has changed its meaning (other units, other codes, values that belong to
other rows), or the model sees something that the columns do not show. If the two functions agree
once a column is left out, it is that column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whygap.blocks import make_blocks
from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.learning.features import Features, make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.primitives import Columns, fit_means, fit_ratios
from whygap.nuisances.held_out import mean_task, out_of_fold, twins
from whygap.nuisances.separators import find_separators
from whygap.nuisances.terms import loss_kind
from whygap.settings import Settings
from whygap.tables.design import Design, Note

# Squared distance of the two functions, of the prediction's variance, from which predictions of
# rows alike count as other ones: rounding, and units that are off by little, stay below
DIFFERENT = 0.02
OTHER_MODEL = 0.5  # from which rows alike differ as half of any two rows do: not the same model
RESTORED = 1 / 3  # of that distance that may be left once the column is left out
ROWS = 4000  # per table, drawn at random: the two functions need not be known well
MOST = 12  # columns left out in turn: one that hardly goes with the prediction does no harm


@dataclass(frozen=True, slots=True, eq=False)
class _Functions:
    """The prediction given some columns, as each table knows it."""

    design: Design
    features: Features
    menu: Menu

    def distance(self, columns: Columns) -> float:
        """Mean squared distance where both tables have rows, without the noise of the fits."""
        learner = self.menu.learner(
            "pi", lambda: ratio_probes(self.features, [columns]), columns="W, Z", target="domain"
        )
        ratios = fit_ratios(self.features, learner, columns, "pi")
        pi = ByDomain(*(out_of_fold(ratios, domain) for domain in DOMAINS))
        # p_0 p_1 / (p_0 + p_1): bounded weights, the same mixture seen from either table
        shared = ByDomain(pi.source / (1 + pi.source), 1 / (1 + pi.target))
        weights = shared.map(lambda w: w / len(w))
        fits = [self._given(columns, domain) for domain in DOMAINS]
        apart = [fits[0][domain] - fits[1][domain] for domain in DOMAINS]
        squares = ByDomain(*(one[0] * one[1] for one in apart))
        return _mean(squares, weights) / _variance(self.design.prediction, weights)

    def _given(self, columns: Columns, domain: Domain) -> ByDomain[Array]:
        """E_d[prediction | columns] at all rows, by two models on disjoint halves."""
        prediction, features = self.design.prediction, self.features
        halves = features.blocks.halves(1)
        task = mean_task(
            features, "f", loss_kind(prediction), columns, domain, prediction[domain], halves
        )
        learner = self.menu.learner(
            f"f {domain}", lambda: mean_probes(features, [task]), columns="", target="prediction"
        )
        fits = fit_means(features, learner, task)
        return ByDomain(*(twins(fits, at, 1)[0] for at in DOMAINS))


def _mean(values: ByDomain[Array], weights: ByDomain[Array]) -> float:
    total = sum(weights.map(lambda w: float(w.sum())))
    return sum(values.zip(weights, lambda v, w: float(v @ w))) / total


def _variance(values: ByDomain[Array], weights: ByDomain[Array]) -> float:
    middle = _mean(values, weights)
    return max(_mean(values.map(lambda v: (v - middle) ** 2), weights), 1e-300)


def meaning_notes(design: Design, settings: Settings) -> tuple[Note, ...]:
    """A problem that names the column, or a note that predictions differ for no single one.

    Where a column is seen to be recorded differently by itself, there is nothing to add.
    """
    constant = min(float(np.ptp(p)) for p in design.prediction) == 0
    if design.task == "multiclass" or constant:
        return ()
    if any(one.level == "problem" for one in find_separators(design)):
        return ()
    functions = _functions(design, settings)
    columns = design.baseline + design.covariates
    distance = functions.distance(columns)
    if distance < DIFFERENT:
        return ()
    without = {
        j: functions.distance(tuple(c for c in columns if c != j))
        for j in _with_the_prediction(design, columns)
    }
    changed = min(without, key=lambda j: without[j], default=None)
    if changed is None or without[changed] > RESTORED * distance:
        return (_unexplained(distance),)
    return (_changed(design.columns[changed].name),)


def _functions(design: Design, settings: Settings) -> _Functions:
    rng = np.random.default_rng([settings.seed, 3])  # a stream of its own
    chosen = design.rows.map(lambda n: np.sort(rng.permutation(n)[:ROWS]))
    some = design.take(chosen)
    plain = replace(settings, learner="fast", split=None)
    return _Functions(some, make_features(some, make_blocks(some, plain, rng)), Menu(plain))


def _with_the_prediction(design: Design, columns: Columns) -> list[int]:
    """The columns that go with the prediction in either table, surest first."""

    def together(j: int) -> float:
        found = []
        for x, p in zip(design.features, design.prediction, strict=True):
            known = np.isfinite(x[:, j])
            spread = known.sum() > 2 and np.ptp(x[known, j]) > 0 and np.ptp(p[known]) > 0
            found.append(abs(np.corrcoef(x[known, j], p[known])[0, 1]) if spread else 0.0)
        return float(max(found))

    return sorted(columns, key=together, reverse=True)[:MOST]


def _changed(name: str) -> Note:
    return Note(
        "problem",
        f"Column '{name}' does not mean the same in both tables: rows alike in every column get "
        f"other predictions, and without '{name}' they do not. Compare its units, its codes, and "
        "whether its values still belong to their rows; until then do not read the parts.",
    )


def _unexplained(distance: float) -> Note:
    return Note(
        "problem" if distance > OTHER_MODEL else "warning",
        "Rows alike in every column get other predictions in the two tables, and no single column "
        "explains it: the model sees something that is not among the columns, or it is not the "
        "same model. What the parts say of alike rows does not hold for what it sees besides.",
    )
