"""Checks of the predictions before anything is explained: how good they are, what looks wrong."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whygap._metrics import Task, metric_named
from whygap.domains import DOMAINS, Array, ByDomain
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables.design import Design

__all__ = ["NEARLY_ONE", "Measure", "look_at", "prediction_notes"]

AUC = metric_named("auc")
NEARLY_ONE = 0.999  # an AUC that nothing reaches which is not the outcome, or the domain, itself
NOT_CHANCE = 3.0  # standard errors: chance alone goes so far about once in 700 times, to one side


@dataclass(frozen=True, slots=True)
class Measure:
    """A number on the predictions in both tables; a share of rows is written in percent."""

    name: str
    value: ByDomain[float]
    is_share: bool = False

    def text(self, number: float) -> str:
        """Write the number, or a dash for none.

        Args:
            number: a value of the measure.
        """
        if math.isnan(number):
            return "–"
        if self.is_share:
            return f"{number:.1%}"
        return f"{number:.3f}" if abs(number) < 100 else f"{number:,.0f}"


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One table's predictions and outcomes, with weights that add up to 1."""

    prediction: Array
    outcome: Array
    weight: Array

    def mean(self, values: NDArray[Any]) -> float:
        """Average over the rows, weighted.

        Args:
            values: a number per row.
        """
        return float(values @ self.weight)

    def right(self, threshold: float | None) -> NDArray[np.bool_]:
        """Return the rows in which the predicted label (or the probability, cut) is the outcome.

        Args:
            threshold: from which a probability predicts 1; None for predicted labels.
        """
        if threshold is None:
            return np.asarray(self.prediction == self.outcome)
        return np.asarray((self.prediction >= threshold) == (self.outcome == 1))

    def is_ahead(self, lead: Array) -> bool:
        """Return whether the mean lead exceeds 0 by more than chance.

        Args:
            lead: a number per row.
        """
        ahead = self.mean(lead)
        variance = float(self.weight**2 @ (lead - ahead) ** 2)
        return ahead > NOT_CHANCE * math.sqrt(variance)

    def auc(self) -> float:
        """Compute the AUC; ties count half, NaN where all rows have equal outcomes."""
        if np.ptp(self.outcome[self.weight > 0]) == 0:
            return math.nan
        return AUC.value(np.stack([self.outcome, self.prediction]), self.weight)

    def calibration_error(self) -> float:
        """Average how far predictions and outcomes lie apart over tenths of the predictions."""
        inner = np.quantile(self.prediction, np.linspace(0, 1, 11)[1:-1])
        tenth = np.searchsorted(inner, self.prediction, side="right")
        residual = self.weight * (self.prediction - self.outcome)
        return float(np.abs(np.bincount(tenth, weights=residual)).sum())

    def r_squared(self) -> float:
        """Compute the share of the outcome's variance that the predictions explain."""
        spread = self.mean((self.outcome - self.mean(self.outcome)) ** 2)
        return 1 - self.mean((self.prediction - self.outcome) ** 2) / max(spread, 1e-300)

    def class_shares(self) -> Array:
        return np.bincount(self.outcome.astype(np.int64), self.weight).astype(np.float64)


def _tables_of(design: Design) -> ByDomain[_Table]:
    weights = design.weights or design.outcome.map(np.ones_like)
    shares = weights.map(lambda weight: weight / weight.sum())
    return ByDomain(*(_Table(design.prediction[d], design.outcome[d], shares[d]) for d in DOMAINS))


