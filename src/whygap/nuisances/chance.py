"""How strong each rule is, and how strong rules get by chance where all rows changed alike.

Noise is the rows' own: each row (or cluster) keeps what it says beyond the change common to all,
times a normal number. All rules are measured in each draw of it, so that many rules of nearly the
same rows raise the bar little.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from whygap.domains import Array, ByDomain, IntArray, Subset
from whygap.estimate import Sample
from whygap.estimate.student import normal_quantile
from whygap.nuisances.conditions import Mask, Packed

__all__ = ["Family", "Told", "confirmed_from", "family", "held_from"]

_Float = NDArray[np.float32]
_Sums = NDArray[np.floating[Any]]
_DRAWS = 400  # of noise: standard errors are known to 4%, a chance of 5% to 1%
_ROWS = 20_000  # that noise is drawn for, at most: how alike rules are is known from fewer


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What rows add to a rule: columns to be summed over its rows, and their sums over all rows.

    Three exact ones (target rows, their weight, the weighted change), and noise at some rows.
    """

    exact: ByDomain[_Float]
    change: float
    some: ByDomain[Mask]
    noise: ByDomain[_Float]
    noise_change: Array

    @classmethod
    def of(
        cls, sample: Sample, values: ByDomain[Array], weight: Array, rng: np.random.Generator
    ) -> Told:
        """From the value of every row, and the weight of target rows."""
        share = sample.weights.target / len(weight)
        value = values.zip(sample.weights, lambda v, w: v * w / len(w))
        part = share * weight / float(share @ weight)
        change = float(sum(map(np.sum, value)))
        exact = ByDomain(
            np.column_stack([np.zeros((len(value.source), 2)), value.source]),
            np.column_stack([share, part, value.target]),
        ).map(lambda columns: columns.astype(np.float32))
        some, noise = _noise(sample, ByDomain(value.source, value.target - change * part), rng)
        return cls(exact, change, some, noise, sum(n.sum(axis=0, dtype=float) for n in noise))


def _noise(
    sample: Sample, beyond: ByDomain[Array], rng: np.random.Generator
) -> tuple[ByDomain[Mask], ByDomain[_Float]]:
    """Some rows, and normal multiples of what they say; rows of a cluster have the same ones."""
    unit, count = _clusters(sample)
    kept = rng.random(count) < _ROWS / sum(map(len, unit))
    multiples = rng.standard_normal((int(kept.sum()), _DRAWS), dtype=np.float32)
    multiples *= math.sqrt(count / max(len(multiples), 1))
    place = np.cumsum(kept) - 1
    some = unit.map(lambda u: kept[u])
    value = beyond.zip(some, lambda b, rows: b[rows, None].astype(np.float32))
    drawn = unit.zip(some, lambda u, rows: multiples[place[u[rows]]])
    return some, value.zip(drawn, np.multiply)


