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
from whygap.equations import covariate_value, outcome_value
from whygap.equations.corners import AggregateValues
from whygap.equations.covariate_value import CovariateValues
from whygap.equations.lines import CornerName, Line, Term, smooth_line
from whygap.equations.outcome_value import OutcomeValues, Reduced
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
OUTCOME = 4  # the outcome's place, where it is one of the columns
STEPS_OUTCOME_FIRST: dict[str, tuple[CornerName, CornerName]] = {
    "baseline": ("000", "100"),
    "outcome": ("100", "110"),
    "covariate": ("110", "111"),
}
PLAYERS = {"baseline": (0, 1), "covariate": (2, 3)}


@dataclass(frozen=True, eq=False)
class LineWorld:
    """Cells with their probabilities, and a metric's terms there."""

    features: IntArray  # (cells, columns)
    outcome: Array  # per cell
    mass: ByDomain[Array]
    terms: Array  # (K, cells)
    metric: object  # of, gradient, pairs
    outcome_first: bool = False

    @property
    def steps(self) -> dict[str, tuple[CornerName, CornerName]]:
        return STEPS_OUTCOME_FIRST if self.outcome_first else STEPS

    @property
    def second(self) -> tuple[int, ...]:
        """What has moved at the corner 110."""
        return (*BASELINE, OUTCOME) if self.outcome_first else (0, 1, 2, 3)

    # -- distributions ---------------------------------------------------------------------------

    def codes(self, columns: Sequence[int]) -> IntArray:
        chosen = np.column_stack([self.features, self.outcome])[:, list(columns)]
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
        return self.moved({"000": (), "100": BASELINE, "110": self.second}[name])

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
        start, end = (self.corner(name) for name in self.steps[step])
        nodes, weights = np.polynomial.legendre.leggauss(12)
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
        start = self.corner(self.steps[step][0])
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
        columns = world.second
        known = AggregateValues(
            self.sample,
            self.both(values),
            self.both(world.given("source", BASELINE, values) + shift(f"{name} | w", 0.0)),
            self.both(world.given("source", columns, values) + shift(f"{name} | wz", 0.0)),
            world.ratio(BASELINE) + shift("pi_w", 0.0),
            world.ratio(columns) + shift("pi_wz", 0.0),
        )
        if not np.isin(world.outcome, (0.0, 1.0)).all():
            return Term(known, self.both(values))
        at_zero, at_one = values.reshape(-1, 2).T
        intercept, slope = (np.repeat(one, 2) for one in (at_zero, at_one - at_zero))
        return Term(known, self.both(values), self.both(intercept), self.both(slope))

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
        steps = self.world.steps.items()
        return {n: line(terms, *step, metric.of, metric.gradient) for n, step in steps}

    def pairs(self) -> list[Pair]:
        count = len(self.world.terms) // 2
        labels, scores = self.world.terms[:count], self.world.terms[count:]
        return [self.pair(k, y, f) for k, (y, f) in enumerate(zip(labels, scores, strict=True))]

    def pair(self, k: int, y: Array, f: Array) -> Pair:
        grid, places = np.unique(f, return_inverse=True)
        label = self.term(y, f"y{k}")
        known = label.values
        basis = np.equal(self.world.codes(BASELINE), np.arange(6)[:, None]).astype(float)
        first = self.world.outcome_first
        cells = self.world.codes(self.world.second)
        given = np.equal(cells, np.arange(cells.max() + 1)[:, None]).astype(float)
        values = PairValues(
            self.sample,
            known.loss,
            None if first else known.mu_0_wz,
            self.both(places),
            len(grid),
            known.pi_w,
            known.pi_wz,
            self.both(basis),
            self.both(given) if first else None,
        )
        fits = {c: fitted(values, c) for c in ("000", "100", "110", "111")}
        v = {}
        for c, fit in fits.items():
            above, rank = fit.above[places], fit.rank[places]
            term = self.term(above + rank * y, f"v{k} {c}")
            v[c] = term
            if not first:
                mu_0_wz = self.both(above + rank * known.mu_0_wz.source)
                v[c] = replace(term, values=replace(term.values, mu_0_wz=mu_0_wz))
        return Pair(values, fits, label, v, values.places)

    def points(self, step: str, columns: Sequence[int]) -> Estimate:
        """The metric after these columns moved, in one step's line."""
        world, line = self.world, self.lines[step]
        loss, shift = line.term.values.loss.source, self.shifts.get
        pi_s = world.ratio(columns) + shift("pi_s", 0.0)
        mu_s = world.given("source", columns, loss) + shift("mu_s", 0.0)
        mean = transported_mean(TransportedValues(self.sample, loss, self.both(mu_s), pi_s))
        start = np.ones_like(pi_s)
        if step == "covariate":
            values = line.term.values
            start = values.pi_wz if world.outcome_first else values.pi_w
        return line.moved(mean, pi_s - start)

    def group(self, mask: Array) -> Estimate:
        return self.lines["outcome"].contribution(self.both(mask))

    # -- the paper's shares, for outcomes 0 and 1 ------------------------------------------------

    def covariate_numerator(self, subset: Sequence[int]) -> Estimate:
        """Of v_Z(s); `subset` are columns of Z."""
        world, line = self.world, self.lines["covariate"]
        columns = (*BASELINE, *subset)
        values = line.term.values
        mu_00_wzs = world.given("source", columns, values.loss.source)
        mu_s0_w = world.given("target", BASELINE, mu_00_wzs)
        mu_10_w = world.given("target", BASELINE, values.mu_0_wz.source)
        pi_wzs = world.ratio(columns)
        doubled = [self.twins(f) for f in (values.mu_0_wz.source, mu_10_w, mu_00_wzs, mu_s0_w)]
        squared = covariate_value.numerator(
            CovariateValues(self.sample, values.loss.source, values.pi_wz, pi_wzs, *doubled)
        )
        weight = 2 * (mu_s0_w - mu_10_w) * (pi_wzs - values.pi_wz)
        return line.with_shift_error(squared, weight)

    def outcome_values(self) -> OutcomeValues:
        world = self.world
        p_0, p_1 = (world.given(d, (0, 1, 2, 3), world.outcome) for d in ("source", "target"))
        return OutcomeValues(
            self.sample,
            self.both(world.outcome),
            self.lines["outcome"].term.slope,
            world.ratio((0, 1, 2, 3)),
            self.twins(p_0),
            self.twins(p_1),
        )

    def outcome_numerator(self, subset: Sequence[int]) -> Estimate:
        """Of v_Y(s), G = (W, Z_s) without the source risk."""
        world, values = self.world, self.outcome_values()
        columns, slope = (*BASELINE, *subset), values.slope.target
        m = world.given("target", columns, world.outcome)
        h = world.given("target", columns, slope**2 * (world.outcome - m))
        reduced = Reduced(self.twins(m).target, self.twins(h).target, risk=None)
        squared = outcome_value.numerator(values, reduced)
        return self._with_slope_error(squared, values.p_1.target[0, 0] - m)

    def outcome_denominator(self) -> Estimate:
        values = self.outcome_values()
        away = values.p_1.target[0, 0] - values.p_0.target[0, 0]
        return self._with_slope_error(outcome_value.denominator(values), away)

    def _with_slope_error(self, squared: Estimate, away: Array) -> Estimate:
        line = self.lines["outcome"]
        mass = 2 * line.term.slope.target * away**2 * self.world.mass.target
        return line.with_slope_error(squared, mass)

    def twins(self, values: Array) -> ByDomain[Array]:
        return self.both(np.broadcast_to(values, (1, 2, len(values))))


