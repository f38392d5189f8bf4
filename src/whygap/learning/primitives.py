"""The two primitives, each on several sets of training blocks at once.

A conditional mean E_d[T | X_S], and a density ratio p_1(X_S) / p_0(X_S) from a classifier's odds
times n_0 / n_1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from whygap.domains import DOMAINS, Array, Domain
from whygap.errors import FitError, WhygapError
from whygap.learning.blocks import BlockSet
from whygap.learning.features import Extra, Features, at
from whygap.learning.inputs import Inputs, Lift, stacked
from whygap.learning.models import BasisModel, Fast, Kind, Learner, Model, TrainingRows, fitted
from whygap.learning.ridge import LEAST_PROBABILITY, Curvature
from whygap.learning.source_fits import digest_of
from whygap.learning.subset_fits import means_together, ratios_together
from whygap.learning.trees import Boosted, BoostedModel

Columns = tuple[int, ...]
RowsOf = Callable[[BlockSet, Sequence[int]], TrainingRows]


@dataclass(frozen=True, slots=True, eq=False)
class MeanTask:
    """One regression over the rows of a domain, on several training sets.

    `targets` has one entry per row; where the target itself depends on the training set
    (second-stage regressions) it is one such array per training set. `extra` likewise may differ
    by training set: each twin sees its own estimate of the source risk. A `repeated` task comes
    again with other columns and all else the same, except that its extra column may then have more
    terms than the one they have in `common`.
    """

    name: str
    kind: Kind
    columns: Columns
    domain: Domain
    targets: Array | Mapping[BlockSet, Array]
    trained_on: tuple[BlockSet, ...]
    extra: Mapping[BlockSet, Extra] | None = None
    repeated: bool = False
    common: Mapping[BlockSet, Extra] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Models of a column set, and of an extra column if there is one; one per training set."""

    features: Features
    columns: Columns
    models: Mapping[BlockSet, Model]
    extra: Mapping[BlockSet, Extra] | None = None

    def predict(self, trained_on: BlockSet, domain: Domain, block: int) -> Array:
        """At the rows of one block, from the model of one training set."""
        return self.models[trained_on].predict(self.inputs(domain, block))

    def predict_seeing(
        self,
        wanted: Sequence[tuple[BlockSet, BlockSet]],
        names: Sequence[str],
        domain: Domain,
        block: int,
    ) -> list[Array]:
        """By name of a view: models trained on one set that see the extra column of another."""
        assert self.extra is not None  # noqa: S101 - only tasks with an extra column ask
        rows = self.features.blocks.rows(domain, block)
        plain = replace(self.inputs(domain, block), seen={}, grown={})
        lifts: dict[tuple[int, int, str], Lift] = {}
        asked: list[tuple[Model, Lift]] = []
        for name, (trained, seen) in product(names, wanted):
            own, other = self.extra[trained], self.extra[seen]
            key = id(own), id(other), name
            if key not in lifts:
                column = replace(own, views=other.views)
                lifts[key] = self.features.lift(column, name, rows, self.columns)
            asked.append((self.models[trained], lifts[key]))
        linear = [(_coefficients(model), lift) for model, lift in asked]
        plain.foresee([(found, lift) for found, lift in linear if found is not None])
        return [model.predict(replace(plain, lift=lift)) for model, lift in asked]

    def inputs(self, domain: Domain, block: int) -> Inputs:
        """What models without an extra column see of the rows of one block."""
        return self.features.inputs(domain, self.features.blocks.rows(domain, block), self.columns)


def fit_means(features: Features, learner: Learner, task: MeanTask) -> Fits:
    """Fit one model per training set, or find them where fits on source rows are kept."""
    kept, targets, fit = features.source_fits, task.targets, partial(_fit_means, features, learner)
    if kept is None or task.domain != "source" or task.extra or isinstance(targets, Mapping):
        return Fits(features, task.columns, fit(task), task.extra)
    alike = features.source_digest, task.name, task.kind, task.columns, repr(learner)
    key = (*alike, task.trained_on, task.repeated, digest_of(targets))
    return Fits(features, task.columns, kept.found(key, partial(fit, task)))


def _fit_means(features: Features, learner: Learner, task: MeanTask) -> Mapping[BlockSet, Model]:
    """Those of a column set that comes again all at once."""
    shared = task if task.common is None else replace(task, extra=task.common)
    known = partial(_known, features, task.name, task.columns, partial(training, features, shared))
    begun, linear = None, _linear(learner)
    if task.repeated and linear is not None:
        begun = partial(means_together, features, linear, task, known)
    fit = partial(_fitted, learner, task.columns, partial(training, features, task))
    return _models(features, task.name, task.columns, task.trained_on, fit, begun)


def training(
    features: Features,
    task: MeanTask,
    blocks: BlockSet,
    columns: Sequence[int],
    seen_at: BlockSet | None = None,
) -> TrainingRows:
    """One training set of a task, with these columns; or what its model sees of other blocks."""
    domain = task.domain
    rows = features.blocks.training_rows(domain, blocks if seen_at is None else seen_at)
    extra = None if task.extra is None else task.extra[blocks]
    inputs = features.inputs(domain, rows, columns, extra, trained_on=blocks)
    if seen_at is None and len(columns):
        beside = None if inputs.lift is None else inputs.lift.position
        binned = partial(features.binned.rows, features, (domain,), blocks, columns, beside)
        inputs = replace(inputs, binned=binned)
    target = task.targets[blocks] if isinstance(task.targets, Mapping) else task.targets
    weight = features.weights[domain]
    return TrainingRows(inputs, at(target, rows), at(weight, rows), task.kind)