def _clusters(sample: Sample) -> tuple[ByDomain[IntArray], int]:
    """The number of each row's cluster (or of the row) among those of both domains."""
    if sample.owners is not None:
        unit = sample.units.zip(sample.owners, lambda u, owner: owner[u])
        return unit, 1 + max(int(u.max()) for u in unit)
    source, target = sample.units
    return ByDomain(source, target + sample.sizes.source), sum(sample.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Rules of one size: strengths in standard errors, observed and by chance (rules, draws).

    A rule is as strong as the smaller of its own change and of its contrast to all rows. `own` has
    the strongest own change of all rules in each draw. Rules left out count as tested.
    """

    rules: list[Subset]
    strength: Array
    chance: _Float
    own: Array
    left_out: int = 0

    @property
    def count(self) -> int:
        """How many rules were tested."""
        return len(self.rules) + self.left_out

    def rarity(self) -> Array:
        """Minus the log of how many rules would be as strong by chance."""
        return _rarity(self.strength, self.count)

    def critical(self, level: float) -> float:
        """The strength that `level` rules of the family exceed by chance."""
        return normal_quantile(1 - min(level / max(self.count, 1), 1.0))


def family(
    masks: ByDomain[list[Packed]],
    told: Told,
    least: float,
    most: float,
    *,
    among: IntArray | None = None,
    pairs: bool,
) -> Family:
    """All conditions, or all pairs of some of them, with these shares of the target rows."""
    chosen = np.arange(len(masks.target)) if among is None else among
    nothing = np.zeros((0, _DRAWS), np.float32)
    if not len(chosen):
        return Family([], np.zeros(0), nothing, np.zeros(_DRAWS))
    some = masks.map(lambda m: [m[k] for k in chosen])
    exact = _exactly(some, told.exact, pairs=pairs)
    few = some.zip(told.some, lambda m, rows: [one[rows] for one in m])
    noise = _within(few, told.noise) if pairs else _exactly(few, told.noise, pairs=False)
    rules: list[Subset] = []
    strength, chance, own = [np.zeros(0)], [nothing], np.zeros(_DRAWS)
    for i, (sums, drawn) in enumerate(zip(exact, noise, strict=True)):
        allowed = (sums[:, 0] >= least) & (sums[:, 0] <= most) & np.any(drawn != 0, axis=1)
        part, change = sums[allowed, 1:].T.astype(float)[..., None]
        contrast = drawn[allowed] - part * told.noise_change
        errors = _error(drawn[allowed]), _error(contrast)
        strength.append(_smaller(change, change - part * told.change, errors)[:, 0])
        alike = drawn[allowed] + part * told.change
        chance.append(_smaller(alike, contrast, errors).astype(np.float32))
        own = np.maximum(own, np.max(np.abs(drawn[allowed]) / errors[0], axis=0, initial=0.0))
        ones, others = int(chosen[i]), chosen[i + 1 :]
        rules += [(ones, int(k)) for k in others[allowed]] if pairs else [(ones,)] * any(allowed)
    return Family(rules, np.concatenate(strength), np.concatenate(chance), own)


def _exactly(masks: ByDomain[Any], columns: ByDomain[_Float], *, pairs: bool) -> Iterator[_Sums]:
    """For each condition, sums of columns over its rows, or over those shared with later ones.

    Masks may be packed. Sums in double precision of sums in single precision over a bounded
    number of rows.
    """
    total: Array = np.zeros(())
    for mask, column in zip(masks, columns, strict=True):
        for start in range(0, len(column), _ROWS):
            rows = slice(start, start + _ROWS)
            inside = np.column_stack([one[rows] for one in mask]).astype(np.float32)
            told = column[rows]
            total = total + (_products(inside, told) if pairs else inside.T @ told)
    for i in range(len(total)):
        yield total[i, i + 1 :] if pairs else total[i : i + 1]


def _products(inside: _Float, columns: _Float) -> Array:
    """Sums of each column over the rows that two conditions share."""
    return np.stack([(inside * c[:, None]).T @ inside for c in columns.T], axis=-1)


def _within(masks: ByDomain[list[Mask]], columns: ByDomain[_Float]) -> Iterator[_Sums]:
    """For each condition, sums of many columns over the rows that it shares with later ones."""
    tables = masks.map(np.column_stack)
    for i in range(len(masks.target)):
        yield np.add(*tables.zip(columns, partial(_shared, i)))


def _shared(i: int, mask: Mask, columns: _Float) -> _Float:
    inside = mask[:, i]
    return np.asarray(mask[inside, i + 1 :].T.astype(np.float32) @ columns[inside])


def _error(noise: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(noise**2, axis=1, dtype=float, keepdims=True)))


def _smaller(own: Array, contrast: Array, errors: tuple[Array, Array]) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.minimum(np.abs(own) / errors[0], np.abs(contrast) / errors[1])
    return np.where(np.isfinite(z), z, 0.0)


def confirmed_from(families: Sequence[Family], error: float) -> list[float]:
    """The strength that confirms a rule, by family (Benjamini and Hochberg's step-up in each).

    The k-th strongest may be k times as likely by chance as the first. How likely the first may be
    is set by the noise: with `error` of its draws anything would be confirmed.
    """
    by_chance = [_step_up(_rarity(one.chance, len(one.rules))).max(axis=0, initial=-np.inf)
                 for one in families]  # fmt: skip
    bar = float(np.quantile(np.max(by_chance, axis=0), 1 - error))
    strong = [np.flatnonzero(_step_up(one.rarity()) > bar) for one in families]
    return [
        one.critical(math.exp(-bar) * (1 + k.max(initial=0)))
        for one, k in zip(families, strong, strict=True)
    ]


def held_from(families: Sequence[Family], error: float) -> list[float]:
    """What no own change exceeds in standard errors, all rules together, but with this chance."""
    by_chance = [_rarity(one.own, len(one.rules)) for one in families]
    bar = float(np.quantile(np.max(by_chance, axis=0), 1 - error))
    return [one.critical(math.exp(-bar)) for one in families]


def _step_up(rarity: Array) -> Array:
    """The rarest first, each forgiven the number of those that are as rare."""
    places = np.log(np.arange(1, len(rarity) + 1))
    return -np.sort(-rarity, axis=0) + places.reshape(-1, *[1] * (rarity.ndim - 1))


def _rarity(strength: Array | _Float, count: int) -> Array:
    return np.asarray(-special.log_ndtr(-strength) - math.log(2 * max(count, 1)))
