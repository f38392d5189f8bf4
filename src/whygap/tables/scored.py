"""Outcomes and predictions of both tables as numbers, by the kind of outcome; metric terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from whygap._metrics import Metric, Task, metric_of
from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, SettingsError, TableError
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables.answers import (
    Said,
    binary_predictions,
    class_predictions,
    real_predictions,
)
from whygap.tables.columns import RawColumn, raw_column
from whygap.tables.encode import MANY_ROWS
from whygap.tables.open import Frame, Mask
from whygap.tables.outcome import (
    find_classes,
    find_labels,
    real_outcome,
    refuse_unusable,
    repr_level,
)
from whygap.tables.roles import Roles
from whygap.tables.score import ModelScoring
from whygap.tables.task import Asked, decide_task, task_notes

__all__ = ["LEAST_ROWS", "Scored", "Terms", "complete_rows", "score_rows", "terms_of"]

LEAST_ROWS = 50  # five folds of ten rows: below this, standard errors mean nothing
LEAST_OF_EACH = 5  # one row of each outcome value in each of five folds


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Outcomes and predictions as numbers; `keep` says which rows have both."""

    task: Task
    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    classes: tuple[str, ...] = ()  # what the codes of the outcome stand for
    scores: ByDomain[Array] | None = None  # (rows, C) probabilities of several classes
    notes: tuple[Note, ...] = ()

    @property
    def keep(self) -> ByDomain[Mask]:
        """Rows that lack neither."""
        return self.outcome.zip(self.prediction, lambda y, p: ~(np.isnan(y) | np.isnan(p)))


def score_rows(
    frames: ByDomain[Frame], roles: Roles, asked: Asked, model: ModelScoring | None
) -> Scored:
    """Outcomes and predictions of all rows; those without one of them are counted."""
    name = roles.outcome
    raw = frames.map(lambda frame: raw_of(frame, name))
    finite = "Only finite values are allowed."
    refuse_unusable(f"The outcome '{name}'", raw, ColumnError, finite, "Turn it into yes/no first.")
    said = given_columns(frames, roles) if model is None else model.ask(frames)
    task = decide_task(name, raw, said, asked)
    found = READ[task](name, raw, said, asked)
    taken = task_notes(name, task, raw) if asked.task == "auto" else ()
    columns = roles.prediction or ", ".join(roles.class_columns.values())
    left_out = (
        *left_out_notes(found.outcome, "missing_outcome", name),
        *left_out_notes(found.prediction, "missing_prediction", columns),
    )
    return replace(found, notes=(*taken, *said.notes, *found.notes, *left_out))


def raw_of(frame: Frame, name: str) -> RawColumn:
    return raw_column(frame.arrow(name), name, frame.label)


def given_columns(frames: ByDomain[Frame], roles: Roles) -> Said:
    """The prediction column, or one column per class."""
    if not roles.class_columns:
        name = roles.prediction or ""
        what = f"The prediction '{name}'"
        return Said(what, what, column=frames.map(lambda frame: raw_of(frame, name)))
    columns = tuple(roles.class_columns.values())
    table = frames.map(lambda frame: np.column_stack([chances(frame, c) for c in columns]))
    what, classes = "The columns of prediction=", tuple(roles.class_columns)
    return Said(what, "The mapping prediction=", table=table, classes=classes, answer="probability")


def chances(frame: Frame, name: str) -> Array:
    column = raw_of(frame, name)
    if column.kind not in ("number", "boolean"):
        got = f"{column.kind} in {frame.label}"
        raise ColumnError(f"Column '{name}' (prediction) must hold probabilities", got=got)
    return column.values


def read_binary(name: str, raw: ByDomain[RawColumn], said: Said, asked: Asked) -> Scored:
    labels = find_labels(name, raw, asked.positive)
    outcome, prediction = raw.map(labels.encode), binary_predictions(said, labels)
    return Scored("binary", outcome, prediction, labels.labels)


def read_classes(name: str, raw: ByDomain[RawColumn], said: Said, _: Asked) -> Scored:
    classes = find_classes(name, raw)
    told = class_predictions(said, classes)
    outcome = raw.map(classes.encode)
    return Scored("multiclass", outcome, told.codes, classes.labels, told.scores, told.notes)


def read_values(name: str, raw: ByDomain[RawColumn], said: Said, _: Asked) -> Scored:
    return Scored("regression", real_outcome(name, raw), real_predictions(said))


READ: dict[Task, Callable[[str, ByDomain[RawColumn], Said, Asked], Scored]] = {
    "binary": read_binary,
    "multiclass": read_classes,
    "regression": read_values,
}