def look_at(design: Design) -> tuple[Measure, ...]:
    """Measure how the predictions do in each table.

    Args:
        design: the rows of the study.
    """
    tables = _tables_of(design)
    cut = design.threshold
    if design.task == "multiclass":
        common = tables.map(lambda t: float(t.class_shares().max()))
        accuracy = Measure("accuracy", tables.map(_FITS["multiclass"]), is_share=True)
        return accuracy, Measure("commonest class", common, is_share=True)
    predicted = Measure("mean prediction", tables.map(lambda t: t.mean(t.prediction)))
    mean = tables.map(lambda t: t.mean(t.outcome))
    if design.task == "regression":
        bias = tables.map(lambda t: t.mean(t.prediction - t.outcome))
        fit = Measure("R2", tables.map(_Table.r_squared))
        return (fit, Measure("bias", bias), predicted, Measure("mean outcome", mean))
    right = tables.map(lambda t: t.mean(t.right(cut)))
    measures = (
        Measure("AUC", tables.map(_Table.auc)),
        Measure("accuracy", right, is_share=True),
        Measure("commoner outcome", mean.map(lambda p: max(p, 1 - p)), is_share=True),
        predicted,
        Measure("mean outcome", mean),
    )
    if np.isin(np.concatenate(list(design.prediction)), (0.0, 1.0)).all():
        return measures
    return (*measures, Measure("calibration error", tables.map(_Table.calibration_error)))


def prediction_notes(design: Design, names: ByDomain[str]) -> tuple[Note, ...]:
    """Report what looks wrong with the predictions.

    Args:
        design: the rows of the study.
        names: of the tables, for the notes.
    """
    pooled = np.concatenate(list(design.prediction))
    if np.ptp(pooled) == 0:
        return (Note("constant_prediction", "warning", {"value": float(pooled[0])}),)
    tables = _tables_of(design)
    is_binary = design.task == "binary"
    fit = tables.map(_FITS[design.task])
    if all(value > 1 - 1e-9 for value in fit):  # weights add up to 1 but for rounding
        return (Note("prediction_is_outcome", "problem"),)
    titles = names.map(lambda name: f"the {name}" if name in DOMAINS else name)
    source = tables.source
    centre = source.mean(source.outcome)
    if design.task == "regression":
        lead = (source.prediction - source.outcome) ** 2 - (source.outcome - centre) ** 2
        facts: dict[str, Fact] = {"table": titles.source, "mean": centre, "r2": fit.source}
        return (Note("below_mean", "warning", facts),) if source.is_ahead(lead) else ()
    notes = list(_ranking_notes(tables, fit, titles)) if is_binary else []
    commonest = int(centre >= 0.5) if is_binary else int(source.class_shares().argmax())
    value = f"'{design.classes[commonest] if design.classes else commonest}'"
    right = source.right(design.threshold if is_binary else None)
    always = source.outcome == commonest
    if source.is_ahead(always.astype(float) - right):
        facts = {"accuracy": source.mean(right), "commonest": source.mean(always)}
        facts |= {"table": titles.source, "value": str(commonest) if is_binary else value}
        # Where the threshold was moved on purpose it is no surprise
        is_cut = is_binary and design.threshold != 0.5
        notes.append(Note("below_commonest", "info" if is_cut else "warning", facts))
    return tuple(notes)


_FITS: dict[Task, Callable[[_Table], float]] = {
    "binary": _Table.auc,
    "multiclass": lambda table: table.mean(table.right(None)),
    "regression": _Table.r_squared,
}


def _ranking_notes(
    tables: ByDomain[_Table], areas: ByDomain[float], names: ByDomain[str]
) -> Iterator[Note]:
    """Report scores that rank rows as well as the outcome itself would, or the wrong way round."""
    for domain, table in tables.items():
        facts: dict[str, Fact] = {"table": names[domain], "auc": float(areas[domain])}
        if areas[domain] > NEARLY_ONE:
            yield Note("prediction_nearly_outcome", "warning", facts)
        positives = float(table.outcome.sum())
        product = positives * (len(table.outcome) - positives)
        error = ((len(table.outcome) + 1) / max(12 * product, 1)) ** 0.5  # of an AUC of 0.5
        if areas[domain] < 0.5 - NOT_CHANCE * error:
            level: NoteLevel = "problem" if domain == "source" else "warning"
            yield Note("reversed_scores", level, facts)
