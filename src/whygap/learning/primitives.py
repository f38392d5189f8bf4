"""The two primitives, each on several sets of training blocks at once.

A conditional mean E_d[T | X_S], and a density ratio p_1(X_S) / p_0(X_S) from a classifier's odds
times n_0 / n_1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import DOMAINS, Array, Domain
from whygap.errors import FitError, WhygapError
from whygap.learning.blocks import BlockSet
from whygap.learning.features import Extra, Features, Known, View, at
from whygap.learning.inputs import Inputs, stacked
from whygap.learning.models import Kind, Learner, Model, TrainingRows, curvature, fitted
from whygap.learning.ridge import LEAST_PROBABILITY, Curvature

__all__ = [
    "Checked",
    "Fits",
    "Label",
    "MeanTask",
    "RatioFits",
    "domain_rows",
    "fit_means",
    "fit_ratios",
    "odds",
    "training",
]

_OTHER_LEARNER = "If the learner is your own, look there; else try learner='fast'."


@dataclass(frozen=True, slots=True, eq=False)
class MeanTask:
    """One regression on several training sets.

    `targets` has one entry per row of the view's domain; where the target itself depends on the
    training set (second-stage regressions) it is one such array per training set. `extra` likewise
    may differ by training set: each twin sees its own estimate of the source risk. A `repeated`
    task comes again with other columns and all else the same.
    """

    name: str
    kind: Kind
    columns: tuple[int, ...]
    view: View
    targets: Array | Mapping[BlockSet, Array]
    trained_on: tuple[BlockSet, ...]
    extra: Mapping[BlockSet, Extra] | None = None
    repeated: bool = False

    def training_view(self, blocks: BlockSet) -> View:
        """The rows of one training set, with its extra column."""
        return self.view if self.extra is None else self.extra[blocks].views["own"]

    def extra_of(self, blocks: BlockSet) -> Extra | None:
        """The extra column of one training set."""
        return None if self.extra is None else self.extra[blocks]

    def target(self, blocks: BlockSet) -> Array:
        """The target of one training set."""
        return self.targets[blocks] if isinstance(self.targets, Mapping) else self.targets


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """The fitted models of a task, one per training set."""

    features: Features
    task: MeanTask
    models: Mapping[BlockSet, Model]

    def predict(self, trained_on: BlockSet, view: View, block: int) -> Array:
        """At the rows of one block, from the model of one training set."""
        return self.models[trained_on].predict(self.inputs(view, block))

    def predict_named(
        self, trained_on: Sequence[BlockSet], names: Sequence[str], domain: Domain, block: int
    ) -> list[Array]:
        """From several models with the extra column's views of these names, all of one domain."""
        assert self.task.extra is not None  # noqa: S101 - only tasks with an extra column ask
        rows = self.features.blocks.rows(domain, block)
        plain = replace(self.inputs(self.features.plain[domain], block), seen={})
        found: list[Array] = []
        for name in names:
            for blocks in trained_on:
                extra = self.task.extra[blocks]
                view = extra.views[name]
                inputs = self.features.lifted(plain, view, rows, self.task.columns, extra)
                found.append(self.models[blocks].predict(inputs))
        return found

    def inputs(self, view: View, block: int) -> Inputs:
        """What models without an extra column see of the rows of one block."""
        rows = self.features.blocks.rows(view.domain, block)
        return self.features.inputs(view, rows, self.task.columns)


def fit_means(features: Features, learner: Learner, task: MeanTask) -> Fits:
    """Fit one model per training set."""
    return Fits(features, task, {b: _fit(features, learner, task, b) for b in task.trained_on})


def training(
    features: Features, task: MeanTask, blocks: BlockSet, columns: Sequence[int] | None = None
) -> TrainingRows:
    """One training set (of other columns than the task's own)."""
    domain = task.view.domain
    rows = features.training_slices(domain, blocks)
    chosen = task.columns if columns is None else columns
    inputs = features.inputs(task.training_view(blocks), rows, chosen, task.extra_of(blocks))
    if task.repeated and columns is None:
        inputs = replace(inputs, known=_known_mean(features, task, blocks))
    weight = at(features.weights[domain], rows)
    return TrainingRows(inputs, at(task.target(blocks), rows), weight, task.kind)


