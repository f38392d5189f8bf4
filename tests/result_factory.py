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
from whygap.estimate import Estimate, Sample
from whygap.results import (
    About,
    Aggregate,
    Detailed,
    Diagnostics,
    Gap,
    NuisanceRecord,
    Profile,
    RatioRecord,
    Sampling,
    SubsetValue,
)
from whygap.settings import Settings
from whygap.tables.design import Note

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
    table_kind: str = "pandas",
    seed: int = 0,
) -> Gap:
    """One result; corners are E_000, E_100, E_110, E_111."""
    rng = np.random.default_rng(seed)
    sample = Sample.of(ByDomain(*rows))
    world = _World(sample, rng, noise, share_noise)
    known = METRICS.get(metric)
    about = _about(metric, rows, baseline, outcome or covariate or {}, names)
    about = replace(
        about,
        higher_is_better=known.higher_is_better if known else None,
        is_share=known.is_share if known else False,
    )
    return Gap(
        aggregate=world.aggregate(corners, has_baseline=bool(baseline)),
        covariate=world.detailed("covariate", covariate, "covariate" in defined),
        outcome=world.detailed("outcome", outcome, "outcome" in defined),
        diagnostics=_diagnostics(rows, notes, has_baseline=bool(baseline)),
        about=about,
        profiles=_profiles(rng, tuple(outcome or covariate or {})),
        table_kind=table_kind,
    )


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

    def aggregate(self, corners: tuple[float, ...], has_baseline: bool) -> Aggregate:
        size = max(abs(c) for c in corners) or 1.0
        spread = self.noise * 0.45 * size
        first, last = self.rows(corners[0], spread), self.rows(corners[3], spread, "target")
        second = (
            first * 0.8 + self.estimate(corners[1] - 0.8 * corners[0], 0.12 * spread)
            if has_baseline
            else first
        )
        third = second * 0.3 + self.estimate(corners[2] - 0.3 * second.value, 0.5 * spread)
        return Aggregate(
            gap=last - first,
            baseline=second - first,
            covariate=third - second,
            outcome=last - third,
            mean_000=first,
            mean_100=second,
            mean_110=third,
            mean_111=last,
        )

    def rows(self, value: float, spread: float, domain: str = "source") -> Estimate:
        """A plain mean over one domain's rows."""
        zeros = self.sample.sizes.map(np.zeros)
        draws = spread * self.rng.standard_normal(
            self.sample.sizes["target" if domain == "target" else "source"]
        )
        pair = (zeros.source, draws) if domain == "target" else (draws, zeros.target)
        made = Estimate.from_contributions(self.sample, source=pair[0], target=pair[1])
        return replace(made + (value - made.value), plugin=value * 1.004)

    def detailed(
        self, part: Literal["covariate", "outcome"], shares: Mapping[str, float] | None, ok: bool
    ) -> Detailed | None:
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
        return _detailed(part, tops, base_top, denominator, ok)


def _detailed(
    part: Literal["covariate", "outcome"],
    tops: dict[str, Estimate],
    base_top: Estimate,
    denominator: Estimate,
    ok: bool,
) -> Detailed:
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
    return Detailed(
        part=part,
        players=players,
        denominator=denominator,
        defined=ok,
        reason="" if ok else "Their size, 0.001, has a 95% interval that reaches 0.",
        base=base_top / denominator if ok else None,
        shares=shares,
        covariance=covariance,
        subsets=subsets,
        sampling=Sampling(
            len(subsets), 2.0 ** len(players), len(players) <= 10, 0.0, "all subsets were evaluated"
        ),
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


def _diagnostics(rows: tuple[int, int], notes: Sequence[Note], has_baseline: bool) -> Diagnostics:
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
        notes=(
            Note("info", "Column 'year' is constant and was left out."),
            Note("warning", "Largest weight 19.4: a few source rows count for many."),
            *notes,
        ),
    )


def _profiles(rng: np.random.Generator, names: tuple[str, ...]) -> tuple[Profile, ...]:
    made = []
    for position, name in enumerate(names):
        bins = ("none", "school", "high school", "college", "higher degree")[: 3 + position % 3]
        source = rng.dirichlet(np.full(len(bins), 4.0))
        target = rng.dirichlet(np.full(len(bins), 4.0))
        gap = rng.normal(-0.05, 0.05, len(bins))
        error = 0.02 + 0.01 * rng.random(len(bins))
        made.append(
            Profile(
                name,
                bins,
                tuple(map(float, source)),
                tuple(map(float, target)),
                tuple(map(float, gap)),
                tuple(map(float, error)),
            )
        )
    return tuple(made)
