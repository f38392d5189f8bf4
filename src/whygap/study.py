"""What is asked: two tables, the roles of their columns, the model's predictions, the metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from whygap._arrays import joined_tables
from whygap._metrics import canonical_name, sign_note
from whygap.data_checks import with_hints
from whygap.domains import ByDomain
from whygap.errors import InputError, SettingsError, in_our_words
from whygap.notes import Note
from whygap.progress import Reporter, Silent
from whygap.tables.build import build_design
from whygap.tables.design import Design
from whygap.tables.frames import release_arrow_memory
from whygap.tables.open import OpenedTable, TableKind, open_table
from whygap.tables.roles import ONE_COLUMN, Roles, resolve_roles
from whygap.tables.score import ModelScoring, model_scoring
from whygap.tables.task import ScoringSpec

__all__ = ["Study"]


def _names(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    collection = isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)
    return tuple(value) if collection else value


def _column(value: Any) -> Any:
    if hasattr(value, "predict") or hasattr(value, "__array__") or callable(value):
        raise InputError(
            "A role names a column of both tables",
            got=f"an object of type {type(value).__name__}",
            hint="A model is given as model=; arrays become a study by wg.Study.from_arrays(...).",
        )
    return value


_Names = Annotated[Sequence[str], BeforeValidator(_names)]
_Column = Annotated[str, BeforeValidator(_column)]


@in_our_words("argument", InputError)
@dataclass(frozen=True, eq=False, config=ConfigDict(extra="forbid", strict=True))
class Study:
    """Two tables and the roles of their columns; names are checked when the study is made.

    The rows are read, encoded and checked when `design` is first used.

    Attributes:
        source: table where the model was scored first: pandas, polars (eager or lazy), pyarrow, an
            Arrow stream, a duckdb relation, or a path (.csv,
            .tsv, .xlsx, .parquet, a folder, a glob).
        target: table where the model scores differently.
        outcome: column with two distinct values, several classes, or numbers.
        baseline: columns of W; may be empty.
        covariates: columns of Z; None means every column not otherwise named.
        prediction: column of probabilities, labels or predicted values; for several classes also
            {class: column of its probabilities}; or give `model`.
        model: fitted estimator, callable(table) -> array, or a path to a model.
        metric: a name (`whygap.metrics()` lists them), a callable(prediction, outcome) that gives
            one value per row, or a `whygap.Metric`.
        order: "covariates first" takes the covariates before the outcome given them, for causes
            that lead to the outcome; "outcome first" takes the outcome given W before the
            covariates given the outcome, for what the outcome leads to (label shift).
        task: "binary", "multiclass" or "regression"; "auto" finds out, and says so in a note.
        threshold: a probability at or above it is the label 1.
        quantile: of the pinball loss.
        groups: name of a group -> covariates that act as one variable.
        weights: column of row weights.
        clusters: column that says which rows belong together.
        source_risk: column of a known p_0(Y=1 | W, Z).
        positive: the outcome value that counts as 1; None takes the obvious one (1, True, "yes").
        source_name: what the source is called in words.
        target_name: what the target is called in words.
        unsafe_pickle: allow a model file that runs code when it is loaded.
        sample: at most so many rows of each table are analysed, drawn at random; the metric is
            that of the drawn rows.
    """

    source: Any
    target: Any
    outcome: _Column
    baseline: _Names = ()
    covariates: _Names | None = None
    prediction: Annotated[str | Mapping[Any, str] | None, BeforeValidator(_column)] = None
    model: Any = None
    metric: Any = "accuracy"
    order: Literal["covariates first", "outcome first"] = "covariates first"
    task: Literal["auto", "binary", "multiclass", "regression"] = "auto"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    quantile: float | None = None
    groups: Mapping[str, _Names] | None = None
    weights: _Column | None = None
    clusters: _Column | None = None
    source_risk: _Column | None = None
    positive: Any = None
    source_name: str = "source"
    target_name: str = "target"
    unsafe_pickle: bool = False
    sample: Annotated[int, Field(ge=1000)] | None = None  # smaller tables are quick as they are

    def __post_init__(self) -> None:
        _ = self.scoring_spec
        if (self.prediction is None) == (self.model is None):
            count = "neither" if self.model is None else "both"
            hint = "prediction= names a column; model= is a fitted model or a callable."
            raise SettingsError("A study needs either prediction= or model=", got=count, hint=hint)
        _ = self.roles, self.model_scoring

    @classmethod
    def require(cls, study: Any, call: str) -> Study:
        """Return the study that a function was called with, and refuse all except a Study.

        Args:
            study: what the user passed.
            call: name of the function, for the message.
        """
        if not isinstance(study, cls):
            actual = f"an object of type {type(study).__name__}"
            hint = 'study = wg.Study(source, target, outcome="readmitted", prediction="risk").'
            raise InputError(f"{call} needs a Study", got=actual, hint=hint)
        return study

    @classmethod
    def from_arrays(
        cls,
        X_source: Any,
        y_source: Any,
        prediction_source: Any,
        X_target: Any,
        y_target: Any,
        prediction_target: Any,
        **roles: Any,
    ) -> Study:
        """Make a study of features, outcomes and predictions that come apart, row by row.

        A source that the model was trained on flatters the model: take rows it has not seen.

        Args:
            X_source: features of the source: a table of any kind, or an array, whose columns are
                called x0, x1, ..., unless the model knows their names.
            y_source: outcomes of the source; a name of the array is the name of the outcome.
            prediction_source: predictions for the source; a column per class for several classes,
                in the order of the sorted classes; None with `model=`.
            X_target: features of the target, with the columns of the source.
            y_target: outcomes of the target.
            prediction_target: predictions for the target, or None.
            roles: further arguments of `Study`.

        Returns:
            A study whose outcome has the name of `y_source`, or is called "outcome".
        """
        arrays = (X_source, X_target), (y_source, y_target), (prediction_source, prediction_target)
        X, y, predictions = (ByDomain(*pair) for pair in arrays)
        return cls(**joined_tables(X, y, predictions, roles))

    @property
    def names(self) -> ByDomain[str]:
        """Return what the two domains are called in words."""
        return ByDomain(self.source_name, self.target_name)

    @cached_property
    def scoring_spec(self) -> ScoringSpec:
        """Return how rows are to be scored, checked as far as possible before rows are read."""
        names = ("task", "threshold", "quantile", "positive", "source_risk")
        values = {name: getattr(self, name) for name in names}
        return ScoringSpec(metric=canonical_name(self.metric), **values).checked()

    @cached_property
    def tables(self) -> ByDomain[OpenedTable]:
        """Open the tables: column names known, rows not read."""
        return ByDomain(open_table(self.source, "source"), open_table(self.target, "target"))

    @property
    def table_kind(self) -> TableKind:
        """Return the kind of table in which results are handed back: the source's own."""
        return self.tables.source.kind

    @cached_property
    def roles(self) -> Roles:
        """Return which column plays which role, default covariates filled in."""
        return resolve_roles(
            self.tables,
            single={role: getattr(self, role) for role in ONE_COLUMN},
            baseline=self.baseline,
            covariates=self.covariates,
            groups=self.groups,
        )

    @cached_property
    def design(self) -> Design:
        """Return the tables as arrays; read, scored and checked once."""
        return self.read(Silent())

    def read(self, report: Reporter) -> Design:
        """Return `design`, and report how many rows the model has scored on the first call.

        Args:
            report: takes the progress of scoring.
        """
        if "design" not in self.__dict__:
            self.__dict__["design"] = self._built(report)
            release_arrow_memory()
        return self.design

    def _built(self, report: Reporter) -> Design:
        report.stage("reading tables")
        model = self.model_scoring
        columns = () if model is None else tuple(model.columns)
        needed = tuple(dict.fromkeys(self.roles.columns + columns))
        frames = self.tables.map(lambda table: table.read(needed, self.sample))
        if model is not None:
            report.stage("asking the model")
            model = replace(model, after_batch=lambda n, total: report.update(n, total, "rows"))
        design = with_hints(build_design(frames, self.roles, self.scoring_spec, model), self.names)
        entrance = (*self.tables.source.notes, *self.tables.target.notes, *self.roles.notes)
        if sign := sign_note(self.metric):
            entrance = (*entrance, Note("sign_of_loss", "info", {"reason": sign}))
        return replace(design, order=self.order, notes=(*entrance, *design.notes))

    def __repr__(self) -> str:
        """Show shapes and roles, no rows."""
        shapes = []
        for table, opened in zip((self.source, self.target), self.tables, strict=True):
            shape = getattr(table, "shape", None)  # known without reading
            rows = f"{shape[0]:,} rows, " if shape else ""
            shapes.append(f"<{rows}{len(opened.names)} columns>")
        described = f"outcome='{self.roles.outcome}', baseline={list(self.roles.baseline)}"
        return (
            f"Study(source={shapes[0]}, target={shapes[1]}, {described}, "
            f"{len(self.roles.covariates)} covariates, metric='{self.scoring_spec.name}')"
        )

    @cached_property
    def model_scoring(self) -> ModelScoring | None:
        """Return the model with the columns to ask; None where predictions are a column."""
        if self.model is None:
            return None
        return model_scoring(self.model, self.tables, self.roles, unsafe_pickle=self.unsafe_pickle)

    def with_target(self, table: Any, name: str) -> Study:
        """Return this study against another target.

        Args:
            table: the rows of that target.
            name: of that target.
        """
        return replace(self, target=table, target_name=name)
