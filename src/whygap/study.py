"""What is asked: two tables, the roles of their columns, the model's predictions, the metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from whygap._metrics import Metric, our_name
from whygap.domains import ByDomain
from whygap.errors import InputError, SettingsError, name_list, refusing_unknown, require_known
from whygap.progress import Reporter, Silent
from whygap.tables.build import build_design
from whygap.tables.design import ORDERS, Design
from whygap.tables.frames import release_arrow_memory
from whygap.tables.open import OpenedTable, TableKind, open_table
from whygap.tables.roles import ONE_COLUMN, Roles, resolve_roles
from whygap.tables.score import ModelScoring, model_scoring
from whygap.tables.task import ScoringSpec

__all__ = ["Study"]

LEAST_SAMPLE = 1000  # of fewer rows, which are quick to analyse, all had better be taken


@refusing_unknown("argument", "Arguments of a Study", InputError)
@dataclass(frozen=True, eq=False)
class Study:
    """Two tables and the roles of their columns; names are checked when it is made.

    The rows are read, encoded and checked when `design` is first asked for.

    Attributes:
        source: table where the model was scored first: pandas, polars (eager or lazy), pyarrow, an
            Arrow stream, a duckdb relation, or a path (.csv,
            .tsv, .xlsx, .parquet, a folder, a glob).
        target: table where it scores differently.
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
        groups: player name -> covariates that act as one player.
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
    outcome: str
    baseline: Sequence[str] = ()
    covariates: Sequence[str] | None = None
    prediction: str | Mapping[str, str] | None = None
    model: Any = None
    metric: Any = "accuracy"
    order: Any = "covariates first"
    task: Any = "auto"
    threshold: float = 0.5
    quantile: float | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    weights: str | None = None
    clusters: str | None = None
    source_risk: str | None = None
    positive: Any = None
    source_name: str = "source"
    target_name: str = "target"
    unsafe_pickle: bool = False
    sample: int | None = None

    def __post_init__(self) -> None:
        _ = self.asked
        require_known(self.order, ORDERS, f"There is no order '{self.order}'", "Orders")
        require_sample(self.sample)
        _ = name_list([self.source_name, self.target_name], "The names of source and target")
        if (self.prediction is None) == (self.model is None):
            raise SettingsError(
                "A study needs either prediction= or model=",
                got="neither" if self.model is None else "both",
                hint="prediction= names a column; model= is a fitted model or a callable.",
            )
        _ = self.roles, self.model_scoring

    @classmethod
    def given(cls, study: Any, call: str) -> Study:
        """The study a function was called with; anything else is refused."""
        if not isinstance(study, cls):
            raise InputError(
                f"{call} needs a Study",
                got=f"an object of type {type(study).__name__}",
                hint='study = wg.Study(source, target, outcome="readmitted", prediction="risk").',
            )
        return study

    @property
    def names(self) -> ByDomain[str]:
        """What the two domains are called in words."""
        return ByDomain(self.source_name, self.target_name)

    @cached_property
    def asked(self) -> ScoringSpec:
        """How rows are to be scored, checked as far as that is possible before any is read."""
        names = ("metric", "task", "threshold", "quantile", "positive", "source_risk")
        given = {name: getattr(self, name) for name in names}
        return ScoringSpec(**given | {"metric": our_name(self.metric)}).checked()

    @property
    def metric_(self) -> Metric:
        """The metric, for this outcome; the tables are read."""
        return self.design.metric

    @cached_property
    def tables(self) -> ByDomain[OpenedTable]:
        """Both tables, opened: column names known, rows not read."""
        return ByDomain(open_table(self.source, "source"), open_table(self.target, "target"))

    @property
    def table_kind(self) -> TableKind:
        """The kind of table results are handed back in: the source's own."""
        return self.tables.source.kind

    @cached_property
    def roles(self) -> Roles:
        """Which column plays which role, default covariates filled in."""
        return resolve_roles(
            self.tables,
            single={role: getattr(self, role) for role in ONE_COLUMN},
            baseline=self.baseline,
            covariates=self.covariates,
            groups=self.groups,
        )

    @cached_property
    def design(self) -> Design:
        """Both tables as arrays; read, scored and checked once."""
        return self._read(Silent())

    def read(self, report: Reporter) -> Design:
        """`design`, telling how many rows the model has scored when it is first asked for."""
        if "design" not in self.__dict__:
            self.__dict__["design"] = self._read(report)
        return self.design

    def _read(self, report: Reporter) -> Design:
        design = self._built(report)
        release_arrow_memory()
        return design

    def _built(self, report: Reporter) -> Design:
        report.stage("reading tables")
        asked = () if self.model_scoring is None else tuple(self.model_scoring.columns)
        needed = tuple(dict.fromkeys(self.roles.columns + asked))
        frames = self.tables.map(lambda table: table.read(needed, self.sample))
        model = self.model_scoring
        if model is not None:
            report.stage("asking the model")
            model = replace(model, after_batch=lambda done, all_: report.update(done, all_, "rows"))
        design = build_design(frames, self.roles, self.asked, model, self.names)
        entrance = (*self.tables.source.notes, *self.tables.target.notes, *self.roles.notes)
        return replace(design, order=self.order, notes=(*entrance, *design.notes))

    def __repr__(self) -> str:
        """Shapes and roles, no rows."""
        source, target = ByDomain(self.source, self.target).zip(self.tables, _shape)
        asked = f"outcome='{self.roles.outcome}', baseline={list(self.roles.baseline)}"
        return (
            f"Study(source={source}, target={target}, {asked}, "
            f"{len(self.roles.covariates)} covariates, metric='{self.asked.name}')"
        )

    @cached_property
    def model_scoring(self) -> ModelScoring | None:
        """The model and the columns it is shown; None when there is a prediction column."""
        if self.model is None:
            return None
        return model_scoring(self.model, self.tables, self.roles, unsafe_pickle=self.unsafe_pickle)

    def with_target(self, table: Any, name: str) -> Study:
        """The same study against another target."""
        return replace(self, target=table, target_name=name)


def require_sample(sample: Any) -> None:
    """Refuse a size that no sample can have."""
    whole = isinstance(sample, int) and not isinstance(sample, bool)
    if sample is not None and not (whole and sample >= LEAST_SAMPLE):
        raise SettingsError(
            f"sample= must be a whole number of at least {LEAST_SAMPLE:,}, or None",
            got=repr(sample),
        )


def _shape(given: Any, opened: OpenedTable) -> str:
    """Rows, where they are known without reading them, and columns."""
    shape = getattr(given, "shape", None)
    rows = f"{shape[0]:,} rows, " if shape else ""
    return f"<{rows}{len(opened.names)} columns>"
