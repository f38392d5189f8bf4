"""What a revision hands back: the revised model, every choice measured, in words and tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from whygap.errors import ResultError, SettingsError, require_known
from whygap.estimate import Estimate
from whygap.render.formats import text_table
from whygap.render.units import level_name
from whygap.repair.curve import Step, StepKind
from whygap.repair.model import RevisedModel
from whygap.repair.scores import SCORES
from whygap.results.files import plain
from whygap.tables import native_table

TITLES = {"accuracy": "accuracy", "auc": "AUC", "brier": "Brier", "log_loss": "log loss"}


@dataclass(frozen=True, slots=True)
class Contrast:
    """Paired difference of two choices of k variables: first minus second."""

    k: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    accuracy: Estimate
    auc: Estimate
    brier: Estimate
    log_loss: Estimate


@dataclass(frozen=True, slots=True)
class Revision:
    """The revised model and what every choice would have brought."""

    model: RevisedModel  # the targeted revision with the top k variables, fitted on all target rows
    # The original model, targeted revisions with 0..k variables, reweighted retraining with 0..k
    # variables, and full retraining; scored on target rows whose outcomes the fit has not seen
    steps: tuple[Step, ...]
    ranking: tuple[str, ...]  # the outcome ranking that was used
    covariate_ranking: tuple[str, ...]  # the ranking used for reweighting
    ranked_by: str = ""  # what the ranking rests on, in words
    level: float = 0.95  # of intervals in words and tables
    # The kind of table `to_frame` returns
    table_kind: str = field(default="pyarrow", compare=False)

    def step(self, kind: StepKind, k: int | None = None) -> Step:
        """One of the steps; `k` only where a kind has several."""
        for step in self.steps:
            if step.kind == kind and (k is None or step.k == k):
                return step
        known = ", ".join(f"{s.kind} {s.k}" for s in self.steps)
        raise ResultError(f"There is no step '{kind}' with k={k}", hint=f"Steps are: {known}.")

    def gain(self, step: Step, metric: str = "auc") -> Estimate:
        """Paired difference of a step and the original model."""
        return self.difference(step, self.step("original"), metric)

    def difference(self, first: Step, second: Step, metric: str = "auc") -> Estimate:
        """Paired difference of two steps, first minus second."""
        require_known(metric, SCORES, f"There is no score '{metric}'", "Scores", SettingsError)
        return first.scores[metric] - second.scores[metric]

    def to_frame(self, level: float | None = None) -> Any:
        """One line per step and score, with the paired gain over the original model.

        Columns kind, k, variables, metric, estimate, low, high, gain, gain_low, gain_high.
        """
        lines = [_line(self, step, name, level or self.level) for step, name in self._scored()]
        return native_table({n: [line[n] for line in lines] for n in lines[0]}, self.table_kind)

    def to_mapping(self, level: float | None = None) -> dict[str, Any]:
        """Plain values, for JSON; what is not a number becomes None."""
        return {
            "ranking": list(self.ranking),
            "covariate_ranking": list(self.covariate_ranking),
            "ranked_by": self.ranked_by,
            "variables": list(self.model.variables),
            "level": level or self.level,
            "steps": plain(
                [
                    _line(self, step, name, level or self.level) | _freedom(self, step, name)
                    for step, name in self._scored()
                ]
            ),
        }

    def _scored(self) -> list[tuple[Step, str]]:
        return [(step, name) for step in self.steps for name in SCORES]

    def __str__(self) -> str:
        return _text(self)


def _line(revision: Revision, step: Step, metric: str, level: float) -> dict[str, Any]:
    estimate, gain = step.scores[metric], revision.gain(step, metric)
    low, high = estimate.interval(level)
    gain_low, gain_high = gain.interval(level)
    return {
        "kind": step.kind,
        "k": step.k,
        "variables": ", ".join(step.variables),
        "metric": metric,
        "estimate": estimate.value,
        "low": low,
        "high": high,
        "gain": gain.value,
        "gain_low": gain_low,
        "gain_high": gain_high,
    }


def _freedom(revision: Revision, step: Step, metric: str) -> dict[str, float]:
    """With which a reader of the mapping gets from an interval back to its standard error."""
    estimate, gain = step.scores[metric], revision.gain(step, metric)
    return {
        "degrees_of_freedom": estimate.degrees_of_freedom,
        "gain_degrees_of_freedom": gain.degrees_of_freedom,
    }


def _text(revision: Revision) -> str:
    header = ("step", "k", *(TITLES[name] for name in SCORES))
    rows = [
        (step.kind, str(step.k), *(_cell(step.scores[name], revision.level) for name in SCORES))
        for step in revision.steps
    ]
    chosen = [step for step in revision.steps if step.kind == "targeted"][-1]
    names = ", ".join(chosen.variables) or "no variable (source risk and baseline only)"
    gain, room = (
        _signed(revision.gain(step), revision.level) for step in (chosen, revision.steps[-1])
    )
    said = [
        f"Revised with {names}: AUC {gain} over the model as it is; full retraining: {room}.",
        *([f"Variables are {revision.ranked_by}."] if revision.ranked_by else []),
        *_poor_start(revision),
        (
            f"Intervals: {level_name(revision.level)}; scores on target rows whose outcomes the "
            "fit has not seen."
        ),
    ]
    return "\n".join([text_table(header, rows), "", *said])


def _poor_start(revision: Revision) -> list[str]:
    """A warning where the source risk, corrected by the baseline, ranks worse than the model."""
    behind = revision.gain(revision.step("targeted", 0))
    learned = revision.model.risk.model is not None
    if not learned or behind.interval(revision.level)[1] >= 0:
        return []
    words = (
        "The source risk, learned from the source rows, ranks worse than the model itself "
        f"(AUC {_signed(behind, revision.level)}). To start from the model's own probabilities, "
        "copy them to a column and name it in source_risk=."
    )
    return [words]


def _cell(estimate: Estimate, level: float) -> str:
    low, high = estimate.interval(level)
    return "-" if math.isnan(estimate.value) else f"{estimate.value:.3f} ({low:.3f}, {high:.3f})"


def _signed(estimate: Estimate, level: float) -> str:
    low, high = estimate.interval(level)
    return f"{estimate.value:+.3f} ({low:+.3f} to {high:+.3f})"
