"""What one comparison of a case study keeps on disk, so that a stopped run goes on where it was.

A folder per comparison: `analysis.json` says what the numbers belong to (data, settings, engine
version), `subsets/` holds finished subsets while the analysis runs, `gap.json` its result, and
`beside.json` the rivals and the revisions. Where the data, the settings or the engine have changed,
the folder is emptied and the comparison starts anew.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.pages import LEVEL, Measured
from experiments.repair import Bench, Step, auc_differences
from experiments.rivals.compare import comparison
from experiments.rivals.importances import Importances
from whygap._explain import explain
from whygap._version import ENGINE
from whygap.results import Gap, Shares
from whygap.results.files import load, restored, save, write_whole
from whygap.running.checkpoint import fingerprint
from whygap.settings import Settings
from whygap.study import Study

__all__ = ["Beside", "Difference", "Ranked", "Revised", "kept", "ranking"]

TOP = 8
RIVALS = ("mean_change", "wu_shift", "oaxaca_blinder", "parametric_change", "random_forest_acc")
_HARMLESS = ("n_jobs", "progress", "checkpoint", "backend", "address")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A rival's order of the variables; `flagged` counts those it calls significant (p < 0.05)."""

    method: str
    part: str
    order: tuple[str, ...]
    flagged: int | None


@dataclass(frozen=True, slots=True)
class Revised:
    """Scores of one revision on held-out target rows."""

    label: str
    accuracy: Measured
    auc: Measured


@dataclass(frozen=True, slots=True)
class Difference:
    """AUC of the revision by our top k minus that by RandomForestAcc's top k."""

    k: int
    auc: Measured


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside our shares: rivals, revisions, and how far rankings help to revise."""

    rivals: tuple[Ranked, ...]
    revisions: tuple[Revised, ...]
    differences: tuple[Difference, ...]


def kept(
    study: Study, settings: Settings, folder: Path, report: Callable[[str], None]
) -> tuple[Gap, Beside]:
    """The kept results of a comparison; what is missing is computed and kept."""
    _open(folder, _belongs_to(study, settings), report)
    gap = _kept_gap(study, settings, folder, report)
    path = folder / "beside.json"
    if path.exists():
        return gap, restored(Beside, json.loads(path.read_text(encoding="utf-8")))
    report("  rivals and revisions")
    beside = _beside(study, gap, settings)
    write_whole(path, json.dumps(asdict(beside), indent=1) + "\n")
    return gap, beside


def _kept_gap(study: Study, settings: Settings, folder: Path, report: Callable[[str], None]) -> Gap:
    """Return the explanation, made and kept where it is missing."""
    path, subsets = folder / "gap.json", folder / "subsets"
    if not path.exists():
        report("  parts and details")
        save(explain(study, settings=replace(settings, checkpoint=str(subsets))), path)
    shutil.rmtree(subsets, ignore_errors=True)
    gap: Gap = load(path)
    return gap


def ranking(detail: Shares | None) -> tuple[str, ...]:
    """Players from the largest share to the smallest; none where shares are undefined."""
    if detail is None or not detail.defined:
        return ()
    return tuple(sorted(detail.players, key=lambda name: -detail.values[name].value))


def _belongs_to(study: Study, settings: Settings) -> dict[str, Any]:
    told = {k: v for k, v in settings.to_mapping().items() if k not in _HARMLESS}
    study_print = fingerprint(study.design, settings)["study"]
    return {"engine": ENGINE, "settings": told, "study": study_print}


def _open(folder: Path, belongs_to: dict[str, Any], report: Callable[[str], None]) -> None:
    """Empty a folder whose results belong to something else."""
    path = folder / "analysis.json"
    text = json.dumps(belongs_to, indent=1, sort_keys=True) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    if folder.exists():
        report("  the data, settings or engine changed: kept results are dropped")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    write_whole(path, text)


def _beside(study: Study, gap: Gap, settings: Settings) -> Beside:
    rivals = comparison(study.design, RIVALS, settings)
    ours = ranking(gap.shares.get("outcome"))
    forest = next(r for r in rivals if r.method == "random_forest_acc").ranking()
    return Beside(
        tuple(_ranked(rival) for rival in rivals),
        _revisions(Bench(study.design, settings), ours),
        _differences(study, ours, forest, settings) if ours else (),
    )


def _ranked(rival: Importances) -> Ranked:
    tests = rival.method == "mean_change"
    flagged = int((rival.values > LEVEL).sum()) if tests else None
    return Ranked(rival.method, rival.part, rival.ranking(), flagged)


def _revisions(bench: Bench, order: Sequence[str]) -> tuple[Revised, ...]:
    """As it is, recalibrated, revised with one variable more each, retrained on everything."""
    place = {player.name: k for k, player in enumerate(bench.design.players)}
    steps: list[tuple[str, Step]] = [
        ("the model as it is", bench.original()),
        ("recalibrated (W alone)", bench.targeted(())),
    ]
    for k in range(1, min(TOP, len(order)) + 1):
        chosen = tuple(place[name] for name in order[:k])
        steps.append((f"revised with top {k} (+ {order[k - 1]})", bench.targeted(chosen)))
    steps.append(("retrained on everything", bench.retrained()))
    return tuple(
        Revised(label, Measured.of(step.scores["accuracy"]), Measured.of(step.scores["auc"]))
        for label, step in steps
    )


def _differences(
    study: Study, ours: Sequence[str], forest: Sequence[str], settings: Settings
) -> tuple[Difference, ...]:
    top = min(TOP, len(ours))
    found = auc_differences(study.design, ours, forest, top, settings)
    return tuple(Difference(k, Measured.of(auc)) for k, auc in enumerate(found, start=1))
