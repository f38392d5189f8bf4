"""What other methods say where the answer is known (the paper's Fig. 4a, 4b and accuracy table).

Each seed draws a world, asks every method of `experiments.rivals`, and writes one line; in the
outcome world the top 1, 2, 3 variables of each method also revise the model.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.analysis import draw
from experiments.comparator_findings import PAPER_ACCURACY, TITLES, findings
from experiments.comparator_seeds import OURS, Scene, Seeds
from experiments.pages import render, write_page
from experiments.record import engines, made_by, newest
from experiments.repair import Bench
from experiments.replicates import Config, Line, read_lines, run_missing
from experiments.rivals.compare import comparison, shares_of
from experiments.rivals.importances import Importances
from experiments.simulation import Order, Plan
from experiments.summary import comma_separated
from experiments.worlds.by_name import make_world, truths
from whygap._explain import explain_design
from whygap.results.files import write_whole
from whygap.running.workers import one_thread
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["SCENES", "plan", "replicate", "run", "seeds_of", "tables"]

TOP = 3  # as many as the paper revises with
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


def plan(*, quick: bool) -> Plan:
    """One configuration per scene, and how many seeds each gets."""
    settings = {"learner": "fast"} if quick else {}
    return [
        (_config(scene, scene.quick_rows if quick else scene.rows, settings), 2 if quick else 20)
        for scene in SCENES
    ]


def _config(scene: Scene, rows: int, settings: dict[str, Any]) -> Config:
    return Config(scene.world, (rows, rows), settings=settings, parts=(scene.part,))


def run(order: Order) -> Path:
    """Run the seeds that are missing, write tables, figures and the page."""
    folder = order.folder("comparators")
    found = seeds_of(folder, plan(quick=order.quick), order)
    write_whole(folder / "importances.csv", importance_csv(found))
    _draw(found, folder)
    note = (
        f"{engines([line for seeds in found for line in seeds.lines])} Seeds are kept in "
        "`replicates.jsonl`; running the command again only adds missing ones."
    )
    shown = tables(found, "##", pictures=True)
    return write_page(folder / "comparators.md", order.command("comparators"), note, tables=shown)


def tables(scenes: Sequence[Seeds], heading: str = "###", *, pictures: bool = False) -> str:
    """Every table with what it shows, in words."""
    return render(
        "comparator_tables.md",
        scenes=scenes,
        heading=heading,
        pictures=pictures,
        findings=[finding for seeds in scenes for finding in findings(seeds)],
        ours=OURS,
        titles=TITLES,
        paper=PAPER_ACCURACY,
    )


def _draw(scenes: Sequence[Seeds], folder: Path) -> None:
    from experiments.figures import Bars, bars_figure, save_figure

    for seeds in scenes:
        bars = [
            Bars(TITLES[m], seeds.names, means, "share" if m == OURS else "importance")
            for m in seeds.methods
            if (means := tuple(mean for mean in seeds.means(m) if mean))
        ]
        save_figure(bars_figure(bars, columns=3), folder / seeds.scene.figure)


def importance_csv(scenes: Sequence[Seeds]) -> str:
    """One line per scene, method and variable: mean over seeds and its interval."""
    head = ["world", "part", "method", "variable", "importance", "low", "high", "first", "seeds"]
    lines = [
        [s.scene.world, s.scene.part, method, name, mean.value, mean.low, mean.high,
         s.first_places(method)[name], len(s.importances(method))]
        for s in scenes
        for method in s.methods
        for name, mean in zip(s.names, s.means(method), strict=True)
        if mean
    ]  # fmt: skip
    return comma_separated(head, lines, digits=6)


def seeds_of(folder: Path, planned: Plan, order: Order) -> list[Seeds]:
    """The kept lines of every scene that has any, after running what is missing."""
    path = folder / "replicates.jsonl"
    found = []
    for scene, (config, count) in zip(SCENES, planned, strict=True):
        if order.jobs:
            how: dict[str, Any] = {"jobs": order.jobs, "anew": order.anew, "report": order.report}
            run_missing(config, range(count), path, **how, job=replicate)
        lines = newest(read_lines(path, config.label))
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
    design = draw(make_world(config.world, config.metric, {}), config.rows, seed)
    settings = config.settings_of(seed)
    found = _answers(design, scene, settings)
    with one_thread():
        revised = _revised(design, found, settings) if scene.part == "outcome" else {}
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "importances": {item.method: _by_name(item) for item in found},
        **revised,
        "cpu_seconds": round(time.process_time() - started, 2),
    }


def _answers(design: Design, scene: Scene, settings: Settings) -> list[Importances]:
    """Ours, where the shares are defined, and the rivals'."""
    (solved,) = explain_design(design, scene.part, settings).shares.values()
    ours = [shares_of(solved, settings.level)] if solved.defined else []
    with one_thread():
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
