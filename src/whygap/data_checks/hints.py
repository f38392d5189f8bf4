"""What looks wrong without being an error: leakage, copied rows, spread-out categories, swaps."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whygap._metrics import Task
from whygap.data_checks.predictions import NEARLY_ONE, prediction_notes
from whygap.domains import DOMAINS, Array, ByDomain, IntArray
from whygap.notes import Fact, Note
from whygap.tables.design import Design

__all__ = ["FEW_VALUES", "auc_of_counts", "with_hints"]

FEW_VALUES = 50  # up to here, the order of numbers may mean nothing (codes)


def with_hints(design: Design, names: ByDomain[str]) -> Design:
    """Add notes on what looks wrong with a design.

    Args:
        design: encoded rows and the metric's terms.
        names: what the two domains are called.
    """
    draw = np.random.default_rng(0)
    outcome = np.concatenate(list(design.outcome))
    keys = np.zeros(len(outcome), dtype=np.uint64)  # equal rows have equal keys
    leaks: list[Note] = []
    for k, column in enumerate(design.columns):
        place = _places(_pooled(design, k))
        keys += _hashed(place, draw)
        fit = _given_away(place, outcome, design.task, column.kind == "category")
        if fit == 1:
            leaks.append(Note("gives_outcome", "problem", {"column": column.name}))
        elif fit > NEARLY_ONE:
            leaks.append(Note("nearly_gives_outcome", "warning", {"column": column.name}))
    prediction = np.concatenate(list(design.prediction))
    for values in (outcome, prediction):
        keys += _hashed(_places(values), draw)
    cut = len(design.outcome.source)
    has_labels = design.metric.wants == "probability" and np.isin(prediction, (0, 1)).all()
    labels = (Note("labels_only", "warning", {"metric": design.metric.name}),)
    notes = (
        *leaks,
        *prediction_notes(design, names),
        *_copy_notes(ByDomain(keys[:cut], keys[cut:]), names, design.clusters is not None),
        *_spread_categories(design),
        *_swap_note(design, names),
        *(labels if has_labels else ()),
    )
    return replace(design, notes=design.notes + notes)


def _pooled(design: Design, column: int) -> Array:
    return np.concatenate([table[:, column] for table in design.features])


def _places(values: Array) -> IntArray:
    """Return where each value stands among the distinct values; missing comes last."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _hashed(place: IntArray, draw: np.random.Generator) -> NDArray[np.uint64]:
    """Multiply by a random odd number: sums over columns differ where rows do (but 1 in 2^63)."""
    factor = draw.integers(0, 2**63, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return place.astype(np.uint64) * factor


# -- columns that give the outcome away ------------------------------------------------------------


def _given_away(place: IntArray, outcome: Array, task: Task, unordered: bool) -> float:
    """Measure how well a column alone gives the outcome; 1 is in every row."""
    if task == "binary":
        negatives, positives = (
            np.bincount(place, weights=w).astype(float) for w in (1 - outcome, outcome)
        )
        return auc_of_counts(negatives, positives, unordered or place.max() < FEW_VALUES)
    if task == "regression":
        ranks = np.unique(outcome, return_inverse=True)[1]
        correlation = np.corrcoef(place, ranks)[0, 1] if place.any() else 0.0
        return round(abs(float(correlation)), 9)  # rounding is not a difference
    if place.max() >= FEW_VALUES:
        return 0.0  # so many values have a class each by chance
    counts = np.zeros((place.max() + 1, int(outcome.max()) + 1))
    np.add.at(counts, (place, outcome.astype(np.int64)), 1)
    return float(counts.max(axis=1).sum() / len(outcome))


def auc_of_counts(negatives: Array, positives: Array, unordered: bool) -> float:
    """Compute the AUC, in the better direction, from how often each value has a 0 and a 1.

    Args:
        negatives: rows with a 0, per value.
        positives: rows with a 1, per value.
        unordered: whether values are first sorted by their share of ones.
    """
    if unordered:
        order = np.argsort(positives / (positives + negatives), kind="stable")
        positives = positives[order]
        negatives = negatives[order]
    below = np.cumsum(negatives) - negatives
    total = float(positives.sum() * negatives.sum())
    area = float(positives @ (below + negatives / 2)) / total if total > 0 else 0.5
    return max(area, 1 - area)


# -- rows that stand more than once ----------------------------------------------------------------


def _copy_notes(keys: ByDomain[Any], names: ByDomain[str], clustered: bool) -> Iterator[Note]:
    """Report rows equal in every column more often than chance explains.

    Two independent tables have no more equal pairs between them than within, per pair of rows (by
    Cauchy and Schwarz); a table whose rows were copied has more than the pairs between the tables.
    Where rows belong together (`clustered`), copies within a table are meant.
    """
    counts = keys.map(lambda key: np.unique(key, return_counts=True))
    number = counts.map(lambda pair: pair[1].astype(float))
    rows = number.map(lambda n: float(n.sum()))
    _, in_source, in_target = np.intersect1d(
        counts.source[0], counts.target[0], assume_unique=True, return_indices=True
    )
    between = float(number.source[in_source] @ number.target[in_target])
    pairs = number.map(lambda n: float(n @ (n - 1)))
    rate = pairs.zip(rows, lambda n, total: n / max(total * (total - 1), 1))
    across = between / (rows.source * rows.target)
    if _too_many(between, rows.source * rows.target * (rate.source * rate.target) ** 0.5):
        shared = int(number.target[in_target].sum())
        facts: dict[str, Fact] = {"source": names.source, "target": names.target}
        yield Note("shared_rows", "warning", {**facts, "shared": shared, "rows": int(rows.target)})
    for domain, opposite, name in zip(DOMAINS, reversed(DOMAINS), names, strict=True):
        n_pairs = rows[domain] * (rows[domain] - 1)
        if not clustered and _too_many(pairs[domain], n_pairs * max(rate[opposite], across)):
            repeated = int((number[domain] - 1).sum())
            facts = {"repeated": repeated, "rows": int(rows[domain]), "table": name}
            yield Note("repeated_rows", "warning", facts)


def _too_many(pairs: float, by_chance: float) -> bool:
    # Twice, for `by_chance` is estimated from few pairs itself; 10 pairs come about by chance.
    return pairs > 2 * by_chance + 10


# -- columns and tables ----------------------------------------------------------------------------


def _spread_categories(design: Design) -> Iterator[Note]:
    """Report 0/1 covariates with a common prefix of which at most a single column is 1."""
    families: dict[str, dict[str, Array]] = {}
    for player in design.players:
        column = design.columns[player.columns[0]]
        values = _pooled(design, player.columns[0])
        prefix = column.name.split("_")[0]
        is_alone = len(player.columns) == 1 and player.name == column.name  # in no group
        is_flag = column.kind == "numeric" and np.all((values == 0) | (values == 1))
        if is_alone and is_flag and prefix not in ("", column.name):
            families.setdefault(prefix, {})[column.name] = values
    for prefix, members in families.items():
        if len(members) >= 3 and np.max(np.sum(list(members.values()), axis=0)) <= 1:
            facts: dict[str, Fact] = {"columns": tuple(members), "n_columns": len(members)}
            yield Note("spread_category", "info", {**facts, "group": prefix})


def _swap_note(design: Design, names: ByDomain[str]) -> Iterator[Note]:
    """Report a model that does better in the target; a warning when that is not chance."""
    weights = design.weights or design.outcome.map(np.ones_like)
    share = weights.map(lambda values: values / values.sum())
    source, target = design.terms.zip(share, design.metric.value)
    if source == target or design.metric.higher_is_better != (target > source):
        return
    facts: dict[str, Fact] = {
        "metric": design.metric.name,
        "source": names.source,
        "target": names.target,
        "source_value": float(source),
        "target_value": float(target),
    }
    centred = design.terms.zip(share, design.metric.influence)
    variance = sum(share.zip(centred, lambda part, rest: float(part**2 @ rest**2)))
    sure = (target - source) ** 2 > 3.0**2 * variance  # three standard errors; rows independent
    yield Note("better_in_target", "warning" if sure else "info", facts)
