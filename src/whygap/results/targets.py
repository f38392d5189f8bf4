"""Findings on several targets together: where the metric moved, which differ, through what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from whygap.errors import InputError
from whygap.estimate import Estimate, Interval
from whygap.results.finding import Finding
from whygap.results.findings import findings
from whygap.results.points import Points

if TYPE_CHECKING:
    from whygap.results.gap import Gap

# Kinds of statements on several targets together; others are on one target
TOGETHER = ("target_change", "target_differs", "target_part", "part_in_targets")


def findings_of_targets(gaps: Mapping[str, Gap], level: float) -> tuple[Finding, ...]:
    """Return what can be said of all targets together, then each target's own findings.

    Every finding has the fact `target`; of statements on all targets it is empty. Intervals of
    `target_change` and `target_part` hold for all targets at once.
    """
    require_alike(gaps)
    joint = together(gaps, level) if len(gaps) > 1 else ()
    own = [f.knowing(target=name) for name, gap in gaps.items() for f in findings(gap, level)]
    return (*joint, *own)


def require_alike(gaps: Mapping[str, Gap]) -> None:
    """Refuse results that cannot stand side by side: none, or of several metrics."""
    if not gaps:
        raise InputError("A report needs at least one result", got="none")
    metrics = dict.fromkeys(gap.about.metric for gap in gaps.values())
    if len(metrics) > 1:
        raise InputError(
            "Results on one page must be of one metric",
            got=", ".join(metrics),
            hint="Write a report for each metric.",
        )


def together(gaps: Mapping[str, Gap], level: float) -> Iterator[Finding]:
    """Yield what can be said of all targets together."""
    changes = _series("target_change", "", {n: gap.total for n, gap in gaps.items()}, level)
    significant = [f for f in changes if f.significant]
    most = max(significant, key=lambda f: abs(f.value), default=None)
    yield from (f.knowing(most=f is most) for f in changes)
    yield from _differences(gaps, level)
    every = sorted((list(gap.parts) for gap in gaps.values()), key=len, reverse=True)
    names = dict.fromkeys(name for parts in every for name in parts)
    for name in names:
        parts = {n: gap.parts[name] for n, gap in gaps.items() if name in gap.parts}
        series = _series("target_part", name, parts, level)
        yield from series
        label = next(iter(parts.values())).label
        counts = {"n_significant": sum(f.significant for f in series), "n_targets": len(gaps)}
        facts = counts | {"label": label, "target": ""}
        yield Finding("part_in_targets", name, level=level, facts=facts)


def _series(kind: str, part: str, estimates: Mapping[str, Estimate], level: float) -> list[Finding]:
    """Return one finding per target, with intervals that hold for all targets at once.

    Each has the level whose power is `level` (Sidak): of jointly normal estimates that is enough,
    however they are correlated, as they are through the source they share.
    """
    own = level ** (1 / len(estimates))
    return [
        Finding(kind, part, "", "", e, Interval(*e.interval(own)), level, {"target": name})
        for name, e in estimates.items()
    ]


def _differences(gaps: Mapping[str, Gap], level: float) -> Iterator[Finding]:
    """Yield the metric in each target less its mean over the targets; the source has no say in it.

    Targets are tables of their own, so their means are taken as independent.
    """
    ends = {name: gap.target for name, gap in gaps.items()}
    means = Points(ends, np.diag([end.standard_error**2 for end in ends.values()]))
    mixing = np.eye(len(ends)) - 1 / len(ends)
    rows = zip(ends, mixing, strict=True)
    distances = {name: means.combined(dict(zip(ends, row, strict=True))) for name, row in rows}
    apart = Points(distances, mixing @ means.covariance @ mixing.T)
    for name, interval in apart.simultaneous(level).items():
        ends_ = (apart[name], Interval(*interval))
        yield Finding("target_differs", "", "", "", *ends_, level, {"target": name})
