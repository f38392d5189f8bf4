"""How rows are scored: a model is asked once, in batches; its answer is read as predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from whygap._metrics import Metric
from whygap.domains import DOMAINS, Array, ByDomain
from whygap.errors import ModelError, WhygapError, did_you_mean, first_line, listed
from whygap.tables.columns import is_number, raw_column
from whygap.tables.design import Note
from whygap.tables.model import Predictor, predictor_of
from whygap.tables.open import Frame, OpenedTable
from whygap.tables.outcome import Labels, as_predictions, in_unit_interval
from whygap.tables.roles import Roles

__all__ = ["Answers", "ModelScoring", "Scoring", "model_scoring"]

BATCH = 20_000  # rows a model is shown at once: little memory, and progress every few seconds


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Predictions at every row of both tables, and what the user must know about them."""

    prediction: ByDomain[Array]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ModelScoring:
    """A model and the columns it is shown.

    `after_batch` is called with the rows done so far and the rows of both tables together.
    """

    predictor: Predictor
    columns: Sequence[str]
    notes: tuple[Note, ...] = ()
    after_batch: Callable[[int, int], None] = lambda *_: None

    def predict(self, frames: ByDomain[Frame], labels: Labels) -> Answers:
        """Predictions at every row of both tables; what the model warns of becomes a note."""
        total = frames.source.rows + frames.target.rows

        def ask(frame: Frame, before: int) -> Any:
            def after_batch(done: int) -> None:
                self.after_batch(before + done, total)

            return raw_answers(self.predictor, frame, self.columns, after_batch)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            raw = frames.zip(ByDomain(0, frames.source.rows), ask)
        said = [str(warning.message).strip() for warning in caught]
        first = list(dict.fromkeys(text.splitlines()[0] for text in said if text))[:3]
        notes = tuple(Note("warning", f"The model warned: {text}") for text in first)
        return Answers(read_answers(self.predictor, raw, labels), self.notes + notes)


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """How rows are scored: by this metric, and by a model unless there is a prediction column."""

    metric: Metric
    threshold: float
    model: ModelScoring | None = None


def model_scoring(
    model: Any, tables: ByDomain[OpenedTable], roles: Roles, *, unsafe_pickle: bool
) -> ModelScoring:
    """How to ask the caller's model, and with which columns."""
    predictor = predictor_of(model, unsafe_pickle=unsafe_pickle)
    columns = model_columns(predictor, tables, roles)
    return ModelScoring(predictor, columns, model_notes(predictor, columns, roles))


def model_columns(
    predictor: Predictor, tables: ByDomain[OpenedTable], roles: Roles
) -> tuple[str, ...]:
    """The columns a model is shown: its own list, else W and Z in the source's order."""
    if predictor.columns is None:
        features = set(roles.features)
        names = tuple(name for name in tables.source.names if name in features)
        if predictor.width not in (None, len(names)):
            raise ModelError(
                f"The model {predictor.name} expects {predictor.width} columns",
                got=f"{len(names)} (baseline and covariates)",
                hint="Name covariates=[...] so that they are the columns it was trained with.",
            )
        return names
    columns = tuple(find_column(predictor, name, tables) for name in predictor.columns)
    if roles.outcome in columns:
        raise ModelError(
            f"The model {predictor.name} expects the outcome '{roles.outcome}' among its columns",
            hint="A model that sees the outcome cannot be explained.",
        )
    return columns


def find_column(predictor: Predictor, name: str, tables: ByDomain[OpenedTable]) -> str:
    """A column the model names; LightGBM writes blanks in names as underscores."""
    for table in tables:
        spelled = [n for n in table.names if n == name or n.replace(" ", "_") == name]
        if not spelled:
            raise ModelError(
                f"The model {predictor.name} expects column '{name}', which is not in "
                f"{table.label}",
                hint=did_you_mean(name, table.names),
            )
    return name if name in spelled else spelled[0]


def model_notes(predictor: Predictor, columns: Sequence[str], roles: Roles) -> tuple[Note, ...]:
    outside = [name for name in columns if name not in set(roles.features)]
    if not outside:
        return predictor.notes
    text = (
        f"The model also uses {listed(outside)}, neither baseline nor covariate: differences that "
        "act through them are counted as outcome shift."
    )
    return (*predictor.notes, Note("warning", text))


