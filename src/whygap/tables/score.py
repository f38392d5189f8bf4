"""A model is asked once, in batches."""

from __future__ import annotations

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
    """A model and the columns it is shown.

    `after_batch` is called with the rows done so far and the rows of both tables together.
    """

    predictor: Predictor
    columns: Sequence[str]
    notes: tuple[Note, ...] = ()
    after_batch: Callable[[int, int], None] = lambda *_: None

    def ask(self, frames: ByDomain[Frame]) -> RawPredictions:
        """Predict every row of both tables; what the model warns of becomes a note."""
        total = frames.source.rows + frames.target.rows

        def answers(frame: Frame, before: int) -> Any:
            return self._answers(frame, lambda rows: self.after_batch(before + rows, total))

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            raw = frames.zip(ByDomain(0, frames.source.rows), answers)
        texts = [str(warning.message).strip() for warning in caught]
        first = list(dict.fromkeys(text.splitlines()[0] for text in texts if text))[:3]
        notes = tuple(Note("model_warned", "warning", {"value": text}) for text in first)
        return _read_answers(self.predictor, raw, self.notes + notes)

    def _answers(self, frame: Frame, after_batch: Callable[[int], None]) -> Any:
        predictor, parts = self.predictor, []
        for start in range(0, frame.rows, BATCH):
            rows = min(BATCH, frame.rows - start)
            table = _table_for(predictor, frame, self.columns, slice(start, start + rows))
            try:
                answer = np.asarray(predictor.ask(table))
            except WhygapError:
                raise
            except Exception as err:  # a model may fail in any way
                raise ModelError(
                    f"The model {predictor.name} failed on the {frame.label} table",
                    got=first_line(err, with_type=True),
                    hint=predictor.hint
                    or f"It was given a {frame.kind} table with columns {listed(self.columns)}; it "
                    "may expect others.",
                ) from err
            if answer.ndim == 0 or len(answer) != rows:
                raise ModelError(
                    f"The model {predictor.name} must give one prediction per row",
                    got=f"shape {answer.shape} for {rows} rows",
                )
            parts.append(answer)
            after_batch(start + rows)
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
    """Choose the columns a model is shown: its own list, else W and Z in the source's order."""
    expects = f"The model {predictor.name} expects"
    if predictor.columns is None:
        features = set(roles.features)
        names = tuple(name for name in tables.source.names if name in features)
        if predictor.width not in (None, len(names)):
            raise ModelError(
                f"{expects} {predictor.width} columns",
                got=f"{len(names)} (baseline and covariates)",
                hint="Name covariates=[...] so that they are the columns it was trained with.",
            )
        return names
    columns = []
    for name in predictor.columns:
        for table in tables:  # LightGBM writes blanks in names as underscores
            spelled = [n for n in table.names if n == name or n.replace(" ", "_") == name]
            if not spelled:
                raise ModelError(
                    f"{expects} column '{name}', which is not in {table.label}",
                    hint=did_you_mean(name, table.names),
                )
        columns.append(name if name in spelled else spelled[0])
    if roles.outcome in columns:
        raise ModelError(
            f"{expects} the outcome '{roles.outcome}' among its columns",
            hint="A model that sees the outcome cannot be explained.",
        )
    return tuple(columns)


def _table_for(predictor: Predictor, frame: Frame, columns: Sequence[str], rows: slice) -> Any:
    """Return some rows of the caller's table, or numbers for a model trained on numbers."""
    part = nw.from_native(frame.native, eager_only=True).select(list(columns))[rows]
    if predictor.sees == "matrix":
        return _matrix_of(predictor, replace(frame, native=part.to_native()), columns)
    if predictor.sees == "pandas" or (predictor.sees == "frame" and frame.kind == "pyarrow"):
        try:
            return part.to_pandas()
        except ImportError as err:
            raise ModelError(
                f"The model {predictor.name} needs a pandas table",
                hint="Install it: pip install pandas.",
            ) from err
    return part.to_native()


def _matrix_of(predictor: Predictor, frame: Frame, columns: Sequence[str]) -> Array:
    stacked = []
    for name in columns:
        column = raw_column(frame.arrow(name), name, frame.label)
        if column.kind not in ("number", "boolean", "missing"):
            raise ModelError(
                f"The model {predictor.name} was trained on numbers, but column '{name}' of "
                f"{frame.label} holds {column.kind}",
                hint="Give a pipeline that turns it into numbers, or a prediction column.",
            )
        stacked.append(column.values)
    return np.column_stack(stacked)


def _read_answers(
    predictor: Predictor, raw: ByDomain[Any], notes: tuple[Note, ...]
) -> RawPredictions:
    """Read the model's answer as a column, or as one column per class."""
    what, who = f"The answer of the model {predictor.name}", f"The model {predictor.name}"
    answers = RawPredictions(
        what, who, ModelError, classes=predictor.classes, answer=predictor.answer, notes=notes
    )
    if all(answer.ndim == 2 and answer.shape[1] > 1 for answer in raw):
        return replace(answers, table=raw.map(lambda answer: _numbers_of(what, answer)))
    if any(answer.ndim > 1 and answer.shape[1:] != (1,) for answer in raw):
        raise ModelError(
            f"{what} must be one column, or one per class", got=f"shape {raw.source.shape}"
        )
    labels = f"The labels of the model {predictor.name}"
    arrays = raw.map(lambda answer: one_type(answer, labels, ModelError))
    columns = arrays.map(lambda array: raw_column(array, "prediction", "the model"))
    for domain, column in columns.items():
        if column.missing:
            raise ModelError(f"{what} is missing or infinite in {column.missing} rows of {domain}")
    return replace(answers, column=columns)


def _numbers_of(what: str, answer: Any) -> Array:
    """Require one finite number per row and class."""
    try:
        values = np.asarray(answer, dtype=float)
    except (TypeError, ValueError) as err:
        raise ModelError(f"{what} must hold one number per class", got=str(answer[0, 0])) from err
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).any(axis=1).sum())
        raise ModelError(f"{what} is missing or infinite in {bad} rows")
    return values
