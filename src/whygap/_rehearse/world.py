"""The simulated world of a rehearsal: rows like the study's, with truths that are exact sums.

In a world whose atoms are the rows of a table, a column with thousands of distinct values would
identify every row: conditional means given such a column are those of single rows, which no
analysis can learn. So columns keep few values each. And where rows are few, a cell of W and one
covariate would still hold few rows: small tables are filled up with copies in which some
covariates are swapped between rows of one domain that agree on W.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.learning.standalone import boosted_probability
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights
from whygap.tables.design import Design

ATOMS = 20_000  # atoms: small tables are filled up with copies until there are about as many
COVARIATE_LEVELS = 8  # values per covariate, at most: curves still show, and each has many rows
ROWS_PER_CELL = 600  # pooled rows per cell of W, so that means within a cell are not noise

Key = tuple[str, str, str]  # kind of quantity, part, variable


@dataclass(frozen=True, eq=False)
class World:
    """Joint distribution of both domains on finitely many atoms.

    Attributes:
        atoms: every atom as a row of both domains, with prediction and metric.
        mass: probability of every atom in both domains, (atoms,) each.
        risk: probability that the outcome is 1 at every atom in both domains, (atoms,) each.
    """

    atoms: Design
    mass: ByDomain[Array]
    risk: ByDomain[Array]

    @cached_property
    def _codes(self) -> list[IntArray]:
        return [np.unique(c, return_inverse=True)[1] for c in self.atoms.features.source.T]

    @cached_property
    def loss(self) -> ByDomain[Array]:
        """Mean metric at every atom under the outcome law of each domain, (atoms,) each."""
        return self.risk.map(lambda p: self.atoms.intercept.source + self.atoms.slope.source * p)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Draw independent rows of each domain.

        Args:
            rows: how many of each domain.
            rng: draws the rows and the outcomes.
        """
        index = rows.zip(self.mass, lambda n, mass: rng.choice(len(mass), size=n, p=mass))
        risk = index.zip(self.risk, lambda i, p: p[i])
        outcome = risk.map(lambda p: (rng.random(len(p)) < p).astype(float))
        return replace(self.atoms.take(index), outcome=outcome)

    def truth_of_parts(self) -> dict[Key, float]:
        """Compute the gap and the three parts."""
        mean_000 = float(self.mass.source @ self.loss.source)
        mean_100 = self.transported_mean(self.atoms.baseline)
        mean_110, mean_111 = (float(self.mass.target @ loss) for loss in self.loss)
        return {
            ("gap", "", ""): mean_111 - mean_000,
            ("part", "baseline", ""): mean_100 - mean_000,
            ("part", "covariate", ""): mean_110 - mean_100,
            ("part", "outcome", ""): mean_111 - mean_110,
        }

    def truth_of_points(self) -> dict[Key, float]:
        """Compute the points of every variable: Shapley values of exact transported means."""
        w = {self.atoms.columns[c].name: (c,) for c in self.atoms.baseline}
        z = {player.name: player.columns for player in self.atoms.players}
        truths: dict[Key, float] = {}
        for part, base, players in (("baseline", (), w), ("covariate", self.atoms.baseline, z)):
            if players:
                groups = list(players.values())
                subsets = SubsetPlan(len(groups)).take(1024)  # all, up to ten variables
                columns = [(*base, *(c for k in subset for c in groups[k])) for subset in subsets]
                values = np.array([self.transported_mean(moved) for moved in columns])
                shares = linear_weights(subsets, len(groups)) @ values
                keys = [("points", part, name) for name in players]
                truths |= dict(zip(keys, map(float, shares), strict=True))
        return truths

    def transported_mean(self, columns: Sequence[int]) -> float:
        """Compute Psi(S) = E_1[E_0[l | X_S]].

        Args:
            columns: the set S, by number of the column.
        """
        groups = np.zeros(len(self.mass.source), dtype=np.int64)
        for column in columns:
            groups = _joined(groups, self._codes[column])
        mass = self.mass.source
        means = np.bincount(groups, mass * self.loss.source) / np.bincount(groups, mass)
        return float(self.mass.target @ means[groups])