def _known_mean(features: Features, task: MeanTask, blocks: BlockSet) -> Callable[[], Curvature]:
    def find() -> Known:
        everything = training(features, task, blocks, features.everything)
        return Known(curvature(everything), everything.inputs.lift)

    return features.known(task.name, blocks, task.columns, find)


def _fit(features: Features, learner: Learner, task: MeanTask, blocks: BlockSet) -> Model:
    label = Label.of(features, task.name, blocks, task.columns)
    with label.named("Fitting"):
        return Checked(fitted(learner, training(features, task, blocks)), label)


@dataclass(frozen=True, slots=True)
class Label:
    """Names a nuisance, the blocks it was trained on and its columns, in errors."""

    name: str
    blocks: tuple[int, ...]
    columns: str

    @classmethod
    def of(cls, features: Features, name: str, blocks: BlockSet, columns: tuple[int, ...]) -> Label:
        """For a column set."""
        names = ", ".join(features.columns[c].name for c in columns) or "no columns"
        return cls(name, tuple(sorted(blocks)), names)

    @contextmanager
    def named(self, what: str) -> Iterator[None]:
        """Errors of learners come out as ours, with their cause."""
        try:
            yield
        except (WhygapError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise self.error(what, f"{type(error).__name__}: {error}") from error

    def error(self, what: str, got: str) -> FitError:
        """What failed, and where."""
        where = f" on blocks {list(self.blocks)}" if self.blocks else ""
        return FitError(
            f"{what} {self.name} failed{where} with {self.columns}", got=got, hint=_OTHER_LEARNER
        )


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A model whose predictions are numbers, or an error that names it."""

    model: Model
    label: Label

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        with self.label.named("Predicting"):
            found = self.model.predict(inputs)
        wrong = int(np.count_nonzero(~np.isfinite(found)))
        if wrong:
            raise self.label.error("Predicting", f"{wrong} predictions that are not finite numbers")
        return found


@dataclass(frozen=True, slots=True, eq=False)
class RatioFits:
    """Domain classifiers, one per training set."""

    features: Features
    columns: tuple[int, ...]
    models: Mapping[BlockSet, Model]
    odds_to_ratio: Mapping[BlockSet, float]

    def predict(self, trained_on: BlockSet, domain: Domain, block: int) -> Array:
        """The ratio at the rows of one block."""
        rows = self.features.blocks.rows(domain, block)
        inputs = self.features.inputs(self.features.plain[domain], rows, self.columns)
        return odds(self.models[trained_on].predict(inputs)) * self.odds_to_ratio[trained_on]


def odds(probability: Array) -> Array:
    """Odds p / (1 - p), with p kept away from 0 and 1."""
    inside = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return inside / (1 - inside)


def fit_ratios(
    features: Features,
    learner: Learner,
    columns: tuple[int, ...],
    trained_on: tuple[BlockSet, ...],
    name: str,
    *,
    repeated: bool = False,
) -> RatioFits:
    """One domain classifier per training set; without columns the ratio is 1.

    `repeated` ones come again with other columns.
    """
    models, factor = {}, {}
    for blocks in trained_on:
        rows = domain_rows(features, columns, blocks)
        factor[blocks] = float(rows.weight @ (1 - rows.target)) / float(rows.weight @ rows.target)
        if repeated:
            known = _known_domain(features, columns, blocks)
            rows = replace(rows, inputs=replace(rows.inputs, known=known))
        label = Label.of(features, name, blocks, columns)
        with label.named("Fitting"):
            models[blocks] = Checked(fitted(learner, rows), label)
    return RatioFits(features, columns, models, factor)


def _known_domain(
    features: Features, columns: tuple[int, ...], blocks: BlockSet
) -> Callable[[], Curvature]:
    def find() -> Known:
        return Known(curvature(domain_rows(features, features.everything, blocks)))

    return features.known("domain", blocks, columns, find)


def domain_rows(features: Features, columns: tuple[int, ...], blocks: BlockSet) -> TrainingRows:
    """Rows of both domains with the domain as label."""
    parts, weights, labels = [], [], []
    for label, domain in enumerate(DOMAINS):
        rows = features.training_slices(domain, blocks)
        parts.append(features.inputs(features.plain[domain], rows, columns))
        weights.append(at(features.weights[domain], rows))
        labels.append(np.full(len(parts[-1]), float(label)))
    return TrainingRows(
        stacked(parts), np.concatenate(labels), np.concatenate(weights), "probability"
    )