def complete_rows(name: str, scored: Scored, asked: Asked) -> Scored:
    """The rows that lack neither; enough of them, or an error."""

    def kept(values: ByDomain[Array]) -> ByDomain[Array]:
        return values.zip(scored.keep, lambda one, rows: one[rows])

    found = replace(
        scored,
        outcome=kept(scored.outcome),
        prediction=kept(scored.prediction),
        scores=None if scored.scores is None else kept(scored.scores),
    )
    require_rows(found)
    return replace(found, notes=(*found.notes, *rare_values(name, found, asked)))


def left_out_notes(values: ByDomain[Array], kind: str, name: str) -> Iterator[Note]:
    for domain, column in values.items():
        missing, share = int(np.isnan(column).sum()), float(np.isnan(column).mean())
        if missing:
            level: NoteLevel = "info" if share < MANY_ROWS else "warning"
            counts: dict[str, Fact] = {"missing": missing, "rows": len(column), "share": share}
            yield Note(kind, level, {**counts, "domain": domain, "column": name})


def require_rows(scored: Scored) -> None:
    """The least any analysis needs."""
    for domain, values in scored.outcome.items():
        if len(values) < LEAST_ROWS:
            raise TableError(
                f"The {domain} table has too few usable rows",
                got=f"{len(values)}",
                hint=f"At least {LEAST_ROWS} rows with outcome and prediction are needed.",
            )


def rare_values(name: str, scored: Scored, asked: Asked) -> Iterator[Note]:
    """Outcome values that hardly occur in a table: an error, or a note.

    Models of the source's outcome cannot do without them. Of the target's outcome the parts need
    the metric's mean only, which is defined all the same; other metrics are not.
    """
    is_mean = metric_of(asked.metric, scored.task).is_mean
    for domain, values in scored.outcome.items():
        for error, note in too_few(name, scored, domain, values):
            if domain == "source" or not is_mean:
                raise error
            yield note


def too_few(
    name: str, scored: Scored, domain: str, values: Array
) -> Iterator[tuple[TableError, Note]]:
    """Yield, for each outcome value with fewer rows than folds, the error and its note."""
    where: dict[str, Fact] = {"column": name, "domain": domain}
    if scored.task == "regression" and np.ptp(values) == 0:
        error = TableError(
            f"The outcome '{name}' has one single value in {domain}",
            got=f"{values[0]:g}",
            hint="With one value there is nothing to predict.",
        )
        yield error, Note("constant_outcome", "warning", {**where, "value": f"{values[0]:g}"})
    hint = f"At least {LEAST_OF_EACH} rows of each outcome value are needed in each domain."
    merge = " Merge the class with another one, or leave its rows out of both tables."
    binary = scored.task == "binary"
    for code, label in enumerate(scored.classes):
        number = int(np.sum(values == code))
        if number < LEAST_OF_EACH:
            value = f"equals {code}" if binary else f"is {repr_level(label)}"
            error = TableError(
                f"The outcome '{name}' {value} in too few {domain} rows",
                got=number,
                hint=hint if binary else hint + merge,
            )
            facts = {**where, "value": value, "rows": number}
            yield error, Note("rare_outcome", "warning", facts)


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The metric, ready for these rows, and its terms (K, rows) as `Design` keeps them."""

    metric: Metric
    intercept: ByDomain[Array] | None = None
    slope: ByDomain[Array] | None = None
    observed: ByDomain[Array] | None = None


def terms_of(scored: Scored, asked: Asked) -> Terms:
    """The metric's terms: affine in a 0/1 outcome, else at the observed outcomes."""
    metric = metric_of(asked.metric, scored.task).bind(
        threshold=asked.threshold,
        quantile=asked.quantile,
        classes=len(scored.classes),
        centre=float(np.mean(np.concatenate(list(scored.outcome)))),
    )
    if scored.task == "binary":
        require_scores(metric, scored.prediction)
        pairs = scored.prediction.map(lambda p: metric.term_coefficients(p, asked.threshold))
        return Terms(metric, pairs.map(lambda pair: pair[0]), pairs.map(lambda pair: pair[1]))
    return Terms(metric, observed=shown_to(metric, scored).zip(scored.outcome, metric.per_row))


def require_scores(metric: Metric, prediction: ByDomain[Array]) -> None:
    both = np.concatenate(list(prediction))
    if metric.pairs and np.isin(both, (0.0, 1.0)).all():
        raise ColumnError(
            f"The metric '{metric.name}' needs probabilities, which rank rows",
            got="labels only (0 and 1)",
            hint="Give the model's probabilities; of labels, metric='balanced_accuracy' says the "
            "same.",
        )


def shown_to(metric: Metric, scored: Scored) -> ByDomain[Array]:
    """What the metric's terms are given: labels, probabilities of classes, or values."""
    if metric.wants == "classes" and scored.scores is None:
        raise SettingsError(
            f"The metric '{metric.name}' needs a probability for every class",
            got="labels only",
            hint="Name the columns: prediction={'class': 'column', ...}; or give model=.",
        )
    scores = scored.scores if metric.wants in ("classes", "any") else None
    return scored.prediction if scores is None else scores
