"""The paper's comparison (section 5.2, Fig. 4): every method's importances in two known worlds.

World (a): only Z1 given W shifts and Z2 follows. World (b): the outcome's coefficients change; the
methods' top 1, 2, 3 variables revise the model on the target, and the revised models are scored
on fresh target rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from whygap.domains import Array, ByDomain
from whygap.explain import explain
from whygap.repair.learner import StackedRisk
from whygap.repair.model import revision_inputs
from whygap.rivals.compare import comparison, ours
from whygap.rivals.importances import Importances
from whygap.settings import Settings
from whygap.simulate.comparison import comparison_a, comparison_b
from whygap.study import Study
from whygap.tables.design import Design

__all__ = ["Comparators", "run", "world_a", "world_b"]

COVARIATE = ("mean_change", "oaxaca_blinder", "wu_shift")
OUTCOME = ("parametric_change", "parametric_acc", "random_forest_acc", "oaxaca_blinder")
TOP = 3
FRESH_ROWS = 20_000
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparators:
    """All replicates of both worlds.

    Attributes:
        rows: rows per domain in each world.
        lines: per world one mapping per seed: `importances` (method -> variable -> importance)
            and, in world (b), `accuracy` (method -> accuracy after revision with the top 1, 2, 3).
    """

    rows: Mapping[str, int]
    lines: Mapping[str, tuple[Line, ...]]

    def importances(self, world: str) -> dict[str, dict[str, Array]]:
        """Method -> variable -> one importance per seed in which the method had an answer."""
        found = [line["importances"] for line in self.lines[world]]
        methods = {method: None for item in found for method in item}
        return {
            method: _stacked([item[method] for item in found if method in item])
            for method in methods
        }

    def first_place(self, world: str) -> dict[str, dict[str, float]]:
        """Method -> variable -> share of seeds in which it came first."""
        found: dict[str, dict[str, float]] = {}
        for method, by_name in self.importances(world).items():
            sizes = np.abs(np.column_stack(list(by_name.values())))
            winner = np.argmax(sizes, axis=1)
            found[method] = {name: float(np.mean(winner == i)) for i, name in enumerate(by_name)}
        return found

    def accuracy(self) -> dict[str, Array]:
        """Method -> (seeds, k) accuracies after revision in world (b)."""
        found = [line["accuracy"] for line in self.lines["b"]]
        methods = {method: None for item in found for method in item}
        return {m: np.array([item[m] for item in found if m in item]) for m in methods}

    def to_mapping(self) -> dict[str, Any]:
        """Plain values: means over seeds with 95% intervals."""
        return {
            "rows": dict(self.rows),
            "seeds": {world: len(lines) for world, lines in self.lines.items()},
            "importances": {
                world: {
                    method: {name: _interval(values) for name, values in by_name.items()}
                    for method, by_name in self.importances(world).items()
                }
                for world in ("a", "b")
            },
            "first_place": {world: self.first_place(world) for world in ("a", "b")},
            "accuracy": {m: [_interval(v) for v in a.T] for m, a in self.accuracy().items()},
        }

    def __str__(self) -> str:
        return "\n".join(_words(self))


def run(
    output: Path | str = "studies",
    *,
    seeds: int = 20,
    rows_a: int = 20_000,
    rows_b: int = 4000,
    quick: bool = False,
    seed: int = 0,
) -> Comparators:
    """Replicate both worlds; seeds finished earlier are read from the output folder.

    World (a) is nearly a tie (true shares .508 and .492) and needs many rows; world (b) does not.
    """
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(seed, seed + (2 if quick else seeds))
    rows = {"a": 2000, "b": 500} if quick else {"a": rows_a, "b": rows_b}
    return Comparators(
        rows,
        {
            "a": _missing(folder / f"comparators_a_{rows['a']}.jsonl", numbers, rows["a"], world_a),
            "b": _missing(folder / f"comparators_b_{rows['b']}.jsonl", numbers, rows["b"], world_b),
        },
    )


def world_a(rows: int, seed: int) -> Line:
    """One draw of world (a): covariate importances of every method."""
    settings = Settings(seed=seed, progress=False)
    found = _methods(comparison_a.tables(rows, seed), "covariate", COVARIATE, settings)
    return {"seed": seed, "importances": {item.method: _named(item) for item in found}}


def world_b(rows: int, seed: int) -> Line:
    """One draw of world (b): outcome importances, and accuracies after revision."""
    settings = Settings(seed=seed, progress=False)
    tables = comparison_b.tables(rows, seed)
    found = _methods(tables, "outcome", OUTCOME, settings)
    fresh = comparison_b.draw(ByDomain(1, FRESH_ROWS), np.random.default_rng([seed, 1]))
    return {
        "seed": seed,
        "importances": {item.method: _named(item) for item in found},
        "accuracy": _accuracies(_study(tables).design, fresh, found, seed),
    }


def _missing(
    path: Path, seeds: range, rows: int, replicate: Callable[[int, int], Line]
) -> tuple[Line, ...]:
    """The lines of these seeds; those not yet in the file are made and appended."""
    done = {line["seed"]: line for line in _read(path)}
    for number in seeds:
        if number not in done:
            done[number] = replicate(rows, number)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[number]) + "\n")
    return tuple(done[number] for number in seeds)


def _study(tables: tuple[pa.Table, pa.Table]) -> Study:
    source, target = tables
    return Study(source=source, target=target, outcome="y", baseline=["W"], prediction="prediction")


def _methods(
    tables: tuple[pa.Table, pa.Table], part: str, methods: Sequence[str], settings: Settings
) -> list[Importances]:
    study = _study(tables)
    gap = explain(study, detail=(part,), settings=settings)
    mine = ours(gap, settings.level)
    rivals = comparison(study.design, methods, settings)
    return [item for item in [*mine, *rivals] if item.part == part]


def _named(item: Importances) -> dict[str, float]:
    return {name: float(value) for name, value in zip(item.names, item.values, strict=True)}


def _accuracies(
    design: Design, fresh: Design, found: Sequence[Importances], seed: int
) -> dict[str, list[float]]:
    """Accuracy on fresh target rows after revision with each method's top 1, 2, 3."""
    columns = list(design.baseline + design.covariates)
    risk = StackedRisk(seed=seed).fit(design.features.source[:, columns], design.outcome.source)
    positions = {player.name: i for i, player in enumerate(design.players)}
    known: dict[frozenset[int], float] = {}

    def accuracy(players: tuple[int, ...]) -> float:
        key = frozenset(players)
        if key not in known:
            chosen = design.subset_columns(tuple(sorted(players)))
            train, at = (
                revision_inputs(risk.predict_proba(x[:, columns])[:, 1], x, chosen)
                for x in (design.features.target, fresh.features.target)
            )
            model = StackedRisk(seed=seed).fit(train, design.outcome.target)
            known[key] = float(np.mean(model.predict(at) == fresh.outcome.target))
        return known[key]

    def curve(item: Importances) -> list[float]:
        order = tuple(positions[name] for name in item.ranking())
        return [accuracy(order[:k]) for k in range(1, TOP + 1)]

    return {item.method: curve(item) for item in found}


