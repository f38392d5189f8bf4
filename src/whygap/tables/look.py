"""A look at the predictions before anything is explained: what would spoil it all.

Each task has a look of its own: what is measured of the predictions in both tables, and the notes
that follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whygap._metrics import metric_named
from whygap.domains import DOMAINS, Array, ByDomain
from whygap.notes import Fact, Note, NoteLevel
from whygap.tables.design import Design

__all__ = ["Measure", "look_at", "prediction_notes"]

AUC = metric_named("auc")
NEARLY_ONE = 0.999  # an AUC that nothing reaches which is not the outcome, or the domain, itself
NOT_CHANCE = 3.0  # standard errors
TENTHS = 10  # of the rows by score: the groups that calibration is usually read off
ROUNDING = 1e-9  # weights add up to 1 but for that
EQUALS_OUTCOME = Note("prediction_is_outcome", "problem")


@dataclass(frozen=True, slots=True)
class Measure:
    """One number on the predictions in both tables."""

    name: str
    value: ByDomain[float]
    is_share: bool = False  # of rows, written in percent

    def text(self, number: float) -> str:
        """The number as it is written; a dash where there is none."""
        if math.isnan(number):
            return "–"
        if self.is_share:
            return f"{number:.1%}"
        return f"{number:.3f}" if abs(number) < 100 else f"{number:,.0f}"


def look_at(design: Design) -> tuple[Measure, ...]:
    """How the predictions do in both tables."""
    return LOOKS[design.task].measures(design)


def prediction_notes(design: Design, names: ByDomain[str]) -> tuple[Note, ...]:
    """What looks wrong with the predictions."""
    both = np.concatenate(list(design.prediction))
    if np.ptp(both) == 0:
        return (Note("constant_prediction", "warning", {"value": float(both[0])}),)
    said = names.map(lambda name: f"the {name}" if name in DOMAINS else name)
    return tuple(LOOKS[design.task].notes(design, said))


# -- an outcome of two values ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One table's predictions and outcomes, with weights that add up to 1."""

    prediction: Array
    outcome: Array
    weight: Array

    def mean(self, values: NDArray[Any]) -> float:
        """Weighted."""
        return float(values @ self.weight)


def scores_of(design: Design) -> ByDomain[Scores]:
    """Both tables."""
    weights = design.weights or design.outcome.map(np.ones_like)
    sides = (
        Scores(design.prediction[d], design.outcome[d], weights[d] / weights[d].sum())
        for d in DOMAINS
    )
    return ByDomain(*sides)


def _binary_measures(design: Design) -> tuple[Measure, ...]:
    scores, cut = scores_of(design), design.threshold
    positive = scores.map(lambda s: s.mean(s.outcome))
    right = scores.map(lambda s: s.mean((s.prediction >= cut) == (s.outcome == 1)))
    shown = (
        Measure("AUC", scores.map(auc)),
        Measure("accuracy", right, is_share=True),
        Measure("commoner outcome", positive.map(lambda p: max(p, 1 - p)), is_share=True),
        Measure("mean prediction", scores.map(lambda s: s.mean(s.prediction))),
        Measure("mean outcome", positive),
    )
    both = np.concatenate(list(design.prediction))
    if np.isin(both, (0.0, 1.0)).all():
        return shown
    return (*shown, Measure("calibration error", scores.map(calibration_error)))


def auc(scores: Scores) -> float:
    """How well the predictions rank a 0/1 outcome; ties count half. NaN where all rows have one."""
    if np.ptp(scores.outcome[scores.weight > 0]) == 0:
        return math.nan
    return AUC.value(np.stack([scores.outcome, scores.prediction]), scores.weight)


def calibration_error(scores: Scores) -> float:
    """How far predictions and outcomes lie apart on average over tenths of the predictions."""
    inner = np.quantile(scores.prediction, np.linspace(0, 1, TENTHS + 1)[1:-1])
    tenth = np.searchsorted(inner, scores.prediction, side="right")
    apart = scores.weight * (scores.prediction - scores.outcome)
    return float(np.abs(np.bincount(tenth, weights=apart)).sum())


