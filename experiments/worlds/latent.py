"""A latent linear outcome: as it is, cut in two, or cut in three; any metric has a truth here.

Columns W1, W2, Z1, Z2, Z3 are normal and correlated; the latent outcome is y* = x'beta_d + noise,
with other coefficients in the target. The model has coefficients of its own: it says t = x'm of a
real outcome, or what follows from t for the risks of two or three classes. So every metric is a
function of (t, y*), which is bivariate normal wherever columns come from: in the source, in the
target, or some from here and the rest as there. Truths (`LatentAnswers`) are sums over a fine grid
of (t, y*): the metric T of each distribution, and derivatives of T along the lines between corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from experiments.worlds.answers import Above, GroupTruth, PointsTruth, own_players, points_from
from whygap._metrics import Metric, Task, metric_named, pair_means
from whygap.domains import Array, ByDomain, Domain
from whygap.errors import InputError
from whygap.simulate.world import Corners, Subset, SubsetTruth
from whygap.tables.design import Column, Design, Player

__all__ = ["LatentAnswers", "LatentWorld"]

NAMES = ("W1", "W2", "Z1", "Z2", "Z3")
BASELINE = (0, 1)
CORRELATION = 0.4  # of neighbouring columns, in both domains
MEANS = ByDomain(np.zeros(5), np.array([0.4, -0.2, 0.5, 0.0, -0.3]))
SPREADS = ByDomain(np.ones(5), np.array([1.0, 1.0, 1.0, 1.2, 0.9]))
COEFFICIENTS = ByDomain(
    np.array([0.4, -0.3, 0.8, -0.5, 0.5]), np.array([0.4, -0.3, 0.5, -0.5, 0.9])
)
MODEL = np.array([0.4, -0.3, 0.8, -0.5, 0.2])  # it makes too little of Z3
CUTS: dict[Task, tuple[float, ...]] = {
    "binary": (0.3,),
    "multiclass": (-0.6, 0.7),
    "regression": (),
}
NODES = 561  # of t and of y* each: halving their number moves no truth by more than a few 1e-5
REACH = 6.5  # standard deviations of the widest distribution, to either side


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A normal law of the columns."""

    mean: Array
    cov: Array


def _law(domain: Domain) -> Law:
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    spread = SPREADS[domain]
    return Law(MEANS[domain], np.outer(spread, spread) * CORRELATION**distance)


LAWS = ByDomain(_law("source"), _law("target"))


def moved(columns: Sequence[int]) -> Law:
    """These columns as in the target, the others given them as in the source."""
    here, rest = list(columns), [c for c in range(5) if c not in columns]
    source, target = LAWS
    if not here:
        return source
    along = source.cov[np.ix_(rest, here)] @ np.linalg.inv(source.cov[np.ix_(here, here)])
    own = target.cov[np.ix_(here, here)]
    left = source.cov[np.ix_(rest, rest)] - along @ source.cov[np.ix_(here, rest)]
    mean, cov = np.empty(5), np.empty((5, 5))
    mean[here] = target.mean[here]
    mean[rest] = source.mean[rest] + along @ (target.mean[here] - source.mean[here])
    cov[np.ix_(here, here)] = own
    cov[np.ix_(rest, here)] = along @ own
    cov[np.ix_(here, rest)] = (along @ own).T
    cov[np.ix_(rest, rest)] = left + along @ own @ along.T
    return Law(mean, cov)