def _stacked(found: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    return {name: np.array([item[name] for item in found]) for name in found[0]}


def _read(path: Path) -> Iterator[Line]:
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(text)


def _interval(values: Array) -> tuple[float, float, float]:
    """Mean over seeds and its 95% interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean, mean
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return mean, mean - half, mean + half


def _words(study: Comparators) -> Iterator[str]:
    yield "Means over seeds with 95% intervals."
    for world, title in (("a", "covariate importances"), ("b", "outcome importances")):
        yield ""
        yield f"World ({world}): {title}, {study.rows[world]} rows per domain"
        first = study.first_place(world)
        for method, by_name in study.importances(world).items():
            seeds = len(next(iter(by_name.values())))
            head = f"{method:<18}{seeds:>3} seeds  "
            yield f"{head}{_cells(by_name)}  first: {_winners(first[method])}"
    yield ""
    yield "World (b): accuracy on the target after revision with the top 1, 2, 3 variables"
    for method, values in study.accuracy().items():
        cells = (f"{m:.3f} ({low:.3f}, {high:.3f})" for m, low, high in map(_interval, values.T))
        yield f"{method:<18}" + "  ".join(cells)


def _cells(by_name: Mapping[str, Array]) -> str:
    intervals = ((name, _interval(values)) for name, values in by_name.items())
    return "  ".join(
        f"{name} {m:+.3f} ({low:+.3f}, {high:+.3f})" for name, (m, low, high) in intervals
    )


def _winners(shares: Mapping[str, float]) -> str:
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in ordered if share > 0)
