"""Outcome and predictions of both tables -> numbers, and the metric's terms at every row."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygap._metrics import Task, metric_of
from whygap.domains import Array, ByDomain
from whygap.errors import ColumnError, SettingsError, TableError
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables import predictions
from whygap.tables.columns import RawColumn, raw_column, require_numbers
from whygap.tables.encode import NOTABLE_SHARE
from whygap.tables.frames import Frame, Mask
from whygap.tables.outcome import find_classes, find_labels, refuse_unusable, repr_level
from whygap.tables.predictions import RawPredictions
from whygap.tables.roles import Roles
from whygap.tables.score import ModelScoring
from whygap.tables.task import ScoringSpec, task_notes, task_of

__all__ = ["LEAST_ROWS", "Scored", "complete_rows", "score_rows", "terms_of"]

LEAST_ROWS = 50  # rows, ten in each of five folds: below this, standard errors mean nothing
LEAST_OF_EACH = 5  # one row of each outcome value in each of five folds


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Outcomes and predictions as numbers; `keep` says which rows have both.

    `classes` are what codes of the outcome stand for, `scores` (rows, C) probabilities.
    """

    task: Task
    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    classes: tuple[str, ...] = ()
    scores: ByDomain[Array] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def keep(self) -> ByDomain[Mask]:
        """Rows that lack neither."""
        return self.outcome.zip(self.prediction, lambda y, p: ~(np.isnan(y) | np.isnan(p)))


def score_rows(
    frames: ByDomain[Frame], roles: Roles, spec: ScoringSpec, model: ModelScoring | None
) -> Scored:
    """Read outcomes and predictions of all rows; rows that lack either are counted.

    Args:
        frames: both tables.
        roles: which column is what.
        spec: the metric, the task and the like.
        model: the model to ask; None where there are prediction columns.
    """
    name = roles.outcome
    outcome, subject = _columns(frames, name), f"The outcome '{name}'"
    hints = ("Only finite values are allowed.", "Turn it into yes/no first.")
    refuse_unusable(subject, outcome, ColumnError, *hints)
    raw = _prediction_columns(frames, roles) if model is None else model.ask(frames)
    task: Task = task_of(name, outcome, raw, spec) if spec.task == "auto" else spec.task
    spec.require_fit(task)
    if task == "binary":
        labels = find_labels(name, outcome, spec.positive)
        codes = outcome.map(labels.encode)
        scored = Scored(task, codes, predictions.binary_predictions(raw, labels), labels.labels)
    elif task == "multiclass":
        classes = find_classes(name, outcome)
        codes, answer = outcome.map(classes.encode), predictions.class_predictions(raw, classes)
        scored = Scored(task, codes, answer.codes, classes.labels, answer.scores, answer.notes)
    else:
        hint = "For classes say task='multiclass'."
        values = require_numbers(subject, outcome, hint=hint)
        scored = Scored(task, values, predictions.real_predictions(raw))
    columns = roles.prediction or ", ".join(roles.class_columns.values())
    notes = (
        *(task_notes(name, task, outcome) if spec.task == "auto" else ()),
        *raw.notes,
        *scored.notes,
        *_missing_notes(scored.outcome, "missing_outcome", name),
        *_missing_notes(scored.prediction, "missing_prediction", columns),
    )
    return replace(scored, notes=notes)


def _columns(frames: ByDomain[Frame], name: str) -> ByDomain[RawColumn]:
    return frames.map(lambda frame: raw_column(frame.arrow(name), name, frame.label))


def _prediction_columns(frames: ByDomain[Frame], roles: Roles) -> RawPredictions:
    """Read the prediction column, or a column per class."""
    if roles.prediction is not None:
        subject = f"The prediction '{roles.prediction}'"
        return RawPredictions(subject, subject, column=_columns(frames, roles.prediction))
    values = [
        require_numbers(f"Column '{name}' (prediction)", _columns(frames, name))
        for name in roles.class_columns.values()
    ]
    table = ByDomain(*(np.column_stack(columns) for columns in zip(*values, strict=True)))
    subject, author = "The columns of prediction=", "The mapping prediction="
    classes = tuple(roles.class_columns)
    return RawPredictions(subject, author, table=table, classes=classes, answer="probability")


def _missing_notes(values: ByDomain[Array], kind: str, name: str) -> Iterator[Note]:
    for domain, column in values.items():
        missing = int(np.isnan(column).sum())
        share = float(np.isnan(column).mean())
        if missing:
            counts: dict[str, Fact] = {"missing": missing, "rows": len(column), "share": share}
            level: NoteLevel = "info" if share < NOTABLE_SHARE else "warning"
            yield Note(kind, level, {**counts, "domain": domain, "column": name})