@dataclass(frozen=True)
class LatentWorld:
    """The world described above, scored by one metric of one kind of outcome."""

    metric: str = "auc"
    task: Task = "binary"

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return NAMES[len(BASELINE) :]

    @property
    def given_metric(self) -> Metric:
        """With all that its terms need."""
        metric = metric_named(self.metric, self.task)
        needed = {"threshold": 0.5, "classes": len(CUTS[self.task]) + 1, "quantile": 0.8}
        return metric.given(**needed, centre=0.0)

    def outcome(self, latent: Array) -> Array:
        """Of the latent one."""
        cuts = CUTS[self.task]
        return np.digitize(latent, cuts).astype(float) if cuts else latent

    def shown(self, t: Array) -> Array:
        """What the metric is shown of the model, by its linear part."""
        if self.task == "regression":
            return t
        below = special.ndtr(np.subtract.outer(np.array(CUTS[self.task]), t))
        inner = np.diff(np.vstack([np.zeros_like(t), below, np.ones_like(t)]), axis=0).T
        wants = self.given_metric.wants
        if self.task == "binary":
            return (inner[:, 1] >= 0.5).astype(float) if wants == "label" else inner[:, 1]
        return inner if wants == "classes" else inner.argmax(axis=1).astype(float)

    def draw(self, rows: ByDomain[int], rng: np.random.Generator) -> Design:
        """Independent rows of both domains."""
        features = LAWS.zip(rows, lambda law, n: rng.multivariate_normal(law.mean, law.cov, size=n))
        t = features.map(lambda x: x @ MODEL)
        noise = rows.map(lambda n: rng.standard_normal(n))
        latent = features.zip(COEFFICIENTS, np.matmul).zip(noise, np.add)
        outcome, shown = latent.map(self.outcome), t.map(self.shown)
        metric = self.given_metric
        kept = {"features": features, "outcome": outcome, "task": self.task, "metric": metric}
        kept["columns"] = tuple(Column(name, "numeric") for name in NAMES)
        kept["players"] = tuple(Player(name, (NAMES.index(name),)) for name in self.players)
        if self.task == "binary":
            score = t.map(lambda one: special.ndtr(one - CUTS["binary"][0]))
            terms = score.map(lambda f: metric.term_coefficients(f, 0.5))
            both = {"term_intercept": terms.map(lambda p: p[0])}
            both |= {"term_slope": terms.map(lambda p: p[1])}
            return Design(baseline=BASELINE, prediction=score, **kept, **both)
        observed = shown.zip(outcome, metric.per_row)
        label = shown if self.task == "regression" else shown.map(_label)
        classes = tuple(f"class {k}" for k in range(len(CUTS[self.task]) + 1))
        scores = {"classes": classes} if self.task == "multiclass" else {}
        return Design(
            baseline=BASELINE, prediction=label, observed_terms=observed, **kept, **scores
        )

    def corners(self) -> Corners:
        """The metric at the true corners."""
        answers = LatentAnswers(self)
        return Corners(*(answers.value(answers.corner(c)) for c in ("000", "100", "110", "111")))

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """Not followed here."""
        raise InputError("The latent world has no values of subsets", got=f"subset {subset}")

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """Not followed here."""
        raise InputError("The latent world has no values of subsets", got=f"{subset}, {bins}")


def _label(shown: Array) -> Array:
    return shown if shown.ndim == 1 else shown.argmax(axis=1).astype(float)


