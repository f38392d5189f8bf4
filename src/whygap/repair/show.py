"""A revision as text, as a tidy table, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygap.estimate import Estimate
from whygap.repair.curve import Step
from whygap.repair.scores import SCORES
from whygap.storage import plain
from whygap.tables import native_table

if TYPE_CHECKING:
    from whygap.repair.revise import Revision

__all__ = ["text", "to_frame", "to_mapping"]

TITLES = {"accuracy": "accuracy", "auc": "AUC", "brier": "Brier", "log_loss": "log loss"}


def to_mapping(revision: Revision, level: float) -> dict[str, Any]:
    """Plain values; what is not a number becomes None."""
    return {
        "ranking": list(revision.ranking),
        "covariate_ranking": list(revision.covariate_ranking),
        "variables": list(revision.model.variables),
        "level": level,
        "steps": plain(list(_lines(revision, level))),
    }


def to_frame(revision: Revision, level: float) -> Any:
    """Columns kind, k, variables, metric, estimate, low, high, gain, gain_low, gain_high."""
    lines = list(_lines(revision, level))
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    return native_table(columns, revision.table_kind)


def text(revision: Revision) -> str:
    """One line per step, then what the table says, in words."""
    head = f"{'step':<12}{'k':>3}  " + "".join(f"{TITLES[name]:>24}" for name in SCORES)
    lines = [head, *(_line(step, revision.level) for step in revision.steps)]
    best = revision.steps[-1]
    top = len(revision.steps) // 2 - 2
    chosen = revision.step("targeted", top)
    gain, room = revision.gain(chosen), revision.gain(best)
    names = ", ".join(chosen.variables) or "no variable (recalibration only)"
    verdict = f"Revised with {names}: AUC {_signed(gain, revision.level)} over the model as it is"
    note = f"Intervals: {revision.level:.0%}; scores on target rows held out of the fit."
    said = [f"{verdict}; full retraining: {_signed(room, revision.level)}.", *_poor_start(revision)]
    return "\n".join([*lines, "", *said, note])


def _poor_start(revision: Revision) -> list[str]:
    """A warning where even the recalibrated source risk ranks worse than the model itself."""
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


def _signed(estimate: Estimate, level: float) -> str:
    low, high = estimate.interval(level)
    return f"{estimate.value:+.3f} ({low:+.3f} to {high:+.3f})"


def _line(step: Step, level: float) -> str:
    cells = []
    for name in SCORES:
        estimate = step.scores[name]
        low, high = estimate.interval(level)
        cells.append(
            "-" if math.isnan(estimate.value) else f"{estimate.value:.3f} ({low:.3f}, {high:.3f})"
        )
    return f"{step.kind:<12}{step.k:>3}  " + "".join(f"{cell:>24}" for cell in cells)


def _lines(revision: Revision, level: float) -> Iterator[dict[str, Any]]:
    for step in revision.steps:
        for name in SCORES:
            estimate, gain = step.scores[name], revision.gain(step, name)
            low, high = estimate.interval(level)
            gain_low, gain_high = gain.interval(level)
            yield {
                "kind": step.kind,
                "k": step.k,
                "variables": ", ".join(step.variables),
                "metric": name,
                "estimate": estimate.value,
                "low": low,
                "high": high,
                "gain": gain.value,
                "gain_low": gain_low,
                "gain_high": gain_high,
            }