def raw_answers(
    predictor: Predictor, frame: Frame, columns: Sequence[str], after_batch: Callable[[int], None]
) -> Any:
    parts = []
    for start in range(0, frame.rows, BATCH):
        rows = min(BATCH, frame.rows - start)
        shown = table_for(predictor, frame, columns, start, rows)
        try:
            answer = np.asarray(predictor.ask(shown))
        except WhygapError:
            raise
        except Exception as err:  # a model may fail in any way
            raise ModelError(
                f"The model {predictor.name} failed on the {frame.label} table",
                got=first_line(err, with_type=True),
                hint=predictor.hint
                or f"It was given a {frame.kind} table with columns {listed(columns)}; it may "
                "expect others.",
            ) from err
        if answer.ndim == 0 or len(answer) != rows:
            raise ModelError(
                f"The model {predictor.name} must give one prediction per row",
                got=f"shape {answer.shape} for {rows} rows",
            )
        parts.append(answer)
        after_batch(start + rows)
    return np.concatenate(parts)


def table_for(
    predictor: Predictor, frame: Frame, columns: Sequence[str], start: int, rows: int
) -> Any:
    """A slice of the caller's table, or numbers where the model was trained on numbers."""
    part = nw.from_native(frame.native, eager_only=True).select(list(columns))[start : start + rows]
    if predictor.sees == "matrix":
        return matrix_of(predictor, frame, part, columns)
    if predictor.sees == "pandas" or (predictor.sees == "frame" and frame.kind == "pyarrow"):
        try:
            return part.to_pandas()
        except ImportError as err:
            raise ModelError(
                f"The model {predictor.name} needs a pandas table",
                hint="Install it: pip install pandas.",
            ) from err
    return part.to_native()


def matrix_of(predictor: Predictor, frame: Frame, part: Any, columns: Sequence[str]) -> Array:
    shown = Frame(frame.label, frame.kind, part.to_native(), len(part))
    stacked = []
    for name in columns:
        column = raw_column(shown.arrow(name), name, frame.label)
        if column.kind not in ("number", "boolean", "missing"):
            raise ModelError(
                f"The model {predictor.name} was trained on numbers, but column '{name}' of "
                f"{frame.label} holds {column.kind}",
                hint="Give a pipeline that turns it into numbers, or a prediction column.",
            )
        stacked.append(column.values)
    return np.column_stack(stacked)


def read_answers(predictor: Predictor, raw: ByDomain[Any], labels: Labels) -> ByDomain[Array]:
    """Probabilities of the positive label, or labels as 0 and 1."""
    what = f"The answer of the model {predictor.name}"
    if all(answer.ndim == 2 for answer in raw):
        raw = raw.map(lambda answer: positive_column(predictor, answer, labels))
    if any(answer.ndim != 1 for answer in raw):
        raise ModelError(f"{what} must be one column, or two", got=f"shape {raw.source.shape}")
    if predictor.answer == "score":
        place = positive_place(predictor, labels)
        return raw.map(lambda score: ((np.asarray(score, float) > 0) == place).astype(float))
    arrays = raw.map(lambda answer: pa.array(answer.tolist()))
    columns = arrays.map(lambda array: raw_column(array, "prediction", "the model"))
    for domain, column in zip(DOMAINS, columns, strict=True):
        if column.missing:
            raise ModelError(f"{what} is missing or infinite in {column.missing} rows of {domain}")
    if predictor.answer == "probability":
        return in_unit_interval(what, columns, ModelError)
    return as_predictions(what, columns, labels, ModelError)


def positive_column(predictor: Predictor, answer: Any, labels: Labels) -> Any:
    """The column of the positive label; without `classes_`, columns are in sorted order."""
    if answer.shape[1] == 1:
        return answer[:, 0]
    if answer.shape[1] != 2:
        raise ModelError(
            f"The model {predictor.name} must tell two classes apart",
            got=f"{answer.shape[1]} columns of probabilities",
        )
    return answer[:, positive_place(predictor, labels)]


def positive_place(predictor: Predictor, labels: Labels) -> int:
    """0 or 1: where the positive label stands among the model's classes.

    A model that does not say has them in scikit-learn's order: numbers first, then text.
    """

    def place(label: str) -> tuple[float, str]:
        return (float(label), "") if is_number(label) else (np.inf, label)

    classes = predictor.classes or sorted((labels.negative, labels.positive), key=place)
    codes = [labels.code(label) for label in classes]
    if codes == [0.0, 1.0] or codes == [1.0, 0.0]:
        return codes.index(1.0)
    if [str(label) for label in classes] in (["0", "1"], ["False", "True"]):
        return 1
    raise ModelError(
        f"The model {predictor.name} knows other classes than the outcome",
        got=f"{classes[0]!r} and {classes[1]!r}; the outcome has {labels}",
    )
