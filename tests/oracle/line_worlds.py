"""Finite worlds with any outcome, any metric: enumerated truth, and the equations on them.

A world is a table of cells (x, y) with a probability per domain. Truth is written from the
definitions: the metric T of a distribution over cells (pairs of cells for AUC), distributions in
which some columns come from the target, and line integrals of directional derivatives of T.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from whygap.domains import Array, ByDomain, Domain, IntArray
from whygap.equations.corners import AggregateValues
from whygap.equations.lines import CornerName, Line, Term, smooth_line
from whygap.equations.pairs import Pair, PairValues, fitted, pair_line
from whygap.equations.points import TransportedValues, transported_mean
from whygap.estimate import Estimate, Sample

LEVELS = (3, 2, 3, 2)  # of the columns W1, W2, Z1, Z2
BASELINE = (0, 1)
STEPS: dict[str, tuple[CornerName, CornerName]] = {
    "baseline": ("000", "100"),
    "covariate": ("100", "110"),
    "outcome": ("110", "111"),
}
BASES = {"baseline": (), "covariate": BASELINE}
PLAYERS = {"baseline": (0, 1), "covariate": (2, 3)}


@dataclass(frozen=True, eq=False)
class LineWorld:
    """Cells with their probabilities, and a metric's terms there."""

    features: IntArray  # (cells, columns)
    outcome: Array  # per cell
    mass: ByDomain[Array]
    terms: Array  # (K, cells)
    metric: object  # of, gradient, pairs

    # -- distributions ---------------------------------------------------------------------------

    def codes(self, columns: Sequence[int]) -> IntArray:
        chosen = self.features[:, list(columns)]
        return np.unique(chosen, axis=0, return_inverse=True)[1].reshape(-1)

    def ratio(self, columns: Sequence[int]) -> Array:
        codes = self.codes(columns)
        source, target = (np.bincount(codes, mass)[codes] for mass in self.mass)
        return target / source

    def given(self, domain: Domain, columns: Sequence[int], values: Array) -> Array:
        codes, mass = self.codes(columns), self.mass[domain]
        return (np.bincount(codes, mass * values) / np.bincount(codes, mass))[codes]

    def moved(self, columns: Sequence[int]) -> Array:
        """These columns from the target, everything else as in the source."""
        return self.mass.source * self.ratio(columns)

    def corner(self, name: str) -> Array:
        if name == "111":
            return self.mass.target
        return self.moved({"000": (), "100": BASELINE, "110": (0, 1, 2, 3)}[name])

    # -- truth -----------------------------------------------------------------------------------

    def value(self, mass: Array) -> float:
        """T of a distribution over cells."""
        if not self.metric.pairs:
            return float(self.metric.of(self.terms @ mass))
        count = len(self.terms) // 2
        rho, kappa = [], []
        for y, f in zip(self.terms[:count], self.terms[count:], strict=True):
            above = (f[:, None] > f) + 0.5 * (f[:, None] == f)
            rho.append(mass @ y)
            kappa.append((mass * y) @ above @ mass)
        return float(self.metric.of(np.array(rho + kappa)))

    def along(self, step: str, difference: Array) -> float:
        """The mean of l under a difference of distributions, by T alone."""
        start, end = (self.corner(name) for name in STEPS[step])
        nodes, weights = np.polynomial.legendre.leggauss(30)
        total, h = 0.0, 2e-3
        for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            here = (1 - t) * start + t * end
            near, far = (
                self.value(here + k * h * difference) - self.value(here - k * h * difference)
                for k in (1, 2)
            )
            total += weight * (8 * near - far) / (12 * h)
        return total

    def points_value(self, step: str, columns: Sequence[int]) -> float:
        start = self.corner(STEPS[step][0])
        return self.value(start) + self.along(step, self.moved(columns) - start)

    def group_truth(self, mask: Array) -> float:
        return self.along("outcome", mask * (self.mass.target - self.corner("110")))

    # -- neighbours ------------------------------------------------------------------------------

    def towards(self, other: ByDomain[Array], domain: Domain, epsilon: float) -> "LineWorld":
        mixed = (1 - epsilon) * self.mass[domain] + epsilon * other[domain]
        return replace(self, mass=replace(self.mass, **{domain: mixed}))