def world_of(design: Design, settings: Settings) -> World:
    """Build the world in which a study's analysis is rehearsed.

    Args:
        design: the study's rows.
        settings: of the analysis; the seed is that of the copies and fits.
    """
    rows = min(design.rows)
    copies = max(1, round(ATOMS / sum(design.rows)))
    pool = enriched(coarsened(design), copies, np.random.default_rng([settings.seed, copies]))
    # 120 rounds of boosting; below 3,000 rows fewer, or the rows' noise would become the truth.
    rounds = round(120 * min(1.0, rows / 3000) ** 0.5)
    least = 0.1 * rows / sum(design.rows)  # a tenth of the smaller table's share of rows
    leaf = 30 * copies  # 30 rows of the user's own: a leaf's mean is then known to about a tenth
    mass, risk = fitted_laws(pool, (rounds, rounds // 2), leaf, least, settings.seed)

    def _in_both(values: ByDomain[Array] | None) -> Any:
        return None if values is None else ByDomain(*[np.concatenate(list(values), axis=-1)] * 2)

    features = np.concatenate(list(pool.features))
    atoms = Design(
        features=ByDomain(features, features),
        columns=pool.columns,
        baseline=pool.baseline,
        players=pool.players,
        outcome=_in_both(pool.outcome),
        prediction=_in_both(pool.prediction),
        term_intercept=_in_both(pool.term_intercept),
        term_slope=_in_both(pool.term_slope),
    )
    return World(atoms, mass, risk)


def fitted_laws(
    pool: Design,
    rounds: tuple[int, int],
    rows_per_leaf: int,
    least_share: float,
    seed: int,
    leaves: int = 12,
) -> tuple[ByDomain[Array], ByDomain[Array]]:
    """Fit probabilities of atoms and outcome risks at atoms; rounds are of risks and domain.

    Args:
        pool: the atoms of each domain.
        rounds: of boosting: of the outcome risks, of the domain.
        rows_per_leaf: the least, copies counted.
        least_share: probability of a domain, at least.
        seed: of the boosting.
        leaves: of a tree, at most.
    """
    used = pool.baseline + pool.covariates
    x_by_domain = pool.features.map(lambda rows: rows[:, used])
    x = np.concatenate(list(x_by_domain))
    categories = [k for k, c in enumerate(used) if pool.columns[c].kind == "category"]
    parameters = {"objective": "binary", "num_leaves": leaves, "learning_rate": 0.06}
    parameters |= {"min_data_in_leaf": rows_per_leaf, "num_threads": 1, "deterministic": True}
    parameters |= {"force_row_wise": True, "seed": seed, "verbosity": -1}

    def _fitted(rows: Array, y: Array, count: int) -> Array:
        return boosted_probability(rows, y, categories, parameters, count)(x)

    risk = x_by_domain.zip(pool.outcome, lambda rows, y: _fitted(rows, y, rounds[0]))
    in_target = np.repeat([0.0, 1.0], list(pool.rows))
    e = np.clip(_fitted(x, in_target, rounds[1]), least_share, 1 - least_share)
    weight = np.ones(len(e)) if pool.weights is None else np.concatenate(list(pool.weights))
    mass = ByDomain((1 - e) * weight, e * weight)
    return mass.map(lambda m: m / m.sum()), risk


def coarsened(design: Design) -> Design:
    """Leave few values per covariate, and a combination of W values per 600 rows or so.

    Args:
        design: the study's rows.
    """
    pooled = np.concatenate(list(design.features))
    # However few the rows, two values for each of two columns; before that, 10 values per column.
    cells = max(4, len(pooled) / ROWS_PER_CELL)
    levels = {c: min(len(np.unique(pooled[:, c])), 10) for c in design.baseline}
    while math.prod(levels.values()) > cells and max(levels.values()) > 2:
        levels[max(levels, key=lambda c: levels[c])] -= 1
    for column, count in (levels | dict.fromkeys(design.covariates, COVARIATE_LEVELS)).items():
        present = ~np.isnan(pooled[:, column])
        shrunk = _common_levels if design.columns[column].kind == "category" else _quantile_bins
        pooled[present, column] = shrunk(pooled[present, column], count)
    features = ByDomain(pooled[: design.rows.source], pooled[design.rows.source :])
    return replace(design, features=features, notes=())


def enriched(design: Design, copies: int, rng: np.random.Generator) -> Design:
    """Add copies of every row in which some covariates come from rows of equal domain and W.

    Args:
        design: rows with few values, see `coarsened`.
        copies: rows in place of each row, the row itself included.
        rng: draws which values are swapped.
    """

    def _with_copies(rows: Array) -> Array:
        cell = np.zeros(len(rows), dtype=np.int64)
        for column in design.baseline:
            cell = _joined(cell, np.unique(rows[:, column], return_inverse=True)[1])
        order = np.argsort(cell, kind="stable")
        sizes = np.bincount(cell)
        starts = np.cumsum(sizes) - sizes
        blocks = [rows, *(rows.copy() for _ in range(copies - 1))]
        for copy in blocks[1:]:
            for player in design.players:
                # A tenth of a covariate's values: most of a row stays together.
                swapped = np.flatnonzero(rng.random(len(rows)) < 0.1)
                place = cell[swapped]
                donor = order[
                    starts[place] + (rng.random(len(place)) * sizes[place]).astype(np.int64)
                ]
                for column in player.columns:
                    copy[swapped, column] = rows[donor, column]
        return np.vstack(blocks)

    repeated = design.take(design.rows.map(lambda rows: np.tile(np.arange(rows), copies)))
    features = design.features.map(_with_copies)
    return replace(repeated, features=features, clusters=None, source_risk=None)


def _quantile_bins(values: Array, count: int) -> Array:
    """Replace each value by the median of a quantile bin, which is a value too."""
    if len(np.unique(values)) <= count:
        return values
    edges = np.unique(np.quantile(values, np.arange(1, count) / count))
    bins = np.searchsorted(edges, values, side="right")
    medians = {b: np.quantile(values[bins == b], 0.5, method="lower") for b in np.unique(bins)}
    return np.array([medians[b] for b in bins])


def _common_levels(values: Array, count: int) -> Array:
    """Keep the codes of the most frequent levels; further levels take the code of the next."""
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) <= count:
        return values
    ordered = levels[np.argsort(-counts, kind="stable")]
    return np.where(np.isin(values, ordered[count:]), ordered[count - 1], values)


def _joined(groups: IntArray, codes: IntArray) -> IntArray:
    """Count through the combinations of two codings."""
    joint = groups * (int(codes.max()) + 1) + codes
    return np.asarray(np.unique(joint, return_inverse=True)[1], dtype=np.int64)
