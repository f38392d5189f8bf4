"""A model is asked once, in batches."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ModelError, WhygapError, did_you_mean, first_line, listed
from whygap.notes import Note
from whygap.tables.columns import one_type, raw_column
from whygap.tables.frames import Frame, OpenedTable
from whygap.tables.model import Predictor, predictor_of
from whygap.tables.predictions import RawPredictions
from whygap.tables.roles import Roles

__all__ = ["ModelScoring", "model_scoring"]

BATCH = 20_000  # rows a model is shown at once: little memory, and progress every few seconds


@dataclass(frozen=True, slots=True, eq=False)
class ModelScoring:
    """A model, the columns it is shown, and who hears of the rows done and the rows in all."""

    predictor: Predictor
    columns: Sequence[str]
    notes: tuple[Note, ...] = ()
    after_batch: Callable[[int, int], None] = lambda *_: None

    def ask(self, frames: ByDomain[Frame]) -> RawPredictions:
        """Predict every row of the tables; what the model warns of becomes a note.

        Args:
            frames: both tables, read, with the columns the model is shown.
        """
        before = ByDomain(0, frames.source.rows)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            total = sum(frame.rows for frame in frames)
            raw = frames.zip(before, lambda frame, rows: self._answers(frame, rows, total))
        texts = [str(warning.message).strip() for warning in caught]
        first = list(dict.fromkeys(text.splitlines()[0] for text in texts if text))[:3]
        notes = tuple(Note("model_warned", "warning", {"value": text}) for text in first)
        return _read_answers(self.predictor, raw, self.notes + notes)

    def _answers(self, frame: Frame, before: int, total: int) -> Any:
        predictor = self.predictor
        parts = []
        for start in range(0, frame.rows, BATCH):
            rows = min(BATCH, frame.rows - start)
            table = _table_for(predictor, frame, self.columns, slice(start, start + rows))
            try:
                answer = np.asarray(predictor.ask(table))
            except WhygapError:
                raise
            except Exception as err:  # a model may fail in any way
                shape = f"It was given a {frame.kind} table with columns {listed(self.columns)}"
                message = f"The model {predictor.name} failed on the {frame.label} table"
                hint = predictor.hint or f"{shape}; it may expect others."
                raise ModelError(message, got=first_line(err, with_type=True), hint=hint) from err
            if answer.ndim == 0 or len(answer) != rows:
                message = f"The model {predictor.name} must give one prediction per row"
                raise ModelError(message, got=f"shape {answer.shape} for {rows} rows")
            parts.append(answer)
            self.after_batch(before + start + rows, total)
        return np.concatenate(parts)


def model_scoring(
    model: Any, tables: ByDomain[OpenedTable], roles: Roles, *, unsafe_pickle: bool
) -> ModelScoring:
    """Find out how to ask the caller's model, and with which columns.

    Args:
        model: anything `predictor_of` takes.
        tables: both tables, opened.
        roles: which column is what.
        unsafe_pickle: whether a pickle may be loaded.
    """
    predictor = predictor_of(model, unsafe_pickle=unsafe_pickle)
    columns = _model_columns(predictor, tables, roles)
    notes = list(predictor.notes)
    outside = tuple(name for name in columns if name not in set(roles.features))
    if outside:
        notes.append(Note("model_uses_more", "warning", {"columns": outside}))
    elif predictor.columns is None and predictor.sees == "matrix" and len(columns) > 1:
        notes.append(Note("matrix_order", "info", {"model": predictor.name, "columns": columns}))
    return ModelScoring(predictor, columns, tuple(notes))


def _model_columns(
    predictor: Predictor, tables: ByDomain[OpenedTable], roles: Roles
) -> tuple[str, ...]:
    """Pick the columns for a model: the model's list, or W and Z by the source's order."""
    expects = f"The model {predictor.name} expects"
    if predictor.columns is None:
        features = set(roles.features)
        names = tuple(name for name in tables.source.names if name in features)
        if predictor.width not in (None, len(names)):
            message = f"{expects} {predictor.width} columns"
            hint = "Name covariates=[...] so that they are the columns it was trained with."
            raise ModelError(message, got=f"{len(names)} (baseline and covariates)", hint=hint)
        return names
    columns = []
    for name in predictor.columns:
        for table in tables:  # LightGBM writes blanks in names as underscores
            spelled = [n for n in table.names if n == name or n.replace(" ", "_") == name]
            if not spelled:
                message = f"{expects} column '{name}', which is not in {table.label}"
                raise ModelError(message, hint=did_you_mean(name, table.names))
        columns.append(name if name in spelled else spelled[0])
    if roles.outcome in columns:
        message = f"{expects} the outcome '{roles.outcome}' among its columns"
        raise ModelError(message, hint="A model that sees the outcome cannot be explained.")
    return tuple(columns)


def _table_for(predictor: Predictor, frame: Frame, columns: Sequence[str], rows: slice) -> Any:
    """Return some rows of the caller's table, or numbers for a model trained on numbers."""
    part = nw.from_native(frame.native, eager_only=True).select(list(columns))[rows]
    if predictor.sees == "matrix":
        part_frame = replace(frame, native=part.to_native())
        return np.column_stack([_numbers_in(part_frame, name, predictor) for name in columns])
    if predictor.sees == "pandas" or (predictor.sees == "frame" and frame.kind == "pyarrow"):
        try:
            return part.to_pandas()
        except ImportError as err:
            message = f"The model {predictor.name} needs a pandas table"
            raise ModelError(message, hint="Install it: pip install pandas.") from err
    return part.to_native()


def _numbers_in(frame: Frame, name: str, predictor: Predictor) -> Array:
    column = raw_column(frame.arrow(name), name, frame.label)
    if column.kind not in ("number", "boolean", "missing"):
        raise ModelError(
            f"The model {predictor.name} was trained on numbers, but column '{name}' of "
            f"{frame.label} holds {column.kind}",
            hint="Give a pipeline that turns it into numbers, or a prediction column.",
        )
    return column.values


def _read_answers(
    predictor: Predictor, raw: ByDomain[Any], notes: tuple[Note, ...]
) -> RawPredictions:
    """Read the model's answer as a column, or as a column per class."""
    subject = f"The answer of the model {predictor.name}"
    author = f"The model {predictor.name}"
    answers = RawPredictions(
        subject, author, ModelError, classes=predictor.classes, answer=predictor.answer, notes=notes
    )
    if all(answer.ndim == 2 and answer.shape[1] > 1 for answer in raw):
        try:
            table = raw.map(lambda answer: np.asarray(answer, dtype=float))
        except (TypeError, ValueError) as err:
            actual = str(raw.source[0, 0])
            raise ModelError(f"{subject} must hold one number per class", got=actual) from err
        missing = table.map(lambda values: int((~np.isfinite(values)).any(axis=1).sum()))
        answers = replace(answers, table=table)
    elif any(answer.ndim > 1 and answer.shape[1:] != (1,) for answer in raw):
        actual = f"shape {raw.source.shape}"
        raise ModelError(f"{subject} must be one column, or one per class", got=actual)
    else:
        labels = f"The labels of the model {predictor.name}"
        arrays = raw.map(lambda answer: one_type(answer, labels, ModelError))
        columns = arrays.map(lambda array: raw_column(array, "prediction", "the model"))
        missing = columns.map(lambda column: column.missing)
        answers = replace(answers, column=columns)
    for domain, rows in missing.items():
        if rows:
            raise ModelError(f"{subject} is missing or infinite in {rows} rows of {domain}")
    return answers
