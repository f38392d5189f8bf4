"""Realistic results without fitting anything: real estimates with real influence values.

`make_gap()` gives the shipped story (accuracy fell from 80.4% to 73.2%); its arguments bend it into
every case that words, figures and the report must get right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whygap._metrics import METRICS
from whygap.domains import ByDomain
from whygap.equations.corners import Decomposition, decompose
from whygap.estimate import Estimate, Sample
from whygap.estimate.combine import joint_covariance
from whygap.notes import Note
from whygap.results import (
    About,
    Affected,
    AffectedGroup,
    Budget,
    Condition,
    Diagnostics,
    Gap,
    NuisanceRecord,
    Part,
    Points,
    RatioRecord,
    Recoverable,
    Rule,
    Sampling,
    Shares,
    SubsetValue,
)
from whygap.running.about import parts_of
from whygap.settings import Settings

HEAVY = "Largest weight 19.4: a few source rows count for many."
NASTY_NAMES = (
    "<script>alert(1)</script>",
    "العمر عند الدخول",
    "年齢と学歴",
    "mood 🙂",
    "50% & more_or_less #1 {x} ~^\\",
    "quote \" and 'tick'",
)
OUTCOME_SHARES = {
    "schooling": 0.34,
    "ancestry": 0.21,
    "mobility": 0.08,
    "marital status": 0.05,
    "parents' employment": 0.01,
    "military": -0.02,
}
LABELS = ("Source-only rows", "Baseline", "Covariates", "Outcome", "Target-only rows")
CULPRITS = ("points", "affected", "recoverable")
LEVELS = ("none", "school", "high school", "college", "higher degree")
COVARIATE_SHARES = {
    "schooling": 0.62,
    "ancestry": 0.11,
    "mobility": 0.16,
    "marital status": 0.12,
    "parents' employment": 0.02,
    "military": -0.03,
}


def make_gap(
    *,
    corners: tuple[float, float, float, float] = (0.804, 0.797, 0.781, 0.732),
    metric: str = "accuracy",
    rows: tuple[int, int] = (1600, 700),
    noise: float = 1.0,
    outcome: Mapping[str, float] | None = OUTCOME_SHARES,
    covariate: Mapping[str, float] | None = COVARIATE_SHARES,
    defined: tuple[str, ...] = ("covariate", "outcome"),
    baseline: tuple[str, ...] = ("age", "sex", "race"),
    notes: Sequence[Note] = (),
    share_noise: float = 0.06,
    names: tuple[str, str] = ("US-born citizens", "non-citizens"),
    culprits: tuple[str, ...] = CULPRITS,
    won_back: tuple[float, float, float] = (0.0119, -0.0041, 0.0014),
    recalibration: float = 0.2,
    levels: tuple[str, ...] = LEVELS,
    rules: int = 1,
    table_kind: str = "pandas",
    seed: int = 0,
) -> Gap:
    """One result; corners are E_000, E_100, E_110, E_111.

    `won_back` are the three budgets' totals, of which recalibration has its share.
    """
    rng = np.random.default_rng(seed)
    sample = Sample.of(ByDomain(*rows))
    world = _World(sample, rng, noise, share_noise)
    known = next((m for m in METRICS if m.name == metric), None)
    about = _about(metric, rows, baseline, outcome or covariate or {}, names)
    about = replace(
        about,
        higher_is_better=known.higher_is_better if known else None,
        is_share=known.is_share if known else False,
        is_mean=known.is_mean if known else True,
        task=known.tasks[0] if known else "binary",
    )
    found = world.decomposition(corners, has_baseline=bool(baseline))
    players = tuple(about.players) or ("schooling",)
    # Drawn last and from seeds of their own, so that the answers move nothing else.
    made = _Answers(replace(world, rng=np.random.default_rng(seed + 1)), found)
    columns = (*baseline, *players)
    answers = {
        "points": lambda: made.points(baseline, players),
        "affected": lambda: {"outcome": made.affected(columns, levels, rules)},
        "recoverable": lambda: made.recoverable(columns, won_back, recalibration),
    }
    given = {name: answer() for name, answer in answers.items() if name in culprits}
    parts = parts_of(found, about)
    shares = {
        "covariate": world.shares("covariate", covariate, "covariate" in defined),
        "outcome": world.shares("outcome", outcome, "outcome" in defined),
    }
    return Gap(
        total=found.total,
        source=found.source,
        target=found.target,
        parts=parts,
        part_covariance=joint_covariance(list(parts.values())),
        shares={part: one for part, one in shares.items() if one is not None},
        notes=_notes(notes),
        diagnostics=_diagnostics(rows, has_baseline=bool(baseline)),
        about=about,
        table_kind=table_kind,
        **given,
    )


def with_parts(gap: Gap, **estimates: Estimate) -> Gap:
    """The result with other numbers for some parts."""
    other = {
        n: Part.named(e, gap.parts[n].label, gap.parts[n].meaning) for n, e in estimates.items()
    }
    return replace(gap, parts={**gap.parts, **other})


def not_comparable(gap: Gap, reason: str) -> Gap:
    """The result where the tables cannot be compared."""
    return replace(gap, parts={}, part_covariance=np.zeros((0, 0)), reason=reason)


def many_players(count: int, seed: int = 1) -> dict[str, float]:
    """Shares of `count` players, a few large, most near 0."""
    rng = np.random.default_rng(seed)
    raw = rng.exponential(1.0, count) ** 3
    shares = 0.8 * raw / raw.sum() + rng.normal(0, 0.004, count)
    return {f"variable_{k:02d}": float(share) for k, share in enumerate(shares)}


@dataclass(frozen=True)
class _World:
    sample: Sample
    rng: np.random.Generator
    noise: float
    share_noise: float

    def estimate(self, value: float, spread: float, plugin: float = math.nan) -> Estimate:
        """An estimate with this value and row-level spread."""
        draws = self.sample.sizes.map(lambda n: spread * self.rng.standard_normal(n))
        made = Estimate.from_contributions(
            self.sample, source=draws.source, target=draws.target, plugin=plugin
        )
        return replace(made + (value - made.value), plugin=plugin)

    def decomposition(self, corners: tuple[float, ...], has_baseline: bool) -> Decomposition:
        size = max(abs(c) for c in corners) or 1.0
        spread = self.noise * 0.45 * size
        first, last = self.rows(corners[0], spread), self.rows(corners[3], spread, "target")
        second = (
            first * 0.8 + self.estimate(corners[1] - 0.8 * corners[0], 0.12 * spread)
            if has_baseline
            else first
        )
        third = second * 0.3 + self.estimate(corners[2] - 0.3 * second.value, 0.5 * spread)
        return decompose({"000": first, "100": second, "110": third, "111": last})

    def rows(self, value: float, spread: float, domain: str = "source") -> Estimate:
        """A plain mean over one domain's rows."""
        zeros = self.sample.sizes.map(np.zeros)
        draws = spread * self.rng.standard_normal(
            self.sample.sizes["target" if domain == "target" else "source"]
        )
        pair = (zeros.source, draws) if domain == "target" else (draws, zeros.target)
        made = Estimate.from_contributions(self.sample, source=pair[0], target=pair[1])
        return replace(made + (value - made.value), plugin=value * 1.004)

    def shares(
        self, part: Literal["covariate", "outcome"], shares: Mapping[str, float] | None, ok: bool
    ) -> Shares | None:
        if shares is None:
            return None
        scale = 0.03 if ok else 0.0008
        rows = min(self.sample.sizes)
        spread = self.share_noise * 0.03 * math.sqrt(rows * min(1.0, 6 / len(shares)))
        tops = {
            name: self.estimate(scale * share, spread, plugin=scale * share * 0.9)
            for name, share in shares.items()
        }
        base = 0.0 if part == "covariate" else 1 - sum(shares.values())
        base_top = self.estimate(scale * base, spread, plugin=scale * base) * bool(base)
        denominator = sum(tops.values(), base_top)
        return _shares(part, tops, base_top, denominator, ok)


