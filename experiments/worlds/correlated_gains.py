"""What sets of columns win in the correlated world, by quasi-Monte-Carlo.

Take two rows that share the model's score and X_s and are independent given these. Then
E[(p - f)(p' - f)] = E[(m_s - f)^2] = gain(s): an integral over seven jointly normal numbers, the
logit t and, of each row, the columns of the product and what changed coefficients add.

    python -m experiments.worlds.correlated_gains

takes it for all 4,096 sets of the twelve columns in both domains (scrambled Sobol points, the same
for every set) and writes recalibration and Shapley shares to `correlated_gains.json`, each with
the standard error that independent scramblings show.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import special, stats

from experiments.worlds import quadrature
from experiments.worlds.correlated import LAWS, NAMES, PRODUCT_OF, RISKS, root, scalars
from experiments.worlds.world import Subset, all_subsets, shares
from whygap.domains import DOMAINS, Array, ByDomain, Domain

__all__ = ["KeptGains", "conditional_mean", "gain", "kept"]

FILE = Path(__file__).with_name("correlated_gains.json")
SCRAMBLINGS = 8  # enough that their spread says how large the error is
LOG2_POINTS = 15  # errors are then below .05 of standard errors at 8,000 rows (see the tests)


@dataclass(frozen=True, slots=True)
class KeptGains:
    """Recalibration and shares of one domain, and the standard error of each of these truths."""

    recalibration: float
    variables: dict[str, float]
    errors: dict[str, float]


def kept() -> ByDomain[KeptGains]:
    """What the file says."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return ByDomain(*(KeptGains(**found[domain]) for domain in DOMAINS))


def gain(domain: Domain, columns: Sequence[int]) -> float:
    """What the score and these columns win, in squared error."""
    each = [pair_mean(domain, tuple(columns), seed) for seed in range(SCRAMBLINGS)]
    return float(np.mean(each))


def pair_mean(domain: Domain, columns: Subset, seed: int) -> float:
    """E[(p - f)(p' - f)] over two rows that share the score and these columns."""
    mean, cov = _pair_law(domain, columns)
    t, *rest = mean[:, None] + root(cov) @ _normal_points(seed)
    f, product = special.expit(t), RISKS[domain].product
    p, other = (special.expit(t + d + product * x * y) for x, y, d in (rest[:3], rest[3:]))
    return float(np.mean((p - f) * (other - f)))


@lru_cache(maxsize=SCRAMBLINGS)
def _normal_points(seed: int) -> Array:
    """(7, points): standard normal numbers."""
    points = stats.qmc.Sobol(7, seed=seed).random_base2(LOG2_POINTS)
    return np.ascontiguousarray(special.ndtri(np.clip(points, 1e-12, 1 - 1e-12)).T)


@lru_cache(maxsize=2 ** (len(NAMES) + 1))
def _pair_law(domain: Domain, columns: Subset) -> tuple[Array, Array]:
    """Mean and covariance of (t, x, x', d) of one row and (x, x', d) of the other."""
    mean, cov = scalars(LAWS[domain], domain)
    shared = cov[1:, 1:] - _given(domain, _known(columns))[1]
    pair = np.block(
        [
            [cov[:1, :1], cov[:1, 1:], cov[:1, 1:]],
            [cov[1:, :1], cov[1:, 1:], shared],
            [cov[1:, :1], shared, cov[1:, 1:]],
        ]
    )
    return np.concatenate([mean, mean[1:]]), pair


def conditional_mean(domain: Domain, columns: Subset, x: Array) -> Array:
    """m_s = E_d[Y | f, X_s] at rows: a normal mean over (x, x'), d averaged over given these."""
    known = _known(columns)
    onto, cov = _given(domain, known)
    law = LAWS[domain]
    centre = _wanted(domain) @ law.mean + (x - law.mean) @ known.T @ onto.T
    slope = cov[2, :2] @ np.linalg.pinv(cov[:2, :2], rcond=1e-11, hermitian=True)
    left = max(float(cov[2, 2] - slope @ cov[:2, 2]), 0.0)
    smooth = quadrature.smoothed_power(float(np.sqrt(left)) if left > 1e-12 else 0.0, 1, 0.0)
    z, w = quadrature.normal_rule(0.7, 6.3)
    away = root(cov[:2, :2]) @ np.stack([a.ravel() for a in np.meshgrid(z, z, indexing="ij")])
    pair = centre[:, :2, None] + away
    changed = RISKS[domain].intercept - RISKS.source.intercept + centre[:, 2:] + slope @ away
    product = RISKS[domain].product * pair[:, 0] * pair[:, 1]
    risk = smooth(RISKS.source.linear(x)[:, None] + changed + product)
    return np.asarray(risk @ np.outer(w, w).ravel())


def _known(columns: Subset) -> Array:
    """The score and these columns, as linear functions of all columns."""
    return np.stack([RISKS.source.slopes, *np.eye(len(NAMES))[list(columns)]])


def _wanted(domain: Domain) -> Array:
    """(x, x', d), as linear functions of all columns."""
    return np.stack(
        [*np.eye(len(NAMES))[list(PRODUCT_OF)], RISKS[domain].slopes - RISKS.source.slopes]
    )


def _given(domain: Domain, known: Array) -> tuple[Array, Array]:
    """Regression of (x, x', d) on what is known, and the covariance it leaves open."""
    wanted, cov = _wanted(domain), LAWS[domain].cov
    across = wanted @ cov @ known.T
    # The score may be a function of the columns: a pseudo-inverse leaves it out then.
    onto = across @ np.linalg.pinv(known @ cov @ known.T, rcond=1e-11, hermitian=True)
    return onto, np.asarray(wanted @ cov @ wanted.T - onto @ across.T)


def _solved(domain: Domain, seed: int) -> Array:
    """Recalibration, then a Shapley share a column, from one scrambling."""
    gains = {s: pair_mean(domain, s, seed) for s in all_subsets(len(NAMES))}
    return np.array([gains[()], *shares(gains.__getitem__, len(NAMES))])


def compute(domain: Domain) -> KeptGains:
    """All subsets, all scramblings: about a minute."""
    each = np.stack([_solved(domain, seed) for seed in range(SCRAMBLINGS)])
    values, errors = each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(SCRAMBLINGS)
    return KeptGains(
        recalibration=float(values[0]),
        variables=dict(zip(NAMES, values[1:].tolist(), strict=True)),
        errors=dict(zip(("(recalibration)", *NAMES), errors.tolist(), strict=True)),
    )


def main() -> None:
    """Write the file."""
    found: dict[str, object] = {"command": "python -m experiments.worlds.correlated_gains"}
    for domain in DOMAINS:
        solved = compute(domain)
        found[domain] = {name: getattr(solved, name) for name in solved.__slots__}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