def fit_ratios(
    features: Features, learner: Learner, columns: Columns, name: str, *, repeated: bool = False
) -> Fits:
    """Density ratios, each trained on all blocks but one; without columns they are 1.

    `repeated` ones come again with other columns.
    """
    rows_of = partial(domain_rows, features)
    known = partial(_known, features, "domain", columns, rows_of)
    begun, linear = None, _linear(learner)
    if repeated and linear is not None:
        begun = partial(ratios_together, features, linear, columns, known)
    fit = partial(_fitted, learner, columns, rows_of)
    models = _models(features, name, columns, features.blocks.complements(), fit, begun)
    ratios = {b: Ratio(model, _odds_to_ratio(features, b)) for b, model in models.items()}
    return Fits(features, columns, ratios)


def _odds_to_ratio(features: Features, blocks: BlockSet) -> float:
    """n_0 / n_1 of a training set, weighted."""
    rows = {domain: features.blocks.training_rows(domain, blocks) for domain in DOMAINS}
    n_0, n_1 = (float(at(features.weights[d], rows[d]).sum()) for d in DOMAINS)
    return n_0 / n_1


def domain_rows(features: Features, blocks: BlockSet, columns: Sequence[int]) -> TrainingRows:
    """Rows of both domains with the domain as label."""
    slices = [features.blocks.training_rows(domain, blocks) for domain in DOMAINS]
    both = list(zip(DOMAINS, slices, strict=True))
    weights = [at(features.weights[domain], rows) for domain, rows in both]
    inputs = stacked([features.inputs(domain, rows, columns) for domain, rows in both])
    binned = partial(features.binned.rows, features, DOMAINS, blocks, columns)
    return TrainingRows(
        replace(inputs, binned=binned),
        np.repeat([0.0, 1.0], [len(weight) for weight in weights]),
        np.concatenate(weights),
        "probability",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A density ratio from a domain classifier."""

    classifier: Model
    odds_to_ratio: float

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        return odds(self.classifier.predict(inputs)) * self.odds_to_ratio


def odds(probability: Array) -> Array:
    """Odds p / (1 - p), with p kept away from 0 and 1."""
    inside = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return inside / (1 - inside)


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A model whose predictions are numbers, or an error with its name."""

    model: Model
    name: str

    def predict(self, inputs: Inputs) -> Array:
        """One number per row."""
        with named(f"Predicting {self.name}"):
            found = self.model.predict(inputs)
        wrong = int(np.count_nonzero(~np.isfinite(found)))
        if wrong:
            raise _error(
                f"Predicting {self.name}", f"{wrong} predictions that are not finite numbers"
            )
        return found


def _models(
    features: Features,
    name: str,
    columns: Columns,
    sets: Sequence[BlockSet],
    fit: Callable[[BlockSet, BasisModel | None], Model],
    begun: Callable[[], Mapping[BlockSet, BasisModel]] | None,
) -> dict[BlockSet, Checked]:
    """What is linear all at once where that works, the rest one by one."""
    names = {blocks: _name(features, name, blocks, columns) for blocks in sets}
    linear: Mapping[BlockSet, BasisModel] = {}
    if begun is not None:
        with named(f"Fitting {_name(features, name, frozenset().union(*sets), columns)}"):
            linear = begun()
    found: dict[BlockSet, Checked] = {}
    for blocks in sets:
        with named(f"Fitting {names[blocks]}"):
            found[blocks] = Checked(fit(blocks, linear.get(blocks)), names[blocks])
    return found


def _linear(learner: Learner) -> Fast | None:
    """What a learner is, or starts from, if that is linear."""
    first = learner.start if isinstance(learner, Boosted) else learner
    return first if isinstance(first, Fast) else None


def _coefficients(model: Model) -> Array | None:
    """Of what is linear in a model."""
    found: object = model.model if isinstance(model, Checked) else model
    found = found.start if isinstance(found, BoostedModel) else found
    return found.coefficients if isinstance(found, BasisModel) else None


def _fitted(
    learner: Learner, columns: Columns, rows_of: RowsOf, blocks: BlockSet, linear: BasisModel | None
) -> Model:
    """One model, of which what is linear may be fitted already."""
    if linear is not None and isinstance(learner, Fast):
        return linear
    if linear is not None and isinstance(learner, Boosted):
        learner = replace(learner, start=linear)
    return fitted(learner, rows_of(blocks, columns))


def _known(
    features: Features, name: str, columns: Columns, rows_of: RowsOf, blocks: BlockSet
) -> Curvature:
    return features.known(name, blocks, columns, partial(rows_of, blocks))


def _name(features: Features, name: str, blocks: BlockSet, columns: Sequence[int]) -> str:
    """A nuisance, the blocks it was trained on and its columns, as errors name them."""
    names = ", ".join(features.columns[c].name for c in columns) or "no columns"
    return f"{name} failed on blocks {sorted(blocks)} with {names}"


@contextmanager
def named(what: str) -> Iterator[None]:
    """Errors of learners come out as ours, with their cause."""
    try:
        yield
    except WhygapError:
        raise
    except Exception as error:
        raise _error(what, f"{type(error).__name__}: {error}") from error


def _error(what: str, got: str) -> FitError:
    hint = "If the learner is your own, look there; else try learner='fast'."
    return FitError(what, got=got, hint=hint)
