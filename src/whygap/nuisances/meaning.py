"""Whether the columns mean the same in both tables: the model's prediction gives it away.

A model is one function of its columns. Where rows alike in every column get other predictions in
the two tables, a column has changed its meaning (other units, other codes, values that belong to
other rows), or the model sees something that the columns do not show. If the two functions agree
once a column is left out, it is that column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.estimate import Estimate, Sample
from whygap.learning.blocks import make_blocks
from whygap.learning.features import Features, make_features
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.primitives import Columns, Fits, fit_means, fit_ratios
from whygap.notes import Note, NoteLevel
from whygap.nuisances.held_out import mean_task, out_of_fold
from whygap.nuisances.separators import find_separators
from whygap.nuisances.terms import loss_kind
from whygap.results.overlap import Separator
from whygap.settings import Settings
from whygap.tables.design import Design

# Squared distance of the two functions, of the prediction's variance, from which predictions of
# rows alike count as other ones: a seventh of a standard deviation. Rounding, and units that are
# off by little, stay below
DIFFERENT = 0.02
OTHER_MODEL = 0.5  # from which rows alike differ as half of any two rows do: not the same model
SURE = 0.99  # of the intervals: an alarm is false in one of two hundred honest pairs of tables
ROWS = 5000  # per table, drawn at random: the two functions need not be known well
MOST = 12  # columns left out in turn: one that hardly goes with the prediction does no harm


@dataclass(frozen=True, slots=True, eq=False)
class _Functions:
    """The prediction given some columns, as each table knows it."""

    design: Design
    sample: Sample
    features: Features
    menu: Menu
    known: Fits | None  # the density ratio of all columns, where it has been fitted

    def distance(self, columns: Columns) -> Estimate:
        """How far the functions g_0 and g_1 lie apart where both tables have rows.

        With f_0 and f_1 fitted to other rows, and P the prediction,

            E[(g_0 - g_1)(f_0 - f_1)] = E_0[(P - f)(f_0 - f_1)] - E_1[(P - f)(f_0 - f_1)]

        where f = (f_0 + f_1) / 2 and both means are over the same mixture p_0 p_1 / (p_0 + p_1).
        It is the squared distance where the fits are good, and 0 whatever they are where g_0 = g_1:
        a learner that cannot follow the model gives no false alarm. Of the prediction's variance.
        """
        shared = self._shared(columns)
        f_0, f_1 = (self._given(columns, domain) for domain in DOMAINS)
        prediction = self.design.prediction
        parts = [(prediction[d] - (f_0[d] + f_1[d]) / 2) * (f_0[d] - f_1[d]) for d in DOMAINS]
        found = Estimate.from_contributions(shared, source=parts[0], target=-parts[1])
        return found * (1 / _variance(prediction, shared))

    def _shared(self, columns: Columns) -> Sample:
        """The rows of either table, weighted to look like the mixture."""
        ratios = self.known
        if ratios is None or ratios.columns != columns:
            probes = partial(ratio_probes, self.features, [columns])
            learner = self.menu.learner("pi", probes, columns="W, Z", target="domain")
            ratios = fit_ratios(self.features, learner, columns, "pi")
        pi = ByDomain(*(out_of_fold(ratios, domain) for domain in DOMAINS))
        alike = ByDomain(pi.source / (1 + pi.source), 1 / (1 + pi.target))
        weights = alike.zip(self.sample.weights, np.multiply)
        return replace(self.sample, weights=weights.map(lambda w: w / w.mean()))

    def _given(self, columns: Columns, domain: Domain) -> ByDomain[Array]:
        """E_d[prediction | columns] at all rows, by models of other folds."""
        prediction, features = self.design.prediction, self.features
        sets = features.blocks.complements()
        kind = loss_kind(prediction)
        task = mean_task(features, "f", kind, columns, domain, prediction[domain], sets)
        probes = partial(mean_probes, features, [task])
        learner = self.menu.learner("f", probes, columns="W, Z", target="prediction")
        fits = fit_means(features, learner, task)
        return ByDomain(*(out_of_fold(fits, at) for at in DOMAINS))


def _variance(values: ByDomain[Array], sample: Sample) -> float:
    middle = sum(sample.mean(values)) / 2
    return max(sum(sample.mean(values.map(lambda v: (v - middle) ** 2))) / 2, 1e-300)


def meaning_notes(
    design: Design,
    settings: Settings,
    ratio: Fits | None = None,
    separators: Sequence[Separator] | None = None,
) -> tuple[Note, ...]:
    """A problem that names the column, or a note that predictions differ for no single one.

    Where a column is seen to be recorded differently by itself, there is nothing to add. A density
    ratio of all columns and rows is taken as it is, unless there are many rows.
    """
    constant = min(float(np.ptp(p)) for p in design.prediction) == 0
    if design.task == "multiclass" or constant:
        return ()
    known = find_separators(design) if separators is None else separators
    if any(one.level == "problem" for one in known):
        return ()
    functions = _functions(design, settings, ratio)
    columns = design.baseline + design.covariates
    distance = functions.distance(columns)
    if not _is_different(distance):
        return ()
    without = {
        j: functions.distance(tuple(c for c in columns if c != j))
        for j in _with_the_prediction(design, columns)
    }
    changed = min(without, key=lambda j: without[j].value, default=None)
    if changed is None or not _explains(without[changed], distance):
        level: NoteLevel = "problem" if distance.value > OTHER_MODEL else "warning"
        return (Note("other_predictions", level),)
    return (Note("changed_meaning", "problem", {"column": design.columns[changed].name}),)


def _is_different(distance: Estimate) -> bool:
    return distance.interval(SURE)[0] > DIFFERENT


def _explains(left: Estimate, distance: Estimate) -> bool:
    """Whether most of the distance is surely gone; the rest may be a shift of the column."""
    return (distance / 2 - left).interval(SURE)[0] > 0


def _functions(design: Design, settings: Settings, ratio: Fits | None = None) -> _Functions:
    plain = replace(settings, learner="fast")
    if ratio is not None and max(design.rows) <= ROWS:
        return _Functions(design, design.sample(), ratio.features, Menu(plain), ratio)
    rng = np.random.default_rng([settings.seed, 3])  # a stream of its own
    chosen = design.rows.map(lambda n: np.sort(rng.permutation(n)[:ROWS]))
    some = design.take(chosen)
    features = make_features(some, make_blocks(some, plain, rng))
    return _Functions(some, some.sample(), features, Menu(plain), None)


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