def _shares(
    part: Literal["covariate", "outcome"],
    tops: dict[str, Estimate],
    base_top: Estimate,
    denominator: Estimate,
    ok: bool,
) -> Shares:
    players = tuple(tops)
    shares = {name: top / denominator for name, top in tops.items()} if ok else {}
    covariance = np.zeros((len(shares), len(shares)))
    for i, left in enumerate(shares.values()):
        for j, right in enumerate(shares.values()):
            covariance[i, j] = left.influence.covariance(right.influence)
    chosen: list[tuple[str, ...]] = [(), *((name,) for name in players)]
    if len(players) > 1:
        chosen.append(players)
    subsets = tuple(_subset(names, tops, base_top, denominator, ok) for names in chosen)
    if not ok:
        reason = "Their size, 0.001, has a 95% interval that reaches 0."
        return Shares(part, players, denominator, reason, subsets=subsets)
    exact = len(players) <= 10
    told = "all subsets were evaluated"
    sampling = Sampling(len(subsets), 2.0 ** len(players), exact, 0.0, told)
    return Shares(
        part=part,
        players=players,
        denominator=denominator,
        base=base_top / denominator,
        values=Points(shares, covariance, sampling),
        subsets=subsets,
    )


def _subset(
    names: tuple[str, ...],
    tops: dict[str, Estimate],
    base_top: Estimate,
    denominator: Estimate,
    ok: bool,
) -> SubsetValue:
    explained = sum((tops[name] for name in names), base_top)
    numerator = denominator - explained
    return SubsetValue(names, numerator, 1 - numerator / denominator if ok else None)


def _about(
    metric: str,
    rows: tuple[int, int],
    baseline: tuple[str, ...],
    players: Mapping[str, float],
    names: tuple[str, str],
) -> About:
    return About(
        outcome="employed",
        metric=metric,
        higher_is_better=None,
        is_share=False,
        source_name=names[0],
        target_name=names[1],
        rows=ByDomain(*rows),
        effective_rows=ByDomain(float(rows[0]), float(rows[1])),
        baseline=baseline,
        players={name: (name,) for name in players},
        settings=Settings().to_mapping(),
        versions={"whygap": "0.1.0", "numpy": "2.0", "python": "3.11"},
        seconds={"aggregate": 3.2, "covariate": 10.4, "outcome": 21.9},
        created="2026-01-02T03:04:05+00:00",
    )