def _binary_notes(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    found = {measure.name: measure.value for measure in _binary_measures(design)}
    if all(one > 1 - ROUNDING for one in found["AUC"]):
        yield EQUALS_OUTCOME
        return
    for domain, name in names.items():
        area_, rows = found["AUC"][domain], design.outcome[domain]
        if area_ > NEARLY_ONE:
            facts: dict[str, Fact] = {"table": name, "auc": float(area_)}
            yield Note("prediction_nearly_outcome", "warning", facts)
        ones = float(rows.sum())
        zeros = len(rows) - ones
        error = ((ones + zeros + 1) / max(12 * ones * zeros, 1)) ** 0.5  # of an AUC of 0.5
        if area_ < 0.5 - NOT_CHANCE * error:
            level: NoteLevel = "problem" if domain == "source" else "warning"
            yield Note("reversed_scores", level, {"table": name, "auc": float(area_)})
    yield from _below_majority(design, names.source, found["accuracy"].source)


def _below_majority(design: Design, name: str, accuracy: float) -> Iterator[Note]:
    """A model that always says the commoner outcome does better; told when it is not chance.

    Where the threshold was moved on purpose it is no surprise.
    """
    scores = scores_of(design).source
    right = (scores.prediction >= design.threshold) == (scores.outcome == 1)
    commoner = float(scores.mean(scores.outcome) >= 0.5)
    lead = (scores.outcome == commoner).astype(float) - right
    if _is_ahead(scores, lead):
        common = accuracy + scores.mean(lead)
        facts = _beaten(name, accuracy, f"{commoner:.0f}", common)
        yield Note("below_commonest", "warning" if design.threshold == 0.5 else "info", facts)


def _is_ahead(scores: Scores, lead: Array) -> bool:
    """Whether the mean lead is above 0 by more than chance."""
    ahead = scores.mean(lead)
    variance = float(scores.weight**2 @ (lead - ahead) ** 2)
    return ahead > NOT_CHANCE * math.sqrt(variance)


def _beaten(name: str, accuracy: float, commoner: str, common: float) -> dict[str, Fact]:
    return {"table": name, "accuracy": accuracy, "value": commoner, "commonest": common}


# -- several classes, and numbers ------------------------------------------------------------------


def _class_measures(design: Design) -> tuple[Measure, ...]:
    scores = scores_of(design)
    right = scores.map(lambda s: s.mean(s.prediction == s.outcome))
    common = scores.map(lambda s: float(_class_shares(s).max()))
    return (
        Measure("accuracy", right, is_share=True),
        Measure("commonest class", common, is_share=True),
    )


def _class_shares(scores: Scores) -> Array:
    return np.bincount(scores.outcome.astype(np.int64), scores.weight).astype(np.float64)


def _class_notes(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    accuracy, common = (measure.value for measure in _class_measures(design))
    if min(accuracy) > 1 - ROUNDING:
        yield EQUALS_OUTCOME
    scores = scores_of(design).source
    commonest = int(_class_shares(scores).argmax())
    lead = (scores.outcome == commonest).astype(float) - (scores.prediction == scores.outcome)
    if _is_ahead(scores, lead):
        name = design.classes[commonest] if design.classes else str(commonest)
        facts = _beaten(names.source, accuracy.source, f"'{name}'", common.source)
        yield Note("below_commonest", "warning", facts)


def _number_measures(design: Design) -> tuple[Measure, ...]:
    scores = scores_of(design)
    return (
        Measure("R2", scores.map(r_squared)),
        Measure("bias", scores.map(lambda s: s.mean(s.prediction - s.outcome))),
        Measure("mean prediction", scores.map(lambda s: s.mean(s.prediction))),
        Measure("mean outcome", scores.map(lambda s: s.mean(s.outcome))),
    )


def r_squared(scores: Scores) -> float:
    """Share of the outcome's variance that the predictions explain; below 0 the mean is closer."""
    spread = scores.mean((scores.outcome - scores.mean(scores.outcome)) ** 2)
    return 1 - scores.mean((scores.prediction - scores.outcome) ** 2) / max(spread, 1e-300)


def _number_notes(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    fit = _number_measures(design)[0].value
    if min(fit) > 1 - ROUNDING:
        yield EQUALS_OUTCOME
    scores = scores_of(design).source
    centre = scores.mean(scores.outcome)
    lead = (scores.prediction - scores.outcome) ** 2 - (scores.outcome - centre) ** 2
    if _is_ahead(scores, lead):
        facts: dict[str, Fact] = {"table": names.source, "mean": centre, "r2": fit.source}
        yield Note("below_mean", "warning", facts)


# -- tasks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """What is measured of the predictions of one task, and what may be wrong with them."""

    measures: Callable[[Design], tuple[Measure, ...]]
    notes: Callable[[Design, ByDomain[str]], Iterator[Note]]


LOOKS = {
    "binary": Look(_binary_measures, _binary_notes),
    "multiclass": Look(_class_measures, _class_notes),
    "regression": Look(_number_measures, _number_notes),
}
