"""A latent linear outcome: as it is, cut in two, or cut in three; any metric has a truth here.

Columns W1, W2, Z1, Z2, Z3 are normal and correlated; the latent outcome is y* = x'beta_d + noise,
with other coefficients in the target. The model has coefficients of its own: it says t = x'm of a
real outcome, or what follows from t for the risks of two or three classes. So every metric is a
function of (t, y*), which is bivariate normal wherever columns come from: in the source, in the
target, or some from here and the rest as there. Truths are in `latent_answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from experiments.worlds.world import Corners, Subset, SubsetTruth
from whygap._metrics import Metric, Task, metric_named
from whygap.domains import Array, ByDomain, Domain
from whygap.errors import InputError
from whygap.tables.design import Column, Design, Order, Player

__all__ = ["LatentWorld", "Law", "moved"]

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


def moved(columns: Sequence[int], laws: ByDomain[Law] = LAWS) -> Law:
    """These columns as in the target, the others given them as in the source."""
    source, target = laws
    size = len(source.mean)
    here, rest = list(columns), [c for c in range(size) if c not in columns]
    if not here:
        return source
    along = source.cov[np.ix_(rest, here)] @ np.linalg.inv(source.cov[np.ix_(here, here)])
    own = target.cov[np.ix_(here, here)]
    left = source.cov[np.ix_(rest, rest)] - along @ source.cov[np.ix_(here, rest)]
    mean, cov = np.empty(size), np.empty((size, size))
    mean[here] = target.mean[here]
    mean[rest] = source.mean[rest] + along @ (target.mean[here] - source.mean[here])
    cov[np.ix_(here, here)] = own
    cov[np.ix_(rest, here)] = along @ own
    cov[np.ix_(here, rest)] = (along @ own).T
    cov[np.ix_(rest, rest)] = left + along @ own @ along.T
    return Law(mean, cov)


class OutcomeFirst(Corners):
    """The third corner has W and the outcome from the target, Z given both from the source."""

    @property
    def covariate(self) -> float:
        """Of Z given W and the outcome."""
        return self.mean_111 - self.mean_110

    @property
    def outcome(self) -> float:
        """Of the outcome given W."""
        return self.mean_110 - self.mean_100


@dataclass(frozen=True)
class LatentWorld:
    """The world described above, scored by one metric of one kind of outcome."""

    metric: str = "auc"
    task: Task = "binary"
    order: Order = "covariates first"

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players."""
        return NAMES[len(BASELINE) :]

    @property
    def given_metric(self) -> Metric:
        """With all that its terms need."""
        metric = metric_named(self.metric, self.task)
        needed = {"threshold": 0.5, "classes": len(CUTS[self.task]) + 1, "quantile": 0.8}
        return metric.bind(**needed, centre=0.0)

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
        kept["order"] = self.order
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
        from experiments.worlds.latent_answers import LatentAnswers

        answers = LatentAnswers(self)
        found = (answers.value(answers.corner(c)) for c in ("000", "100", "110", "111"))
        return (OutcomeFirst if self.order == "outcome first" else Corners)(*found)

    def covariate_truth(self, subset: Subset) -> SubsetTruth:
        """Not followed here."""
        raise InputError("The latent world has no values of subsets", got=f"subset {subset}")

    def outcome_truth(self, subset: Subset, bins: int | None = 20) -> SubsetTruth:
        """Not followed here."""
        raise InputError("The latent world has no values of subsets", got=f"{subset}, {bins}")


def _label(shown: Array) -> Array:
    return shown if shown.ndim == 1 else shown.argmax(axis=1).astype(float)
