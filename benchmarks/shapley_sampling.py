"""Sampling error of our Shapley shares beside every sampler of shapiq, on the same budgets.

    python benchmarks/shapley_sampling.py            about ten minutes on one core
    python benchmarks/shapley_sampling.py --slow     with ProxySPEX too (seconds per run)

Prints a markdown table: root mean squared error over players and seeds, in percent of the root
mean squared share. True shares are exact, except for explained variance with 31 players, where
they come from 600,000 random complementary pairs by an estimator of its own.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from shapiq import approximator as rival

from whygap.shapley import SubsetPlan, linear_weights

Value = Callable[[np.ndarray], np.ndarray]
BUDGETS = [(12, 256), (12, 1024), (20, 256), (20, 1024), (31, 256), (31, 1024)]


@dataclass(frozen=True)
class Game:
    """A value function on rows of 0 and 1, and its Shapley values."""

    value: Value
    shapley: np.ndarray


def explained_variance(players: int, factors: int, own: float) -> Game:
    """R^2 of a linear model; few factors and little own variance: strongly correlated features."""
    rng = np.random.default_rng([11, players, factors, 7])
    loading = rng.normal(size=(players, factors))
    covariance = loading @ loading.T / factors + own * np.eye(players)
    scale = np.sqrt(np.diag(covariance))
    covariance /= np.outer(scale, scale)
    slope = rng.normal(size=players) * rng.exponential(size=players)
    slope[max(3, players // 2) :] = 0
    joint = covariance @ slope

    def value(member: np.ndarray) -> np.ndarray:
        out = np.empty(len(member))
        for start in range(0, len(member), 20_000):
            part = np.asarray(member[start : start + 20_000], dtype=float)
            masked = covariance * part[:, :, None] * part[:, None, :]
            masked[:, np.arange(players), np.arange(players)] += 1 - part
            right = joint * part
            solved = np.linalg.solve(masked, right[..., None])[..., 0]
            out[start : start + len(part)] = (right * solved).sum(axis=1)
        return out / (slope @ joint)

    exact = by_enumeration if players <= 20 else by_many_pairs
    return Game(value, exact(value, players))


def saturation(players: int) -> Game:
    """1 - exp(-sum of strengths); its Shapley values are Owen's integral of a polynomial."""
    strength = np.random.default_rng([13, players, 7]).exponential(size=players) * 6 / players
    gain = 1 - np.exp(-strength)
    node, mass = np.polynomial.legendre.leggauss(players)
    joined = 1 - np.outer((node + 1) / 2, gain)
    others = joined.prod(axis=1, keepdims=True) / joined
    return Game(lambda member: 1 - np.exp(-(member @ strength)), gain * (mass / 2 @ others))


def interactions(players: int) -> Game:
    """Main effects and 60 random interactions of up to six players."""
    rng = np.random.default_rng([12, players, 7])
    rows = np.zeros((60 + players, players))
    for row in range(60):
        rows[row, rng.choice(players, rng.integers(1, 7), replace=False)] = 1
    rows[60:] = np.eye(players)
    size = rows.sum(axis=1)
    effect = rng.normal(size=len(rows)) * 0.6**size
    return Game(lambda member: (member @ rows.T >= size) @ effect, effect / size @ rows)


def trees(players: int) -> Game:
    """Forty random trees of four players each, some players used much more than others."""
    rng = np.random.default_rng([15, players, 7])
    chance = 1 / np.arange(1, players + 1)
    drawn = [
        (rng.choice(players, 4, replace=False, p=chance / chance.sum()), rng.normal(size=16))
        for _ in range(40)
    ]
    digits = 1 << np.arange(4)
    shapley = np.zeros(players)
    for used, leaf in drawn:
        shapley[used] += by_enumeration(lambda m, leaf=leaf: leaf[(m @ digits).astype(int)], 4)

    def value(member: np.ndarray) -> np.ndarray:
        return sum(leaf[(np.asarray(member)[:, used] @ digits).astype(int)] for used, leaf in drawn)

    return Game(value, shapley)