def _notes(notes: Sequence[Note]) -> tuple[Note, ...]:
    return (
        Note("no_shares", "info", {"reason": "Column 'year' is constant and was left out."}),
        Note("no_shares", "warning", {"reason": HEAVY}),
        *notes,
    )


def _diagnostics(rows: tuple[int, int], has_baseline: bool) -> Diagnostics:
    scores = {"logistic": 0.5312, "boosted": 0.5127}
    ratio_w = RatioRecord("pi_w", "baseline", 0.91 * rows[0], rows[0], 3.1, 0.0, 0.61)
    ratio_wz = RatioRecord(
        "pi_wz", "baseline and covariates", 0.31 * rows[0], rows[0], 19.4, 0.0, 0.83
    )
    return Diagnostics(
        nuisances=(
            NuisanceRecord(
                "mu_0_wz", "outcome", "baseline and covariates", "boosted", "log loss", scores
            ),
            NuisanceRecord(
                "mu_1_wz", "outcome", "baseline and covariates", "logistic", "log loss", scores
            ),
        ),
        ratios=(ratio_w, ratio_wz) if has_baseline else (ratio_wz,),
    )


@dataclass(frozen=True)
class _Answers:
    """Points, groups and budgets that add up to the parts they belong to."""

    world: _World
    found: Decomposition

    def points(self, baseline: Sequence[str], players: Sequence[str]) -> dict[str, Points]:
        exact = Sampling(8, 8.0, True, 0.0, "all subsets were evaluated")
        names = {"baseline": baseline, "covariate": players}
        return {
            part: self._split(self.found.parts[part], own, 0.3, exact)
            for part, own in names.items()
            if own
        }

    def _split(
        self, whole: Estimate, names: Sequence[str], noise: float, sampling: Sampling | None = None
    ) -> Points:
        """Falling shares of the whole; what the noise of the others leaves goes to the last."""
        spread = noise * whole.standard_error * math.sqrt(min(self.world.sample.sizes) / len(names))
        weights = 0.5 ** np.arange(1, len(names))
        found = [self.world.estimate(whole.value * w, spread) for w in weights]
        found.append(whole - sum(found, start=whole * 0.0))
        return Points(dict(zip(names, found, strict=True)), _covariance(found), sampling)

    def affected(self, names: Sequence[str], levels: Sequence[str], rules: int) -> Affected:
        groups = [g for k, name in enumerate(names) for g in self._groups(name, levels, 2 + k % 4)]
        points = [group.points for group in groups]
        return Affected(tuple(groups), _covariance(points), self._rules(names, levels, rules), 5)

    def _groups(self, name: str, levels: Sequence[str], count: int) -> list[AffectedGroup]:
        labels = levels[: min(count, len(levels))]
        found = self._split(self.found.parts["outcome"], labels, 0.4)
        rows = self.world.rng.dirichlet(np.full(len(labels), 4.0), size=2)
        return [
            AffectedGroup(name, label, source, target, found[label], found[label] / target)
            for label, source, target in zip(labels, *rows.tolist(), strict=True)
        ]

    def _rules(self, names: Sequence[str], levels: Sequence[str], count: int) -> tuple[Rule, ...]:
        whole = self.found.parts["outcome"]
        low, high = (whole * 0.9).interval(0.99)
        errors = (high - low) / (2 * (whole * 0.9).standard_error or 1.0)
        first, last = names[0], names[-1]
        both = Condition(first, "above", number=25.0), Condition(last, "is", levels[0])
        return (Rule(both, 0.2, 0.21, whole * 0.9, whole * 0.9 / 0.21, errors),)[:count]

    def recoverable(
        self, names: Sequence[str], totals: tuple[float, ...], recalibration: float
    ) -> Recoverable:
        here, mix, home = (self.world.estimate(total, 0.05) for total in totals)
        error = self.world.estimate(0.17, 0.2)
        own = self._budget(here, error, names, recalibration)
        return Recoverable(
            total=own.total,
            irreducible=own.irreducible,
            recalibration=own.recalibration,
            variables=own.variables,
            reweighted=Budget(total=mix, irreducible=error - mix),
            source=self._budget(home, error, names, recalibration),
            added_in_target=here - home,
        )

    def _budget(
        self, total: Estimate, error: Estimate, names: Sequence[str], recalibration: float
    ) -> Budget:
        scale = total * recalibration
        sampling = Sampling(64, 2.0 ** len(names), False, 1e-4, "the sampling error is small")
        variables = self._split(total - scale, names, 0.2, sampling)
        return Budget(
            total=total, irreducible=error - total, recalibration=scale, variables=variables
        )


def _covariance(estimates: Sequence[Estimate]) -> np.ndarray:
    known = [one.influence for one in estimates]
    return np.array([[a.covariance(b) for b in known] for a in known])