@dataclass(frozen=True)
class LatentAnswers:
    """Truths of the latent world, on a grid of (t, y*)."""

    world: LatentWorld

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Nodes of t and of y*; cuts of the outcome lie halfway between two nodes."""
        laws = [
            _of_pair(LAWS[d], risk) for d in ("source", "target") for risk in ("source", "target")
        ]
        low = np.min([m - REACH * np.sqrt(np.diag(v)) for m, v in laws], axis=0)
        high = np.max([m + REACH * np.sqrt(np.diag(v)) for m, v in laws], axis=0)
        t, y = (np.linspace(a, b, NODES) for a, b in zip(low, high, strict=True))
        cuts = CUTS[self.world.task]
        if len(cuts) == 2:  # as wide as makes both cuts fall between nodes
            step = (cuts[1] - cuts[0]) / max(round((cuts[1] - cuts[0]) / (y[1] - y[0])), 1)
            y = y[0] + step * np.arange(NODES)
        if cuts:
            step = y[1] - y[0]
            y = y + (cuts[0] - y[0]) % step - step / 2
            step = t[1] - t[0]  # the label of two values changes there, too
            t = t + (cuts[0] - t[0]) % step - step / 2
        return t, y

    @cached_property
    def terms(self) -> Array:
        """The metric's terms at every cell, (K, cells of t, cells of y*)."""
        t, y = self.axes
        shown, outcome = self.world.shown(t), self.world.outcome(y)
        metric = self.world.given_metric
        rows = [metric.per_row(shown, np.full(len(t), value)) for value in np.unique(outcome)]
        at = np.unique(outcome, return_inverse=True)[1]
        return np.stack([rows[k] for k in at], axis=2)

    def mass(self, law: Law, risk: Domain, above: Above | None = None) -> Array:
        """Of every cell, (t, y*); of the rows above a cut, where one is given."""
        mean, cov = _of_pair(law, risk)
        t, y = self.axes
        cells = np.stack(np.meshgrid(t, y, indexing="ij"), axis=-1) - mean
        inverse = np.linalg.inv(cov)
        density = np.exp(-0.5 * np.einsum("...i,ij,...j->...", cells, inverse, cells))
        mass = density / density.sum()
        if above is None:
            return mass
        if above.column is None:
            score = special.ndtr(t - CUTS["binary"][0]) if self.world.task == "binary" else t
            return mass * (score > above.cut)[:, None]
        with_pair = _covariance_with_pair(law, risk)[above.column] @ inverse
        left = law.cov[above.column, above.column] - with_pair @ cov @ with_pair
        inside = (law.mean[above.column] + cells @ with_pair - above.cut) / np.sqrt(left)
        return np.asarray(mass * special.ndtr(inside))

    def corner(self, name: str) -> Array:
        """The distribution of (t, y*) at a corner."""
        columns = {"000": (), "100": BASELINE}.get(name, tuple(range(5)))
        return self.mass(moved(columns), "target" if name == "111" else "source")

    def means(self, mass: Array) -> Array:
        """What the metric is a function of."""
        metric = self.world.given_metric
        terms = self.terms.reshape(len(self.terms), -1)
        if metric.pairs:
            return pair_means(terms, mass.ravel())
        return np.asarray(terms @ mass.ravel())

    def value(self, mass: Array) -> float:
        """The metric of a distribution."""
        return float(self.world.given_metric.of(self.means(mass)))

    def along(self, start: str, end: str, difference: Array) -> float:
        """The mean of a step's l under a difference of distributions."""
        first, last = self.corner(start), self.corner(end)
        nodes, weights = np.polynomial.legendre.leggauss(5)
        metric, total, step = self.world.given_metric, 0.0, 0.05
        for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            here = (1 - node) * first + node * last
            at = self.means(here)
            # Means are at most quadratic in the distribution: central differences are exact.
            up, down = (self._unscaled(here + s * difference) for s in (step, -step))
            total += float(weight * metric.gradient(at) @ (up - down) / (2 * step))
        return total

    def _unscaled(self, mass: Array) -> Array:
        """`means` of a mass that need not sum to 1, as polynomials of the mass."""
        if not self.world.given_metric.pairs:
            return self.means(mass)
        (label, score), rows = self.terms.reshape(2, -1), mass.ravel()
        place = np.unique(score, return_inverse=True)[1]
        here, positive = np.bincount(place, rows), np.bincount(place, rows * label)
        return np.array([positive.sum(), positive @ (np.cumsum(here) - here / 2)])

    def transported_mean(self, columns: Sequence[int]) -> float:
        """The metric after these columns moved, by the line of the step they belong to."""
        chosen = tuple(sorted(columns))
        steps = ("100", "110") if set(BASELINE) < set(chosen) else ("000", "100")
        start = self.corner(steps[0])
        change = self.mass(moved(chosen), "source") - start
        return self.value(start) + self.along(*steps, change)

    def points(self) -> PointsTruth:
        """Shapley points of both games."""
        columns = tuple(Column(name, "numeric") for name in NAMES)
        covariate = own_players(columns, range(len(BASELINE), 5))
        return points_from(self.transported_mean, own_players(columns, BASELINE), covariate)

    def group(self, group: Above) -> GroupTruth:
        """What a group contributes to the outcome part."""
        law = LAWS.target
        after, before = (self.mass(law, risk, group) for risk in ("target", "source"))
        share = float(after.sum())
        return GroupTruth(self.along("110", "111", after - before), share)


def _of_pair(law: Law, risk: Domain) -> tuple[Array, Array]:
    """Mean and covariance of (t, y*)."""
    rows = np.stack([MODEL, COEFFICIENTS[risk]])
    return rows @ law.mean, rows @ law.cov @ rows.T + np.diag([0.0, 1.0])


def _covariance_with_pair(law: Law, risk: Domain) -> Array:
    rows = np.stack([MODEL, COEFFICIENTS[risk]])
    return np.asarray(law.cov @ rows.T)
