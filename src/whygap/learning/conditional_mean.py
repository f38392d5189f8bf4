"""The first primitive: E_d[T | X_S], trained on several sets of blocks at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygap.domains import Array, Domain
from whygap.errors import FitError, WhygapError
from whygap.learning.blocks import BlockSet
from whygap.learning.features import Extra, Features, View, at
from whygap.learning.inputs import Inputs, Lift
from whygap.learning.models import Kind, Learner, Model
from whygap.learning.ridge import Curvature

__all__ = ["Checked", "Fits", "Label", "MeanTask", "fit_means", "training"]

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
) -> tuple[Inputs, Array, Array]:
    """Inputs, target and weight of one training set (of other columns than the task's own)."""
    domain = task.view.domain
    rows = features.training_slices(domain, blocks)
    extra = None if task.extra is None else task.extra[blocks]
    chosen = task.columns if columns is None else columns
    inputs = features.inputs(task.training_view(blocks), rows, chosen, extra)
    if task.repeated and columns is None:
        inputs = replace(inputs, known=_known(features, task, blocks))
    return inputs, at(task.target(blocks), rows), at(features.weights[domain], rows)


def _known(features: Features, task: MeanTask, blocks: BlockSet) -> Callable[[Any], Curvature]:
    def find(learner: Any) -> tuple[Curvature, Lift | None]:
        everything = training(features, task, blocks, features.everything)
        return learner.curvature(*everything, task.kind), everything[0].lift

    return features.known(task.name, blocks, task.columns, find)


def _fit(features: Features, learner: Learner, task: MeanTask, blocks: BlockSet) -> Model:
    label = Label.of(features, task.name, blocks, task.columns)
    with label.named("Fitting"):
        return Checked(learner.fit(*training(features, task, blocks), task.kind), label)


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
