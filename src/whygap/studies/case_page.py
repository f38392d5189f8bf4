"""One comparison of a case study as a section of its page: parts, shares, rivals, revision."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from whygap.render import frame
from whygap.render.plot import save_figure
from whygap.repair import contrast_rankings
from whygap.repair.curve import Bench, Step
from whygap.results import Detailed, Gap
from whygap.rivals.compare import comparison
from whygap.rivals.importances import Importances
from whygap.settings import Settings
from whygap.studies.markdown import number, table
from whygap.study import Study

__all__ = ["case_section", "tidy"]

LEVEL = 0.95
SHOWN = 10
TOP = 5
_WHERE = {"covariate": "stratum to stratum of W", "outcome": "row to row"}
RIVALS = ("mean_change", "random_forest_acc", "parametric_change")


def case_section(
    name: str, slug: str, study: Study, gap: Gap, settings: Settings, folder: Path, paper: str
) -> str:
    """The whole section; draws one figure."""
    save_figure(gap.plot(level=LEVEL), folder / f"{slug}.svg")
    rivals = comparison(study.design, RIVALS, settings)
    parts = [
        f"## {name}",
        f"![The gap and its shares, {name}]({slug}.svg)",
        _aggregate(gap),
        *(_shares(detail) for detail in gap.details().values()),
        _rivals(rivals, gap),
        _revision(study, gap, rivals, settings),
        _verdict(gap, paper, rivals),
    ]
    return "\n\n".join(parts)


def tidy(gap: Gap) -> str:
    """Every estimate, comma-separated."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([field.name for field in fields(frame.Row)])
    for row in frame.rows(gap, LEVEL):
        writer.writerow([f"{c:.6g}" if isinstance(c, float) else c for c in astuple(row)])
    return buffer.getvalue()


def _aggregate(gap: Gap) -> str:
    terms = {"gap": gap.aggregate.gap, **gap.aggregate.parts()}
    lines = [[term, number(e.value), _interval(e)] for term, e in terms.items()]
    first, *_, last = (number(corner.value) for corner in gap.aggregate.corners())
    head = f"Accuracy {first} in the source, {last} in the target."
    return f"{head}\n\n" + table(["part", "estimate", "95% interval"], lines)


def _shares(detail: Detailed) -> str:
    title = f"### {detail.part.capitalize()} shares"
    if not detail.defined:
        return f"{title}\n\n{detail.reason}"
    names = sorted(detail.players, key=lambda n: -detail.shares[n].value)[:SHOWN]
    ranks = detail.ranking(LEVEL)
    lines = [
        [n, number(detail.shares[n].value), _interval(detail.shares[n]), _rank(ranks[n])]
        for n in names
    ]
    if detail.part == "outcome" and detail.base is not None:
        lines.insert(0, ["(recalibration)", number(detail.base.value), _interval(detail.base), ""])
    sampling = detail.sampling
    subsets = (
        ""
        if sampling is None
        else (
            f"{sampling.evaluated} of {sampling.possible:.3g} subsets valued; largest sampling "
            f"error {sampling.largest_error:.3f}; stopped because {sampling.stopped}."
        )
    )
    more = f"The {len(names)} largest of {len(detail.players)} shares. {subsets}"
    grid = table(["variable", "share", "95% interval", "rank (95%)"], lines)
    return f"{title}\n\n{grid}\n\n{more}"


def _rank(rank: Any) -> str:
    return f"{rank.best}" if rank.best == rank.worst else f"{rank.best} to {rank.worst}"


def _interval(estimate: Any) -> str:
    low, high = estimate.interval(LEVEL)
    return f"{number(low)} to {number(high)}"


def _rivals(rivals: Sequence[Importances], gap: Gap) -> str:
    lines = []
    for part, detail in gap.details().items():
        ranking = _ranking(detail)[:TOP] if detail.defined else ["undefined"]
        lines.append([f"whygap ({part})", ", ".join(ranking)])
    lines += [[f"{r.method} ({r.part})", ", ".join(r.ranking()[:TOP])] for r in rivals]
    return f"### Beside other methods\n\n{table(['method', f'top {TOP}'], lines)}"


