"""Share v_Z and v_Y among the covariates (section 4.2.2, Algorithm 4), and revise with some."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whygap._metrics import metric_named
from whygap.domains import Array, ByDomain, Subset
from whygap.estimate import Estimate
from whygap.estimate.combine import linear_map
from whygap.paper import values
from whygap.paper.nuisances import LearnerName, Nuisances
from whygap.paper.values import Form, SubsetValue
from whygap.study import Study


@dataclass(frozen=True, slots=True)
class Shares:
    """Hold phi_j of every covariate and phi_0 = v(empty), which sum to v(all) = 1."""

    values: Mapping[str, Estimate]
    base: Estimate  # phi_0
    subsets: Mapping[tuple[str, ...], SubsetValue]  # v of every subset that was drawn, by names
    draws: int  # of subsets, floor(gamma n)


@dataclass(frozen=True, slots=True)
class Detailed:
    """Hold the detailed decomposition of the covariate and of the outcome part."""

    covariate: Shares
    outcome: Shares


def detailed(
    study: Study,
    *,
    gamma: float = 1.0,
    form: Form = "identity",
    bins: int = 20,
    learner: LearnerName = "paper",
    seed: int = 0,
) -> Detailed:
    """Estimate the Shapley shares of v_Z and v_Y by Algorithm 4.

    Args:
        study: see `aggregate`.
        gamma: subsets drawn for each evaluation row.
        form: of the numerator of v_Y, see `value_outcome`.
        bins: B of the binned source risk.
        learner: "paper" or "fast".
        seed: of the split, the forests and the subsets.
    """
    n = Nuisances.from_study(study, learner, seed, bins)
    n_draws = math.floor(gamma * sum(len(rows) for rows in n.evaluation))
    names = [player.name for player in n.design.players]
    subsets = draw_subsets(len(names), n_draws, seed)

    def _solve(numerator: Callable[[Subset], Estimate], denominator: Estimate) -> Shares:
        valued = {
            tuple(names[j] for j in s): SubsetValue(numerator(s), denominator) for s in subsets
        }
        base, *phi = shapley_shares(subsets, [v.value for v in valued.values()], len(names))
        return Shares(dict(zip(names, phi, strict=True)), base, valued, n_draws)

    return Detailed(
        _solve(lambda s: values.covariate_numerator(n, s), values.covariate_numerator(n, ())),
        _solve(lambda s: values.outcome_numerator(n, s, form, 2000), values.outcome_denominator(n)),
    )


def draw_subsets(players: int, n_draws: int, seed: int = 0) -> Counter[Subset]:
    """Draw subsets by their Shapley weights and count them; the empty and the full set come first.

    Sizes k are drawn with chances in proportion to 1 / (k (p - k)), then k of the p players.

    Args:
        players: the number p of covariates.
        n_draws: subsets drawn, with repetition.
        seed: of the draws.
    """
    rng = np.random.default_rng([seed, 3])
    subsets = Counter({(): 1, tuple(range(players)): 1})
    sizes = np.arange(1, players)
    chance = 1 / (sizes * (players - sizes))
    for size in rng.choice(sizes, size=n_draws, p=chance / chance.sum()) if len(sizes) else ():
        subsets[tuple(sorted(rng.choice(players, size, replace=False).tolist()))] += 1
    return subsets


def shapley_shares(
    subsets: Counter[Subset], valued: list[Estimate], players: int
) -> list[Estimate]:
    """Solve the constrained least squares (7) of Williamson and Feng (2020): phi_0, ..., phi_p.

    Minimise the sum over draws s of (v(s) - z_s' phi)^2, z_s = (1, membership), such that phi_0 =
    v(empty) and the sum is v(all). The solution is linear in v, which carries the influence of
    rows over; their Theorem 1 adds the variance of drawing subsets.

    Args:
        subsets: how often each was drawn; the empty and the full set come first.
        valued: the estimate v(s) of each subset, in order.
        players: the number p of covariates.
    """
    z = np.array([[1.0, *(j in s for j in range(players))] for s in subsets])
    count = np.array([*subsets.values()], dtype=float)
    count[:2] = 0  # exactly fitted, not drawn
    ends = z[:2]
    inner = z * count[:, None]
    free = np.linalg.qr(ends.T, mode="complete")[0][:, 2:]  # null space of the two constraints
    start = np.linalg.pinv(ends) @ np.eye(2, len(z))
    solve = free @ np.linalg.pinv(free.T @ inner.T @ z @ free) @ free.T @ inner.T
    weights: Array = start + solve @ (np.eye(len(z)) - z @ start)
    v = np.array([value.value for value in valued])
    residual = v - z @ (weights @ v)
    root = np.divide(1, np.sqrt(count), out=np.zeros_like(count), where=count > 0)
    return linear_map(weights, valued, draws=(solve * (residual * root)).T)


@dataclass(frozen=True, slots=True)
class Revision:
    """Hold the AUC on held-out target rows before and after a revision, and the difference."""

    before: Estimate
    after: Estimate
    difference: Estimate


def revise(
    study: Study, variables: str | Sequence[str], *, learner: LearnerName = "paper", seed: int = 0
) -> Revision:
    """Fit p_1(Y=1 | Q, W, Z_s) on 80% of the target rows and measure the AUC on the rest.

    Q is the source risk p_0(Y=1 | W, Z), fitted on source rows.

    Args:
        study: see `aggregate`.
        variables: names of Z_s, for example those of the largest outcome shares.
        learner: "paper" or "fast".
        seed: of the split and of the forests.
    """
    n = Nuisances.from_study(study, learner, seed)
    columns = n.design.subset_columns(n.players(variables))
    risk = n.mean("target", n.design.outcome.target, columns, n.p_0)
    weights = n.sample.weights
    auc = metric_named("auc")

    def _measure(score: Array) -> Estimate:
        terms = np.stack([n.design.outcome.target, score])[:, n.evaluation.target]
        centred = ByDomain(np.zeros_like(weights.source), auc.influence(terms, weights.target))
        value = auc.value(terms, weights.target)
        return Estimate.of(value, n.sample.influence(centred), n.sample.key)

    before = _measure(n.design.prediction.target)
    after = _measure(risk.target)
    return Revision(before, after, after - before)