def complete_rows(name: str, scored: Scored, spec: ScoringSpec) -> Scored:
    """Keep the rows that lack neither outcome nor prediction; too few rows are an error.

    Models of the source's outcome cannot do without a value that hardly occurs. Of the target's
    outcome the parts need the metric's mean only, which is defined all the same; other metrics are
    not.

    Args:
        name: the outcome's column, for messages.
        scored: all rows, NaN where a value is missing.
        spec: the metric, the task and the like.
    """
    columns = {
        column: values.zip(scored.keep, lambda v, rows: v[rows])
        for column in ("outcome", "prediction", "scores")
        if (values := getattr(scored, column)) is not None
    }
    complete = replace(scored, **columns)
    is_mean = metric_of(spec.metric, scored.task).is_mean
    notes = list(complete.notes)
    for domain, values in complete.outcome.items():
        if len(values) < LEAST_ROWS:
            message = f"The {domain} table has too few usable rows"
            hint = f"At least {LEAST_ROWS} rows with outcome and prediction are needed."
            raise TableError(message, got=f"{len(values)}", hint=hint)
    for domain, values in complete.outcome.items():
        for error, note in _too_few(name, complete, domain, values):
            if domain == "source" or not is_mean:
                raise error
            notes.append(note)
    return replace(complete, notes=tuple(notes))


def _too_few(
    name: str, scored: Scored, domain: str, values: Array
) -> Iterator[tuple[TableError, Note]]:
    """Yield, for each outcome value with fewer rows than folds, the error and the note."""
    facts: dict[str, Fact] = {"column": name, "domain": domain}
    if scored.task == "regression" and np.ptp(values) == 0:
        message = f"The outcome '{name}' has one single value in {domain}"
        value = f"{values[0]:g}"
        error = TableError(message, got=value, hint="With one value there is nothing to predict.")
        yield error, Note("constant_outcome", "warning", {**facts, "value": value})
    hint = f"At least {LEAST_OF_EACH} rows of each outcome value are needed in each domain."
    if scored.task != "binary":
        hint += " Merge the class with another one, or leave its rows out of both tables."
    for code, label in enumerate(scored.classes):
        rows = int(np.sum(values == code))
        if rows < LEAST_OF_EACH:
            value = f"equals {code}" if scored.task == "binary" else f"is {repr_level(label)}"
            message = f"The outcome '{name}' {value} in too few {domain} rows"
            error = TableError(message, got=rows, hint=hint)
            yield error, Note("rare_outcome", "warning", {**facts, "value": value, "rows": rows})


def terms_of(scored: Scored, spec: ScoringSpec) -> dict[str, Any]:
    """Compute the metric and the terms (K, rows), as fields of a `Design`.

    The terms are affine in a 0/1 outcome; else they are known at the observed outcomes.

    Args:
        scored: the complete rows.
        spec: the metric, threshold and quantile.
    """
    metric = metric_of(spec.metric, scored.task).bind(
        threshold=spec.threshold,
        quantile=spec.quantile,
        classes=len(scored.classes),
        centre=float(np.mean(np.concatenate(list(scored.outcome)))),
    )
    if scored.task != "binary":
        if metric.wants == "classes" and scored.scores is None:
            message = f"The metric '{metric.name}' needs a probability for every class"
            hint = "Name the columns: prediction={'class': 'column', ...}; or give model=."
            raise SettingsError(message, got="labels only", hint=hint)
        scores = scored.scores if metric.wants in ("classes", "any") else None
        predictions = scored.prediction if scores is None else scores
        return {"metric": metric, "observed_terms": predictions.zip(scored.outcome, metric.per_row)}
    if metric.pairs and np.isin(np.concatenate(list(scored.prediction)), (0.0, 1.0)).all():
        raise ColumnError(
            f"The metric '{metric.name}' needs probabilities, which rank rows",
            got="labels only (0 and 1)",
            hint="Give the model's probabilities; of labels, metric='balanced_accuracy' says the "
            "same.",
        )
    pairs = scored.prediction.map(lambda p: metric.term_coefficients(p, spec.threshold))
    intercept = pairs.map(lambda pair: pair[0])
    slope = pairs.map(lambda pair: pair[1])
    return {"metric": metric, "term_intercept": intercept, "term_slope": slope}
