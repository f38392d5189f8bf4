"""A smooth surrogate of a game whose Shapley values are known in closed form.

Least squares leaves as sampling error whatever of the game is not additive. Most of that is
smooth: explained variances saturate as players join. A Gaussian-process prior for such games
(kriging) predicts it; the prediction's exact Shapley values replace its sampled ones, and only
what remains is left to chance. The prediction is linear in the values, and the additive part and
the size curve are not penalised, so additive games pass through untouched.

The prior is a sum of product kernels, k(s, t) = one ** (in one of s, t) * both ** (in both):
saturating games v(s) = exp(-sum of random a_i) with expected total 1, 3 and 9 (then one = E exp(-a)
and both = E exp(-2a), a exponential), and a little of a rougher one for interactions of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from whygap.domains import Array, IntArray
from whygap.shapley.pairs import Pairs

__all__ = ["Kriging", "krige"]


@dataclass(frozen=True, slots=True)
class Prior:
    """What games are expected to look like."""

    saturations: tuple[float, ...] = (1.0, 3.0, 9.0)  # of games: slow, usual and fast ones
    rough_correlation: float = 9 / 11  # per player in exactly one of the sets
    rough_share: float = 0.01  # its variance beside the saturating ones: interactions are small
    nugget: float = 0.01  # variance of what the prior does not describe, per pair of mean weight
    exact: float = 1e-6  # the same for the pair (full, empty): close to exact, yet well conditioned

    def kernels(self, players: int) -> tuple[Product, ...]:
        """The product kernels, each scaled to its share of the variance."""
        smooth = [
            Product(1.0, 1 / (1 + a / players), 1 / (1 + 2 * a / players)) for a in self.saturations
        ]
        rough = Product(1.0, self.rough_correlation, 1.0)
        shares = [1 / len(smooth)] * len(smooth) + [self.rough_share]
        return tuple(
            Product(share / _mean_variance(term, players), term.one, term.both)
            for share, term in zip(shares, [*smooth, rough], strict=True)
        )


PRIOR = Prior()


@dataclass(frozen=True, slots=True, eq=False)
class Kriging:
    """The surrogate h = kernel @ (solve @ odd parts), for n pairs and the pair (full, empty)."""

    solve: Array  # (n + 1, n + 1), from odd parts to kernel coefficients; without additive part
    shapley: Array  # (p, n + 1), Shapley values of each kernel function
    terms: tuple[Product, ...]  # the product kernels
    basis: Array  # the pairs of the kernel functions, full set included, (n + 1, p)

    def at(self, member: Array) -> Array:
        """Kernel between other pairs and the basis."""
        return _odd_kernel(self.terms, member, self.basis)

    def left_out(self, odd: Array) -> Array:
        """Error (n,) of predicting each pair from all others."""
        return np.asarray((self.solve @ odd / np.diag(self.solve))[:-1])


@dataclass(frozen=True, slots=True)
class Product:
    """Kernel scale * one ** (players in exactly one set) * both ** (players in both)."""

    scale: float
    one: float
    both: float


def krige(pairs: Pairs, trend: Array) -> Kriging:
    """Fit the prior to the pairs; `trend` (n + 1, q) holds the functions left unpenalised."""
    basis = pairs.with_full
    terms = PRIOR.kernels(pairs.players)
    covariance = _odd_kernel(terms, basis, basis)
    noise = np.append(PRIOR.nugget / (pairs.weight * pairs.count), PRIOR.exact)
    inverse = linalg.inv(covariance + np.diag(noise), check_finite=False)
    whitened = inverse @ trend
    explained = whitened @ np.linalg.pinv(trend.T @ whitened, hermitian=True) @ whitened.T
    return Kriging(inverse - explained, _shapley(terms, basis), terms, basis)


def _mean_variance(term: Product, players: int) -> float:
    """Prior variance of the odd part, averaged over sizes."""
    nested = np.tri(players, dtype=float)[: players // 2]
    return float(np.mean(np.diag(_odd_kernel((term,), nested, nested))))


def _odd_kernel(terms: tuple[Product, ...], first: Array, second: Array) -> Array:
    """Covariance of the odd parts at two lists of pairs.

    It depends on the two sizes and on the number of common players alone, and is looked up.
    """
    players = first.shape[1]
    common = np.rint(first @ second.T).astype(np.intp)
    sizes, row = np.unique(first.sum(axis=1).astype(int), return_inverse=True)
    others, column = np.unique(second.sum(axis=1).astype(int), return_inverse=True)
    shared = np.arange(common.max() + 1)
    table = _odd_table(terms, players, sizes[:, None, None], others[None, :, None], shared)
    return np.asarray(table[row[:, None], column[None, :], common])


def _odd_table(
    terms: tuple[Product, ...], players: int, size: IntArray, other: IntArray, common: IntArray
) -> Array:
    """The odd kernel for each size, other size and number of common players.

    Impossible combinations get a number that is never looked up.
    """
    in_one = np.clip(size + other - 2 * common, 0, players)
    neither = np.clip(players - size - other + common, 0, players)
    first_only, second_only = np.maximum(size - common, 0), np.maximum(other - common, 0)
    total = np.zeros(in_one.shape)
    for term in terms:
        one, both = (x ** np.arange(players + 1) for x in (term.one, term.both))
        same = one[in_one] * (both[common] + both[neither])
        crossed = one[players - in_one] * (both[first_only] + both[second_only])
        total += term.scale / 4 * (same - crossed)
    return total


def _shapley(terms: tuple[Product, ...], member: Array) -> Array:
    """Shapley values (p, n) of the games s -> odd kernel(s, t), one per row t.

    A game and its odd part have the same Shapley values, so only t has to be mirrored.
    """
    direct = sum(_product_shapley(term, member) for term in terms)
    mirrored = sum(_product_shapley(term, 1 - member) for term in terms)
    return np.asarray((direct - mirrored) / 2)


def _product_shapley(term: Product, member: Array) -> Array:
    """Shapley values (p, n) of s -> k(s, t): Owen's integral of a polynomial, hence exact.

    Where every player joins with probability q, a player of t contributes the factor
    `inside = (1 - q) one + q both` and any other player `outside = (1 - q) + q one`.
    """
    players = member.shape[1]
    node, mass = np.polynomial.legendre.leggauss(players // 2 + 1)
    q, mass = (node + 1) / 2, mass / 2 * term.scale
    inside = (1 - q) * term.one + q * term.both
    outside = (1 - q) + q * term.one
    size = np.arange(players + 1)[:, None]
    everyone = mass * inside**size * outside ** (players - size)
    within = (term.both - term.one) * (everyone / inside).sum(axis=1)
    without = (term.one - 1) * (everyone / outside).sum(axis=1)
    of = member.sum(axis=1).astype(int)
    return np.asarray(np.where(member.T == 1, within[of], without[of]))
