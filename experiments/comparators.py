"""What other methods say where the answer is known (the paper's Fig. 4a, 4b and accuracy table).

Each seed draws a world, asks every method (the methods live in `whygap.rivals`), and writes one
line; in the outcome world the top 1, 2, 3 variables of each method also revise the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.analysis import prepare_part
from experiments.comparator_page import importance_csv, page
from experiments.comparator_seeds import Scene, Seeds
from experiments.engine import REPLICATE, code_digest
from experiments.provenance import provenance
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.simulation import engines, study_folder
from experiments.worlds.by_name import make_world, truths
from whygap.domains import ByDomain
from whygap.progress import Silent
from whygap.repair.curve import Bench
from whygap.rivals.compare import comparison, shares_of
from whygap.rivals.importances import Importances
from whygap.running.shares import detail
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.storage.files import write_whole
from whygap.tables.design import Design

__all__ = ["SCENES", "plan", "replicate", "run", "seeds_of"]

TOP = 3
SCENES = (
    Scene(
        "Covariate shift (Fig. 4a)",
        "comparison_a",
        "covariate",
        ("mean_change", "oaxaca_blinder", "wu_shift"),
        "comparators_a.svg",
        20_000,
        2000,
        "Only Z1 shifts; Z2 follows it. A shift of Z1 alone explains all of the variation across "
        "strata of W, a shift of Z2 alone nearly all: a near tie with Z1 ahead.",
    ),
    Scene(
        "Outcome shift (Fig. 4b)",
        "comparison_b",
        "outcome",
        ("parametric_change", "parametric_acc", "random_forest_acc", "oaxaca_blinder"),
        "comparators_b.svg",
        4000,
        500,
        "The coefficients of Z1, Z2 and, slightly, Z3 change. Z2's changes most on the logit "
        "scale, but most of that is a recalibration of the source risk, which Z1's change is not.",
    ),
)


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """One configuration per scene, and how many seeds each gets."""
    settings = {"learner": "fast"} if quick else {}
    return [
        (_config(scene, scene.quick_rows if quick else scene.rows, settings), 2 if quick else 20)
        for scene in SCENES
    ]


def _config(scene: Scene, rows: int, settings: dict[str, Any]) -> Config:
    return Config(scene.world, (rows, rows), settings=settings, parts=(scene.part,))


def run(
    output: Path,
    data: Path | None = None,  # noqa: ARG001 - every study has the same signature
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Run the seeds that are missing (none with jobs=0), write tables, figures and the page."""
    folder = study_folder(output, "comparators", quick)
    found = seeds_of(folder, plan(quick=quick), jobs, report)
    write_whole(folder / "importances.csv", importance_csv(found))
    command = "whygap study comparators" + (" --quick" if quick else "")
    note = (
        f"{engines([line for seeds in found for line in seeds.lines])} Seeds are kept in "
        "`replicates.jsonl`; running the command again only adds missing ones."
    )
    return write_whole(
        folder / "comparators.md", page(found, folder) + "\n\n" + provenance(command, note)
    )


def seeds_of(
    folder: Path,
    planned: Sequence[tuple[Config, int]],
    jobs: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> list[Seeds]:
    """The kept lines of every scene that has any, after running what is missing."""
    path = folder / "replicates.jsonl"
    found = []
    for scene, (config, count) in zip(SCENES, planned, strict=True):
        if jobs:
            run_missing(config, range(count), path, jobs=jobs, report=report, job=replicate)
        lines = read_lines(path, config.label)
        if lines:
            world = make_world(config.world, config.metric, {})
            truth = truths(world, config.parts, None)
            exact = tuple(truth[f"{scene.part} share {name}"] for name in world.players)
            found.append(Seeds(scene, config.rows[0], world.players, exact, lines))
    return found


def replicate(config: Config, seed: int) -> Line:
    """Draw the world, ask every method, revise with the variables each of them names."""
    started = time.process_time()
    scene = next(scene for scene in SCENES if scene.world == config.world)
    world = make_world(config.world, config.metric, {})
    design = world.draw(ByDomain(*config.rows), np.random.default_rng([seed, *config.rows]))
    settings = Settings(**{"seed": seed, "progress": False, **config.settings})
    with one_thread():
        found = _answers(design, scene, settings)
        revised = _revised(design, found, settings) if scene.part == "outcome" else {}
    return {
        "config": config.label,
        "seed": seed,
        "engine": code_digest(REPLICATE),
        "importances": {item.method: _by_name(item) for item in found},
        **revised,
        "cpu_seconds": round(time.process_time() - started, 2),
    }


def _answers(design: Design, scene: Scene, settings: Settings) -> list[Importances]:
    """Ours, where the shares are defined, and the rivals'."""
    part = prepare_part(design, settings, scene.part)
    solved = detail([part], scene.part, design.players, settings, None, Silent())
    ours = [shares_of(solved, settings.level)] if solved.defined else []
    rivals = comparison(design, scene.rivals, settings)
    return [*ours, *(item for item in rivals if item.part == scene.part)]


def _by_name(item: Importances) -> dict[str, float]:
    return {name: float(f"{item.value(name):.7g}") for name in item.names}


def _revised(design: Design, found: Sequence[Importances], settings: Settings) -> Line:
    """Accuracy on held-out target rows after a revision with each method's top 1, 2, 3."""
    bench = Bench(design, settings)
    position = {player.name: k for k, player in enumerate(design.players)}

    def curve(item: Importances) -> list[float]:
        order = tuple(position[name] for name in item.ranking())
        steps = [bench.targeted(order[:k]) for k in range(1, TOP + 1)]
        return [step.scores.accuracy.value for step in steps]

    return {
        "original": bench.original().scores.accuracy.value,
        "retrained": bench.retrained().scores.accuracy.value,
        "accuracy": {item.method: curve(item) for item in found},
    }
