"""The revised model: the source risk, corrected with a few variables on target rows."""

from __future__ import annotations

from typing import Any, Literal, Self, cast

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from whygap.domains import Array, IntArray
from whygap.repair.encoding import encode_rows
from whygap.repair.learner import StackedRisk
from whygap.tables.design import Column

__all__ = ["RevisedModel", "SourceRisk", "revision_inputs"]

ColumnKind = Literal["numeric", "ordinal", "category"]


class SourceRisk:
    """A fitted p_0(Y=1 | W, Z), or the name of a column that holds it; survives `clone` fitted."""

    def __init__(self, model: StackedRisk | None, column: str | None = None) -> None:
        self.model = model
        self.column = column

    def __sklearn_clone__(self) -> SourceRisk:
        return self

    def at(self, features: Array, given: Array | None = None) -> Array:
        """The risk at encoded rows, or as given."""
        if self.model is None:
            if given is None:
                return np.full(len(features), np.nan)
            return given
        return np.asarray(self.model.predict_proba(features)[:, 1], dtype=np.float64)


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
        learner = StackedRisk(start=0) if self.learner is None else clone(self.learner)
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
    logit = special.logit(np.clip(risk, 1e-6, 1 - 1e-6))
    return np.column_stack([logit, features[:, list(columns)]])
