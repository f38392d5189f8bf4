"""One comparison of a case study as a section of its page: parts, shares, rivals, revision."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from experiments.case_kept import LEVEL, Beside, Measured, ranking
from experiments.markdown import number, table
from whygap.render import frame
from whygap.render.plot import SharesDisplay, save_figure
from whygap.render.words import headline
from whygap.results import Detailed, Gap, RankInterval

__all__ = ["case_section", "overview_table", "tidy"]

SHOWN = 10
TOP = 5
NAMES = {
    "mean_change": "MeanChange",
    "wu_shift": "WuShift",
    "oaxaca_blinder": "Oaxaca-Blinder",
    "parametric_change": "ParametricChange",
    "random_forest_acc": "RandomForestAcc",
}


def case_section(
    name: str, slug: str, gap: Gap, beside: Beside, folder: Path, verdict: Sequence[str]
) -> str:
    """The whole section; draws the figures."""
    parts = [
        f"## {name}",
        _aggregate(gap),
        f"![The gap and its largest shares, {name}]({slug}.svg)",
        *(_shares(detail, slug, name) for detail in gap.details().values()),
        _rivals(beside, gap),
        _revision(beside, gap),
        "### Beside the paper",
        "\n".join(f"- {sentence}" for sentence in verdict),
    ]
    save_figure(gap.plot(level=LEVEL, top=SHOWN), folder / f"{slug}.svg")
    for part, detail in gap.details().items():
        if detail.defined:
            everyone = SharesDisplay.from_gap(gap, part, LEVEL, len(detail.players)).plot()
            if everyone.figure_ is not None:
                save_figure(everyone.figure_, folder / f"{slug}_{part}.svg")
    return "\n\n".join(parts)


def tidy(gap: Gap) -> str:
    """Every estimate, comma-separated."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([field.name for field in fields(frame.Row)])
    for row in frame.rows(gap, LEVEL):
        writer.writerow([f"{c:.6g}" if isinstance(c, float) else c for c in astuple(row)])
    return buffer.getvalue()


def overview_table(found: Sequence[tuple[str, Gap]]) -> str:
    """All comparisons at a glance."""
    head = ["comparison", "accuracy", "baseline", "covariate", "outcome", "first in the outcome"]
    lines = []
    for name, gap in found:
        first, *_, last = (number(corner.value) for corner in gap.aggregate.corners())
        cells = [f"{number(e.value)} ({_interval(e)})" for e in gap.aggregate.parts().values()]
        lines.append([name, f"{first} to {last}", *cells, _leader(gap.outcome)])
    return table(head, lines)


def _leader(detail: Detailed | None) -> str:
    if detail is None or not detail.defined:
        return "undefined"
    tied = len(detail.top_group(LEVEL))
    first = ranking(detail)[0]
    return f"{first}, alone" if tied == 1 else f"{first}, tied with {tied - 1}"


def _aggregate(gap: Gap) -> str:
    terms = {"gap": gap.aggregate.gap, **gap.aggregate.parts()}
    lines = [[term, number(e.value), _interval(e)] for term, e in terms.items()]
    return f"{headline(gap, LEVEL)}\n\n" + table(["part", "estimate", "95% interval"], lines)


def _shares(detail: Detailed, slug: str, name: str) -> str:
    title = f"### {detail.part.capitalize()} shares"
    if not detail.defined:
        return f"{title}\n\n{detail.reason}"
    order = ranking(detail)
    ranks = detail.ranking(LEVEL)
    lines = [
        [n, number(detail.shares[n].value), _interval(detail.shares[n]), _rank(ranks[n])]
        for n in order[:SHOWN]
    ]
    if detail.part == "outcome" and detail.base is not None:
        lines.insert(0, ["(recalibration)", number(detail.base.value), _interval(detail.base), ""])
    grid = table(["variable", "share", "95% interval", "rank (95%)"], lines)
    count = min(SHOWN, len(order))
    more = f"The {count} largest of {len(order)} shares.{_sampling(detail)} All of them:"
    figure = f"![All {detail.part} shares, {name}]({slug}_{detail.part}.svg)"
    return "\n\n".join([title, grid, more, figure])


def _sampling(detail: Detailed) -> str:
    found = detail.sampling
    if found is None:
        return ""
    return (
        f" {found.evaluated} of {found.possible:.3g} subsets valued; largest sampling error "
        f"{found.largest_error:.3f} (it is inside the intervals); stopped because {found.stopped}."
    )


def _rank(rank: RankInterval) -> str:
    return f"{rank.best}" if rank.best == rank.worst else f"{rank.best} to {rank.worst}"


def _interval(estimate: Any) -> str:
    low, high = estimate.interval(LEVEL)
    return f"{number(low)} to {number(high)}"


def _rivals(beside: Beside, gap: Gap) -> str:
    lines = []
    for part, detail in gap.details().items():
        order = ranking(detail)[:TOP] if detail.defined else ("undefined",)
        lines.append([f"whygap ({part})", ", ".join(order)])
    lines += [
        [f"{NAMES[r.method]} ({r.part})", ", ".join(r.order[:TOP]) or "no answer"]
        for r in beside.rivals
    ]
    return f"### Beside other methods\n\n{table(['method', f'top {TOP}'], lines, text=2)}"


def _revision(beside: Beside, gap: Gap) -> str:
    """Targeted revisions by our ranking, and the paired difference to RandomForestAcc's."""
    lines = [[r.label, _score(r.accuracy), _score(r.auc)] for r in beside.revisions]
    grid = table(["model", "accuracy (95% interval)", "AUC (95% interval)"], lines)
    parts = ["### Revising the model", _REVISION, grid]
    if not ranking(gap.outcome):
        return "\n\n".join([*parts, "The outcome shares are undefined: they rank no variables."])
    cells = [
        [str(d.k), f"{d.auc.value:+.3f}", f"{d.auc.low:+.3f} to {d.auc.high:+.3f}"]
        for d in beside.differences
    ]
    return "\n\n".join([*parts, _CONTRAST, table(["k", "difference", "95% interval"], cells)])


def _score(found: Measured) -> str:
    return f"{number(found.value)} ({number(found.low)} to {number(found.high)})"


_REVISION = """Scores on target rows held out of each fit. A recalibration corrects the source
risk on the target with W alone, a revision with the top variables of the outcome shares too."""

_CONTRAST = """Difference in AUC between revisions by our ranking and by RandomForestAcc's
(positive: ours is better), on the same held-out target rows, as in the paper's table:"""
