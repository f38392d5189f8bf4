"""Coverage, bias and width of 90% intervals in the paper's own world (Fig. 3 and its appendix)."""

from __future__ import annotations

from typing import Any

from whygap.studies.replicates import Config

__all__ = ["plan"]

LEARNERS = ("fast", "boosted", "paper")
VARIANTS: tuple[dict[str, Any], ...] = (
    {"risk_uncertainty": False},
    {"twins": False},
    {"twins": False, "risk_uncertainty": False},
)


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """Configurations and how many replicates each gets."""
    if quick:
        return [(Config(rows=(500, 500), settings={"learner": "fast"}), 12)]
    sizes = ((500, 200), (1000, 200), (2000, 200), (4000, 200), (8000, 200), (16000, 100))
    metrics = ("accuracy", "brier")
    default = [(_config(rows, metric), count) for metric in metrics for rows, count in sizes]
    without = [
        (_config(rows, metric, **settings), 100)
        for metric in metrics
        for settings in VARIANTS
        for rows in (2000, 8000)
    ]
    learners = [(_config(2000, "accuracy", learner=name), 100) for name in LEARNERS]
    return default + without + learners


def _config(rows: int, metric: str, **settings: Any) -> Config:
    return Config(rows=(rows, rows), metric=metric, settings=settings)