@dataclass(frozen=True, eq=False)
class SharesTruth:
    """Numerators of the paper's shares by their definitions, l from derivatives of T."""

    world: LineWorld

    def slope(self) -> Array:
        """b(x) of the outcome step's l, at every cell."""
        found = np.zeros(len(self.world.outcome))
        for cell in range(0, len(found), 2):
            flip = np.zeros(len(found))
            flip[cell], flip[cell + 1] = -1.0, 1.0
            found[cell : cell + 2] = self.world.along("outcome", flip)
        return found

    def outcome_numerator(self, subset: Sequence[int]) -> float:
        world = self.world
        p_1, m = (
            world.given("target", columns, world.outcome)
            for columns in ((0, 1, 2, 3), (*BASELINE, *subset))
        )
        return float(world.mass.target @ (self.slope() * (p_1 - m)) ** 2)

    def outcome_denominator(self) -> float:
        world = self.world
        p_0, p_1 = (world.given(d, (0, 1, 2, 3), world.outcome) for d in ("source", "target"))
        return float(world.mass.target @ (self.slope() * (p_1 - p_0)) ** 2)

    def covariate_numerator(self, subset: Sequence[int]) -> float:
        world = self.world
        loss = np.array([world.along("covariate", cell) for cell in np.eye(len(world.outcome))])
        mu_0_wz = world.given("source", (0, 1, 2, 3), loss)
        mu_00_wzs = world.given("source", (*BASELINE, *subset), loss)
        mu_10_w, mu_s0_w = (world.given("target", BASELINE, f) for f in (mu_0_wz, mu_00_wzs))
        return float(world.mass.target @ (mu_s0_w - mu_10_w) ** 2)
