"""Whose variables repair the model better? Our ranking against a rival's, revision by revision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whygap.errors import ResultError, SettingsError
from whygap.repair.revise import Contrast, contrast_rankings
from whygap.rivals.compare import comparison
from whygap.settings import Settings
from whygap.tables import native_table

if TYPE_CHECKING:
    from whygap.results import Gap

__all__ = ["RevisionContrast", "compare_revisions"]


@dataclass(frozen=True, slots=True)
class RevisionContrast:
    """Differences of revised models, ours minus the rival's, on the same held-out target rows.

    Attributes:
        method: the rival.
        contrasts: one per number of variables, 1..top.
        level: of the intervals.
        table_kind: the kind of table `to_frame` returns.
    """

    method: str
    contrasts: tuple[Contrast, ...]
    level: float = 0.95
    table_kind: str = field(default="pyarrow", compare=False)

    def to_frame(self) -> Any:
        """Columns k, auc, low, high, accuracy, brier, log_loss, ours, theirs."""
        rows = [
            {
                "k": c.k,
                "auc": c.auc.value,
                "low": c.auc.interval(self.level)[0],
                "high": c.auc.interval(self.level)[1],
                "accuracy": c.accuracy.value,
                "brier": c.brier.value,
                "log_loss": c.log_loss.value,
                "ours": ", ".join(c.first),
                "theirs": ", ".join(c.second),
            }
            for c in self.contrasts
        ]
        return native_table({n: [r[n] for r in rows] for n in rows[0]}, self.table_kind)

    def __str__(self) -> str:
        lines = [f"AUC after revision with the top k: ours minus {self.method}'s"]
        for c in self.contrasts:
            low, high = c.auc.interval(self.level)
            added = f"{c.first[-1]} / {c.second[-1]}"
            lines.append(f"{c.k:>3}  {c.auc.value:+.4f} ({low:+.4f}, {high:+.4f})   {added}")
        return "\n".join(lines)


def compare_revisions(
    study: Any,
    gap: Gap,
    method: str = "random_forest_acc",
    top: int = 8,
    settings: Settings | None = None,
) -> RevisionContrast:
    """Targeted revisions by our outcome shares and by a rival's importances, k = 1..top.

    Both rankings are measured on the same rows and folds, so the differences are paired; equal
    choices differ by exactly 0.
    """
    chosen = settings or Settings()
    if gap.outcome is None or not gap.outcome.defined:
        raise ResultError(
            "Comparing revisions needs defined outcome shares",
            hint="Run explain(study, detail=('outcome',)).",
        )
    rivals = [i for i in comparison(study.design, [method], chosen) if i.part == "outcome"]
    if not rivals:
        raise SettingsError(f"The method '{method}' ranks no variables for the outcome part")
    shares = gap.outcome.shares
    ours = sorted(shares, key=lambda name: -shares[name].value)
    contrasts = contrast_rankings(
        study.design, ours, rivals[0].ranking(), top, chosen, study.threshold
    )
    return RevisionContrast(method, contrasts, chosen.level, study.table_kind)
