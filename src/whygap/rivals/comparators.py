"""The paper's comparison (section 5.2, Fig. 4): every method's importances in two known worlds.

World (a): only Z1 given W shifts and Z2 follows. World (b): the outcome's coefficients change; the
methods' top 1, 2, 3 variables revise the model on the target, and the revised models are scored
on fresh target rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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

__all__ = ["Comparators", "replicate", "run"]

COVARIATE = ("mean_change", "oaxaca_blinder", "wu_shift")
OUTCOME = ("parametric_change", "parametric_acc", "random_forest_acc", "oaxaca_blinder")
TOP = 3
FRESH_ROWS = 20_000
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparators:
    """All replicates.

    Attributes:
        rows: rows per domain.
        lines: one mapping per seed: `a` and `b` (method -> variable -> importance) and `accuracy`
            (method -> accuracy after revision with the top 1, 2, 3).
    """

    rows: int
    lines: tuple[Line, ...]

    def importances(self, world: str) -> dict[str, dict[str, Array]]:
        """Method -> variable -> one importance per seed in which the method had an answer."""
        methods = {method: None for line in self.lines for method in line[world]}
        return {
            method: _stacked([line[world][method] for line in self.lines if method in line[world]])
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
        """Method -> (seeds, k) accuracies after revision."""
        methods = {method: None for line in self.lines for method in line["accuracy"]}
        return {
            m: np.array([line["accuracy"][m] for line in self.lines if m in line["accuracy"]])
            for m in methods
        }

    def to_mapping(self) -> dict[str, Any]:
        """Plain values: means over seeds with 95% intervals."""
        return {
            "rows": self.rows,
            "seeds": len(self.lines),
            "first_place": {world: self.first_place(world) for world in ("a", "b")},
            "accuracy": {m: [_interval(v) for v in a.T] for m, a in self.accuracy().items()},
        }

    def __str__(self) -> str:
        return "\n".join(_words(self))


def run(
    output: Path | str = "studies",
    *,
    seeds: int = 20,
    rows: int = 4000,
    quick: bool = False,
    seed: int = 0,
) -> Comparators:
    """Replicate both worlds; seeds finished earlier are read from `comparators.jsonl`."""
    wanted, size = (2, 500) if quick else (seeds, rows)
    path = Path(output) / f"comparators_{size}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {line["seed"]: line for line in _read(path)}
    for number in range(seed, seed + wanted):
        if number not in done:
            done[number] = replicate(size, number)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[number]) + "\n")
    return Comparators(size, tuple(done[n] for n in range(seed, seed + wanted)))


def replicate(rows: int, seed: int) -> Line:
    """One draw of each world: importances of every method, accuracies after revision."""
    settings = Settings(seed=seed, progress=False)
    found_a = _methods(comparison_a.tables(rows, seed), "covariate", COVARIATE, settings)
    tables = comparison_b.tables(rows, seed)
    found_b = _methods(tables, "outcome", OUTCOME, settings)
    fresh = comparison_b.draw(ByDomain(1, FRESH_ROWS), np.random.default_rng([seed, 1]))
    return {
        "seed": seed,
        "a": {item.method: _named(item) for item in found_a},
        "b": {item.method: _named(item) for item in found_b},
        "accuracy": _accuracies(_study(tables).design, fresh, found_b, seed),
    }


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
    yield f"{len(study.lines)} seeds, {study.rows} rows per domain; means with 95% intervals."
    for world, title in (("a", "covariate importances"), ("b", "outcome importances")):
        yield ""
        yield f"World ({world}): {title}"
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
