"""The revised model: the source risk, corrected with a few variables on target rows; as a file."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import Any, Literal, Self, cast

import narwhals as nw
import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from whygap.domains import Array, IntArray
from whygap.errors import ColumnError, ModelError, TableError, did_you_mean
from whygap.learning.standalone import fit_mean
from whygap.storage.files import write_bytes
from whygap.tables.columns import RawColumn, raw_column, recode, to_text
from whygap.tables.design import OTHER, Column
from whygap.tables.model_files import PICKLES

ColumnKind = Literal["numeric", "ordinal", "category"]


class RiskClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(Y=1 | X) by `fit_mean`, as a scikit-learn classifier that can be cloned and written down.

    Args:
        categories: positions of the columns whose codes have no order.
        seed: of folds and trees.
        start: position of the column with the logit of a known risk; None where there is none.
    """

    def __init__(
        self, categories: tuple[int, ...] = (), seed: int = 0, start: int | None = None
    ) -> None:
        self.categories = categories
        self.seed = seed
        self.start = start

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Train on rows without order; `y` is 0 or 1, gaps in `X` are NaN."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = X.shape[1]
        outcome = np.asarray(y, dtype=np.float64)
        self.risk_ = fit_mean(X, outcome, weight, self.categories, self.seed, self.start)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Columns P(Y=0), P(Y=1)."""
        risk = np.clip(self.risk_(X), 1e-4, 1 - 1e-4)
        return np.column_stack([1 - risk, risk])

    def predict(self, X: Array) -> IntArray:
        """1 where the risk is at least one half."""
        return np.asarray(self.predict_proba(X)[:, 1] >= 0.5, dtype=np.int64)


class SourceRisk:
    """A fitted p_0(Y=1 | W, Z), or the name of a column that holds it; survives `clone` fitted."""

    def __init__(self, model: RiskClassifier | None, column: str | None = None) -> None:
        self.model = model
        self.column = column

    def __sklearn_clone__(self) -> SourceRisk:
        return self

    def at(self, features: Array, given: Array | None = None) -> Array:
        """The risk at encoded rows, or as given; NaN where neither is known."""
        if self.model is not None:
            return np.asarray(self.model.predict_proba(features)[:, 1], dtype=np.float64)
        return np.full(len(features), np.nan) if given is None else given


class RevisedModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(Y=1) from the source risk Q, the baseline W and the chosen variables Z_s.

    A scikit-learn classifier on the user's own tables (pandas, polars or pyarrow): `fit` on rows
    of the target, `predict_proba` on any row. It can be cloned, pickled and written with skops.

    Args:
        names: all columns of the study, W and Z.
        kinds: "numeric", "ordinal" or "category", one per column.
        levels: levels of each column, in the order of their codes.
        inputs: positions of the columns the revision may use beside Q.
        risk: the source risk.
        threshold: a risk at or above it is the label 1.
        learner: the classifier fitted on (logit Q, inputs).
    """

    def __init__(
        self,
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        levels: tuple[tuple[str, ...], ...],
        inputs: tuple[int, ...],
        risk: SourceRisk,
        threshold: float = 0.5,
        learner: Any = None,
    ) -> None:
        self.names = names
        self.kinds = kinds
        self.levels = levels
        self.inputs = inputs
        self.risk = risk
        self.threshold = threshold
        self.learner = learner

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the columns the revision uses beside the source risk."""
        return tuple(self.names[j] for j in self.inputs)

    def fit(self, X: Any, y: Any, sample_weight: Array | None = None) -> Self:
        """Train the correction on rows of the target; `y` is 0 or 1."""
        return self.fit_encoded(*self._encoded(X), np.asarray(y, dtype=np.float64), sample_weight)

    def fit_encoded(
        self, features: Array, given: Array | None, y: Array, sample_weight: Array | None = None
    ) -> Self:
        """The same on rows that are encoded already; `given` is a known source risk."""
        learner = RiskClassifier(start=0) if self.learner is None else clone(self.learner)
        rows = revision_inputs(self.risk.at(features, given), features, self.inputs)
        self.model_ = learner.fit(rows, y, sample_weight=sample_weight)
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: Any) -> Array:
        """Columns P(Y=0), P(Y=1)."""
        features, given = self._encoded(X)
        rows = revision_inputs(self.risk.at(features, given), features, self.inputs)
        return np.asarray(self.model_.predict_proba(rows), dtype=np.float64)

    def predict(self, X: Any) -> IntArray:
        """1 where the risk reaches the threshold."""
        return np.asarray(self.predict_proba(X)[:, 1] >= self.threshold, dtype=np.int64)

    def _encoded(self, table: Any) -> tuple[Array, Array | None]:
        columns = tuple(
            Column(name, cast(ColumnKind, kind), tuple(levels))
            for name, kind, levels in zip(self.names, self.kinds, self.levels, strict=True)
        )
        features = encode_rows(table, columns)
        if self.risk.column is None:
            return features, None
        given = encode_rows(table, (Column(self.risk.column, "numeric"),))
        return features, given[:, 0]


def revision_inputs(risk: Array, features: Array, columns: tuple[int, ...]) -> Array:
    """What a revision sees of a row: logit of the source risk, then the chosen columns."""
    logit = special.logit(np.clip(risk, 1e-6, 1 - 1e-6))  # finite for every risk
    return np.column_stack([logit, features[:, list(columns)]])


def encode_rows(table: Any, columns: tuple[Column, ...]) -> Array:
    """One float64 column per study column; levels never seen count as "(other)" or missing."""
    arrow = _arrow(table)
    encoded = [np.zeros((arrow.num_rows, 0))]
    for column in columns:
        if column.name not in arrow.column_names:
            raise ColumnError(
                f"Column '{column.name}' is not in the table",
                hint=did_you_mean(column.name, arrow.column_names),
            )
        values = arrow[column.name].combine_chunks()
        encoded.append(_codes(raw_column(values, column.name, "table"), column))
    return np.column_stack(encoded)


def _arrow(table: Any) -> Any:
    try:
        frame = nw.from_native(table)
    except TypeError as error:
        raise TableError(
            "The revised model needs a table",
            got=type(table).__name__,
            hint="Give a pandas, polars or pyarrow table with the study's columns.",
        ) from error
    return frame.collect().to_arrow() if isinstance(frame, nw.LazyFrame) else frame.to_arrow()


def _codes(raw: RawColumn, column: Column) -> Array:
    if column.kind == "numeric":
        if raw.levels:
            raise ColumnError(
                f"Column '{column.name}' must hold numbers, as in the study", got=raw.kind
            )
        return np.asarray(raw.values, dtype=np.float64)
    text = raw if raw.levels or np.isnan(raw.values).all() else to_text(raw)
    position = {level: float(code) for code, level in enumerate(column.levels)}
    unseen = position.get(OTHER, np.nan)
    return recode(text.values, [position.get(level, unseen) for level in text.levels])


def check_model_file(path: str | Path) -> None:
    """Refuse a format that cannot be written, before anything is computed."""
    kind = Path(path).suffix.lower()
    if kind not in (".skops", *PICKLES):
        raise ModelError(
            f"The revised model cannot be written to '{path}'",
            got=f"the format '{kind}'",
            hint="Use .skops, or .pkl for a pickle.",
        )
    if kind == ".skops" and importlib.util.find_spec("skops") is None:
        raise ModelError(
            f"Writing '{path}' needs skops",
            hint="Install it: pip install 'whygap[skops]'; or write a .pkl.",
        )


def save_model(model: RevisedModel, path: str | Path) -> Path:
    """Write the model whole or not at all; returns the path."""
    check_model_file(path)
    if Path(path).suffix.lower() != ".skops":
        return write_bytes(path, pickle.dumps(model))
    from skops import io

    return write_bytes(path, io.dumps(model))