def by_enumeration(value: Value, players: int) -> np.ndarray:
    """Shapley's sum over all 2^p subsets."""
    rows = np.arange(1 << players)
    member = ((rows[:, None] >> np.arange(players)) & 1).astype(np.int8)
    values = np.concatenate(
        [value(part) for part in np.array_split(member, 1 + len(rows) // 65536)]
    )
    size = member.sum(axis=1)
    joined = np.array([1 / (players * math.comb(players - 1, k)) for k in range(players)] + [0.0])
    return np.array(
        [
            joined[size[on] - 1] @ values[on] - joined[size[~on]] @ values[~on]
            for on in (member[:, player] == 1 for player in range(players))
        ]
    )


def by_many_pairs(value: Value, players: int, pairs: int = 600_000) -> np.ndarray:
    """Least squares on many random pairs per size, each size centred by itself (p odd)."""
    rng = np.random.default_rng(777)
    total = float(value(np.ones((1, players)))[0] - value(np.zeros((1, players)))[0])
    gram, moment = np.zeros((players, players)), np.zeros(players)
    for size in range(1, players // 2 + 1):
        count = pairs // (players // 2)
        member = (np.argsort(rng.random((count, players)), axis=1) < size).astype(float)
        odd = (value(member) - value(1 - member)) / 2
        centred = (member - size / players) / (size * (players - size) * count)
        gram += centred.T @ (member - size / players)
        moment += centred.T @ (odd - odd.mean())
    return total / players + np.linalg.pinv(gram, rcond=1e-9) @ moment


def ours(game: Game, players: int, budget: int, seed: int) -> np.ndarray:
    subsets = SubsetPlan(players, seed).take(budget)
    member = np.zeros((budget, players))
    for row, subset in enumerate(subsets):
        member[row, list(subset)] = 1
    return linear_weights(subsets, players) @ game.value(member)


def rivals(players: int, seed: int, *, slow: bool) -> dict[str, object]:
    flat = np.ones(players + 1)
    paired = {"pairing_trick": True, "random_state": seed}
    found: dict[str, object] = {
        "KernelSHAP, pairs": rival.KernelSHAP(players, **paired),
        "KernelSHAP, pairs, leverage": rival.KernelSHAP(players, sampling_weights=flat, **paired),
        "kADD-SHAP 2, pairs, leverage": rival.kADDSHAP(
            players, max_order=2, sampling_weights=flat, **paired
        ),
        "Unbiased KernelSHAP": rival.UnbiasedKernelSHAP(players, **paired),
        "SVARM": rival.SVARM(players, random_state=seed),
        "permutations": rival.PermutationSamplingSV(players, random_state=seed),
        "Owen": rival.OwenSamplingSV(players, random_state=seed),
        "stratified": rival.StratifiedSamplingSV(players, random_state=seed),
    }
    if slow:
        found["ProxySPEX"] = rival.ProxySPEX(n=players, index="SV", max_order=1, random_state=seed)
    return found


def theirs(sampler: object, game: Game, players: int, budget: int) -> np.ndarray:
    found = sampler.approximate(budget, lambda member: game.value(np.atleast_2d(member)))
    return np.array([found.dict_values.get((player,), 0.0) for player in range(players)])


def compare(game: Game, players: int, budget: int, seeds: int, *, slow: bool) -> dict[str, float]:
    """Relative root mean squared error by sampler, in percent."""
    squares: dict[str, list[float]] = {}
    for seed in range(seeds):
        shares = {"ours": ours(game, players, budget, seed)}
        for name, sampler in rivals(players, seed, slow=slow).items():
            shares[name] = theirs(sampler, game, players, budget)
        for name, share in shares.items():
            squares.setdefault(name, []).append(float(np.mean((share - game.shapley) ** 2)))
    scale = math.sqrt(np.mean(game.shapley**2))
    return {name: 100 * math.sqrt(np.mean(found)) / scale for name, found in squares.items()}


def games(players: int) -> dict[str, Game]:
    return {
        "explained variance, mild correlation": explained_variance(players, 5, 0.5),
        "explained variance, strong correlation": explained_variance(players, 2, 0.3),
        "saturation": saturation(players),
        "random interactions": interactions(players),
        "random trees": trees(players),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--slow", action="store_true", help="include ProxySPEX")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| players | subsets | game | ours | best of shapiq | which | ratio |")
    print("|---:|---:|---|---:|---:|---|---:|")
    known: dict[int, dict[str, Game]] = {}
    for players, budget in BUDGETS:
        if players not in known:
            known[players] = games(players)
        for name, game in known[players].items():
            errors = compare(game, players, budget, asked.seeds, slow=asked.slow)
            mine = errors.pop("ours")
            best = min(errors, key=lambda sampler: errors[sampler])
            print(
                f"| {players} | {budget} | {name} | {mine:.2f} | {errors[best]:.2f} | {best} "
                f"| {mine / errors[best]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
