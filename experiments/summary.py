"""From replicates to a tidy table: coverage, bias and width, beside what chance allows."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy import special, stats

from experiments.replicates import Config, Line
from whygap.domains import Array

__all__ = ["Row", "band", "comma_separated", "summarise", "to_csv"]


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity under one configuration.

    `coverage`, bias and width are over the replicates in which the quantity was shown: shares and
    values are not where the denominator could not be told from 0 (`undefined` counts these).
    `coverage_all` counts every replicate; an unbounded Fieller interval covers. The plug-in has no
    interval of its own; `plugin_coverage` puts the debiased standard error around it.
    """

    config: str
    world: str
    metric: str
    rows_source: int
    rows_target: int
    settings: str
    quantity: str
    truth: float
    replicates: int
    undefined: int
    mean: float
    median: float
    sd: float
    bias_over_sd: float
    standard_error: float
    width: float
    coverage: float
    band_low: float
    band_high: float
    verdict: str
    coverage_all: float
    plugin_mean: float
    plugin_bias_over_sd: float
    plugin_coverage: float


def band(level: float, replicates: int, chance: float = 0.99) -> tuple[float, float]:
    """Where the covered share of so many right intervals falls with this chance."""
    tail = (1 - chance) / 2
    law = stats.binom(replicates, level)
    return float(law.ppf(tail)) / replicates, float(law.ppf(1 - tail)) / replicates


def summarise(config: Config, lines: Sequence[Line], truths: Mapping[str, float]) -> list[Row]:
    """One row per quantity whose truth is known and that was estimated."""
    names = [name for name in truths if any(name in line["estimates"] for line in lines)]
    return [_row(config, lines, name, truths[name]) for name in names if not _trivial(name, lines)]


def _trivial(name: str, lines: Sequence[Line]) -> bool:
    """Exact by construction (numerator of the full set, v_Z of the empty one): no interval."""
    errors = [line["estimates"][name][1] for line in lines if name in line["estimates"]]
    return all(error == 0 for error in errors)


def _row(config: Config, lines: Sequence[Line], name: str, truth: float) -> Row:
    everything = _numbers(lines, name)
    is_ratio = name.split()[1] in ("value", "share", "difference")
    shown = [line for line in lines if not is_ratio or line["defined"][name.split()[0]]]
    kept = _numbers(shown, name)
    value, error, low, high, plugin = kept.T if len(kept) else np.full((5, 1), math.nan)
    z = float(special.ndtri((1 + config.level) / 2))
    low_band, high_band = band(config.level, max(len(kept), 1))
    coverage = _covered(low, high, truth)
    sd = float(np.std(value, ddof=1)) if len(value) > 1 else math.nan
    return Row(
        config=config.label,
        world=config.world,
        metric=config.metric,
        rows_source=config.rows[0],
        rows_target=config.rows[1],
        settings=", ".join(f"{k}={v}" for k, v in sorted(config.choices.items())) or "defaults",
        quantity=name,
        truth=truth,
        replicates=len(lines),
        undefined=len(lines) - len(shown),
        mean=float(np.mean(value)),
        median=float(np.median(value)),
        sd=sd,
        bias_over_sd=float(np.mean(value) - truth) / sd if sd else math.nan,
        standard_error=float(np.median(error)),
        width=float(np.median(high - low)),
        coverage=coverage,
        band_low=low_band,
        band_high=high_band,
        verdict=_verdict(coverage, low_band, high_band),
        coverage_all=_covered(everything[:, 2], everything[:, 3], truth),
        plugin_mean=float(np.mean(plugin)),
        plugin_bias_over_sd=float(np.mean(plugin) - truth) / _spread(plugin),
        plugin_coverage=_covered(plugin - z * error, plugin + z * error, truth),
    )


def _numbers(lines: Sequence[Line], name: str) -> Array:
    """(replicates, 5); an unbounded end is infinite."""
    found = [line["estimates"][name] for line in lines if name in line["estimates"]]
    ends = (math.nan, math.nan, -math.inf, math.inf, math.nan)
    filled = [[e if x is None else x for x, e in zip(row, ends, strict=True)] for row in found]
    return np.array(filled, dtype=float).reshape(-1, 5)


def _covered(low: Array, high: Array, truth: float) -> float:
    slack = 1e-7  # lines are rounded
    if not len(low) or np.isnan(low).all():
        return math.nan
    return float(np.mean((low - slack <= truth) & (truth <= high + slack)))


def _spread(values: Array) -> float:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return sd or math.nan


def _verdict(coverage: float, low: float, high: float) -> str:
    if math.isnan(coverage):
        return "never shown"
    if coverage < low:
        return "below"
    return "in band" if coverage <= high else "above"


def to_csv(rows: Sequence[Row]) -> str:
    """One line per quantity."""
    names = [field.name for field in fields(Row)]
    return comma_separated(names, [[getattr(row, name) for name in names] for row in rows], 5)


def comma_separated(head: Sequence[str], lines: Iterable[Iterable[object]], digits: int) -> str:
    """The text of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    for line in lines:
        writer.writerow([f"{c:.{digits}g}" if isinstance(c, float) else c for c in line])
    return buffer.getvalue()