def random_mass(count: int, rng: np.random.Generator) -> Array:
    mass = rng.uniform(0.3, 1.5, size=count)
    return mass / mass.sum()


def line_world(metric, terms, outcomes: Array, seed: int) -> LineWorld:
    """Random probabilities; `terms(x, y)` at every cell, x the number of the cell of features."""
    rng = np.random.default_rng(seed)
    grid = np.indices(LEVELS).reshape(len(LEVELS), -1).T
    cell = np.repeat(np.arange(len(grid)), len(outcomes))
    y = np.tile(outcomes, len(grid))
    mass = ByDomain(*(random_mass(len(cell), rng) for _ in range(2)))
    return LineWorld(grid[cell], y, mass, np.asarray(terms(cell, y), dtype=float), metric)


@dataclass(frozen=True, eq=False)
class LineOracle:
    """The equations on a world's own table, with true nuisances; `shifts` are added to some."""

    world: LineWorld
    shifts: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = ByDomain(len(self.world.outcome), len(self.world.outcome))
        object.__setattr__(self, "sample", Sample.of(sizes, self.world.mass))

    def both(self, values: Array) -> ByDomain[Array]:
        return ByDomain(values, values)

    def term(self, values: Array, name: str) -> Term:
        """A function of cells, with its true nuisances."""
        world, shift = self.world, self.shifts.get
        columns = (0, 1, 2, 3)
        known = AggregateValues(
            self.sample,
            self.both(values),
            self.both(world.given("source", BASELINE, values) + shift(f"{name} | w", 0.0)),
            self.both(world.given("source", columns, values) + shift(f"{name} | wz", 0.0)),
            world.ratio(BASELINE) + shift("pi_w", 0.0),
            world.ratio(columns) + shift("pi_wz", 0.0),
        )
        return Term(known, self.both(values))

    @cached_property
    def lines(self) -> dict[str, Line]:
        metric = self.world.metric
        if metric.pairs:
            terms, line = self.pairs(), pair_line
        else:
            terms, line = (
                [self.term(u, f"u{k}") for k, u in enumerate(self.world.terms)],
                smooth_line,
            )
        return {n: line(terms, *step, metric.of, metric.gradient) for n, step in STEPS.items()}

    def pairs(self) -> list[Pair]:
        count = len(self.world.terms) // 2
        labels, scores = self.world.terms[:count], self.world.terms[count:]
        return [self.pair(k, y, f) for k, (y, f) in enumerate(zip(labels, scores, strict=True))]

    def pair(self, k: int, y: Array, f: Array) -> Pair:
        grid, places = np.unique(f, return_inverse=True)
        label = self.term(y, f"y{k}")
        known = label.values
        basis = np.equal(self.world.codes(BASELINE), np.arange(6)[:, None]).astype(float)
        values = PairValues(
            self.sample,
            known.loss,
            known.mu_0_wz,
            self.both(places),
            len(grid),
            known.pi_w,
            known.pi_wz,
            self.both(basis),
        )
        fits = {c: fitted(values, c) for c in ("000", "100", "110", "111")}
        v = {}
        for c, fit in fits.items():
            above, rank = fit.above[places], fit.rank[places]
            term = self.term(above + rank * y, f"v{k} {c}")
            mu_0_wz = self.both(above + rank * values.p_0.source)
            v[c] = replace(term, values=replace(term.values, mu_0_wz=mu_0_wz))
        return Pair(values, fits, label, v, values.places)

    def points(self, step: str, columns: Sequence[int]) -> Estimate:
        """The metric after these columns moved, in one step's line."""
        world, line = self.world, self.lines[step]
        loss, shift = line.term.values.loss.source, self.shifts.get
        pi_s = world.ratio(columns) + shift("pi_s", 0.0)
        mu_s = world.given("source", columns, loss) + shift("mu_s", 0.0)
        mean = transported_mean(TransportedValues(self.sample, loss, self.both(mu_s), pi_s))
        start = np.ones_like(pi_s) if step == "baseline" else line.term.values.pi_w
        return line.moved(mean, pi_s - start)

    def group(self, mask: Array) -> Estimate:
        return self.lines["outcome"].contribution(self.both(mask))
