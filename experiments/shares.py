"""Shapley shares: do their intervals cover, are their ranks right, can two be told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.replicates import Config, Line

if TYPE_CHECKING:
    from experiments.summary import Row

__all__ = ["plan", "run"]

TITLES = {
    "gaussian": "The paper's coverage world (three players)",
    "comparison_a": "Comparison world (a): a near tie of two players, covariate part",
    "comparison_b": "Comparison world (b): five players, outcome part",
}
SEEDS_OF_THE_COUNT = 20


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """Configurations and how many replicates each gets."""
    if quick:
        fast = {"learner": "fast"}
        return [
            (_config("comparison_a", ("covariate",), 1000, fast), 6),
            (_config("comparison_b", ("outcome",), 1000, fast), 6),
        ]
    return [
        (Config(rows=(4000, 4000)), 200),
        (_config("comparison_a", ("covariate",), 4000, {}), 200),
        (_config("comparison_b", ("outcome",), 4000, {}), 200),
    ]


def _config(world: str, parts: Any, rows: int, settings: Mapping[str, Any]) -> Config:
    return Config(world=world, rows=(rows, rows), settings=settings, parts=parts)


def run(
    output: Path,
    data: Path | None = None,  # noqa: ARG001 - every study has the same signature
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Run what is missing (the coverage study's replicates serve too), write tables and page."""
    from experiments.simulation import Simulation, run_simulation, study_folder

    command = "whygap study shares" + (" --quick" if quick else "")
    borrowed = (output / "coverage",)
    study = Simulation("shares", plan(quick=quick), _words, command, borrowed)
    return run_simulation(study, study_folder(output, "shares", quick), jobs, report)


def _words(rows: list[Row], lines: dict[str, list[Line]], folder: Path) -> str:  # noqa: ARG001
    from experiments.markdown import grid, plugin_cell

    parts = [_INTRODUCTION]
    for world, title in TITLES.items():
        here = [r for r in rows if r.world == world and _is_share(r.quantity)]
        if not here:
            parts += [f"## {title}", "Not run."]
            continue
        label, size, count = here[0].config, here[0].rows_source, here[0].replicates
        columns = [(f"n={size:,} (R={count})", label)]
        names = [r.quantity for r in here]
        parts += [f"## {title}", grid(here, names, columns), "The plug-in beside it:"]
        parts.append(grid(here, names, columns, plugin_cell))
        parts.append(_ranks(here, lines[label]))
    return "\n\n".join(parts)


def _is_share(quantity: str) -> bool:
    return any(f" {kind} " in f"{quantity} " for kind in ("share", "difference", "value {}"))


def _ranks(rows: Sequence[Row], lines: Sequence[Line]) -> str:
    """How often rank intervals hold all true ranks, and how often the order itself is right."""
    sentences = []
    for part in dict.fromkeys(r.quantity.split()[0] for r in rows):
        truth = {
            r.quantity.split()[-1]: r.truth for r in rows if r.quantity.startswith(f"{part} share")
        }
        order = sorted(truth, key=lambda name: -truth[name])
        shown = [line for line in lines if line["defined"][part] and part in line["ranks"]]
        if not shown:
            sentences.append(f"The {part} shares were never shown: no shift could be told from 0.")
            continue
        held = [_ranks_hold(line["ranks"][part], order) for line in shown]
        sentences.append(
            f"Rank intervals (90%, simultaneous) of the {part} shares hold every true rank in "
            f"{sum(held)} of {len(held)} replicates. " + _order_count(shown, part, order)
        )
    return "\n\n".join(sentences)


def _ranks_hold(ranks: Mapping[str, Sequence[int]], order: Sequence[str]) -> bool:
    return all(ranks[name][0] <= k <= ranks[name][1] for k, name in enumerate(order, start=1))


def _order_count(lines: Sequence[Line], part: str, order: Sequence[str]) -> str:
    first = [line for line in lines if line["seed"] < SEEDS_OF_THE_COUNT]
    best = order[: min(2, len(order) - 1)]
    right = [_estimated_order(line, part, order)[: len(best)] == list(best) for line in first]
    words = " then ".join(best)
    return f"In the first {len(first)} seeds, {words} came out on top in {sum(right)}."


def _estimated_order(line: Line, part: str, names: Sequence[str]) -> list[str]:
    value = {name: line["estimates"][f"{part} share {name}"][0] for name in names}
    return sorted(value, key=lambda name: -value[name])


_INTRODUCTION = """# Shapley shares: intervals, ranks, differences

Shares are differences of many values with one denominator. Cells: coverage of the 90% interval
(bias in standard deviations); bold below the 99% band. In world (b) the paper's released code
puts Z3 first, with the wrong shares; the true order is Z1, Z2, then three small ones."""