def _flagged(rivals: Sequence[Importances]) -> str:
    for item in rivals:
        if item.method == "mean_change":
            return f"{int((item.values > LEVEL).sum())} of {len(item.names)} variables"
    return ""


def _ranking(detail: Detailed) -> list[str]:
    return sorted(detail.players, key=lambda n: -detail.shares[n].value)


def _revision(study: Study, gap: Gap, rivals: Sequence[Importances], settings: Settings) -> str:
    """Targeted revisions by our ranking, and the paired difference to RandomForestAcc's."""
    bench = Bench(study.design, settings)
    defined = gap.outcome is not None and gap.outcome.defined
    ours = _ranking(gap.outcome) if gap.outcome is not None and defined else []
    steps = [("the model as it is", bench.original()), *_targeted(bench, ours)]
    steps.append(("retrained on everything", bench.retrained()))
    lines = [
        [label, _score(step.scores["accuracy"]), _score(step.scores["auc"])]
        for label, step in steps
    ]
    parts = ["### Revising the model", _REVISION, table(["model", "accuracy", "AUC"], lines)]
    if not defined:
        return "\n\n".join([*parts, "The outcome shares are undefined: they rank no variables."])
    forest = next(r for r in rivals if r.method == "random_forest_acc").ranking()
    differences = contrast_rankings(study.design, ours, forest, TOP, settings)
    auc = [[str(c.k), f"{c.auc.value:+.3f}", _interval(c.auc)] for c in differences]
    return "\n\n".join([*parts, _CONTRAST, table(["k", "difference", "95% interval"], auc)])


def _targeted(bench: Bench, ranking: Sequence[str]) -> list[tuple[str, Step]]:
    """A recalibration, then revisions with one variable more each."""
    index = {player.name: k for k, player in enumerate(bench.design.players)}
    found = [("recalibrated", bench.targeted(()))]
    for k in range(1, min(TOP, len(ranking)) + 1):
        chosen = tuple(index[name] for name in ranking[:k])
        found.append((f"revised with top {k}", bench.targeted(chosen)))
    return found


def _score(estimate: Any) -> str:
    return f"{number(estimate.value)} ({_interval(estimate)})"


def _verdict(gap: Gap, paper: str, rivals: Sequence[Importances]) -> str:
    """What the paper found, and what was found here."""
    parts = gap.aggregate.parts()
    largest = max(parts, key=lambda name: abs(parts[name].value))
    low, high = gap.aggregate.gap.interval(LEVEL)
    words = [paper]
    if low <= 0 <= high:
        words.append("Here the gap itself cannot be told from 0.")
    else:
        words.append(f"Here the {largest} part is the largest.")
    for part, detail in gap.details().items():
        if not detail.defined:
            words.append(
                f"How the {part} part varies from {_WHERE[part]} could not be told from 0, "
                "so its shares are undefined."
            )
            continue
        first, *_ = _ranking(detail)
        tied = detail.top_group(LEVEL)
        words.append(
            f"The largest {part} share is {first}'s; {len(tied)} of {len(detail.players)} "
            "variables cannot be told apart from the largest."
        )
        if part == "outcome" and detail.base is not None:
            words.append(
                f"A recalibration of the source risk alone explains {number(detail.base.value, 2)} "
                f"of the outcome shift ({_interval(detail.base)})."
            )
    flagged = _flagged(rivals)
    words += [f"MeanChange flags {flagged} (p < 0.05)."] if flagged else []
    return "### Beside the paper\n\n" + " ".join(words)


_REVISION = """Scores on target rows held out of each fit. A recalibration corrects the source
risk on the target with W alone, a revision with the top variables of the outcome shares too."""

_CONTRAST = """Difference in AUC between revisions by our ranking and by RandomForestAcc's
(positive: ours is better), on the same held-out target rows:"""
