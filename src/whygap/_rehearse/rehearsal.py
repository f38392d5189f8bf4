"""What a rehearsal found: coverage, bias and width of every interval, with the luck of the draw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from whygap.domains import ByDomain
from whygap.estimate import Estimate
from whygap.render.formats import text_table, wrapped
from whygap.render.units import level_name
from whygap.tables import native_table


@dataclass(frozen=True, slots=True)
class Measured:
    """One estimate of one replicate."""

    value: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate, level: float) -> Measured:
        """With its interval."""
        low, high = estimate.interval(level)
        return cls(estimate.value, estimate.standard_error, low, high)


@dataclass(frozen=True, slots=True)
class Term:
    """One estimate over all replicates that had it."""

    part: str  # "aggregate", "covariate" or "outcome"
    term: str  # "gap" and its parts; in the details "(base)" and v({variable})
    truth: float  # what it should be
    replicates: int  # how many replicates had it (shares may be undefined in some)
    mean: float  # average estimate
    bias: float  # mean minus truth
    spread: float  # standard deviation of the estimates
    bias_in_sd: float  # bias divided by spread
    standard_error: float  # average standard error, to be compared with the spread
    width: float  # median width of the intervals
    covered: int  # replicates whose interval contained the truth
    coverage: float  # their share
    coverage_low: float  # 95% limits of the coverage, given so many replicates
    coverage_high: float

    def falls_short(self, level: float) -> bool:
        """Whether the interval covers less often than claimed, beyond the luck of the draw."""
        return self.coverage_high < level


def term_of(part: str, term: str, truth: float, found: Sequence[Measured]) -> Term:
    """Sum up one estimate's replicates."""
    values = np.array([m.value for m in found])
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    covered = sum(m.low <= truth <= m.high for m in found)
    limits = stats.binomtest(covered, len(found)).proportion_ci(0.95, method="exact")
    return Term(
        part=part,
        term=term,
        truth=truth,
        replicates=len(found),
        mean=mean,
        bias=mean - truth,
        spread=spread,
        bias_in_sd=(mean - truth) / spread if spread > 0 else math.nan,
        standard_error=float(np.mean([m.standard_error for m in found])),
        width=float(np.median([m.high - m.low for m in found])),
        covered=covered,
        coverage=covered / len(found),
        coverage_low=float(limits.low),
        coverage_high=float(limits.high),
    )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How far intervals can be trusted on data like these."""

    terms: tuple[Term, ...]  # coverage, bias and width of every estimate
    rows: ByDomain[int]  # rows drawn for each domain
    asked: int  # replicates asked for
    finished: int  # replicates that ran to the end
    failures: Mapping[str, int]  # message -> replicates that could not be analysed for that reason
    undefined: Mapping[str, int]  # part -> replicates in which its shares were undefined
    level: float  # of the intervals
    notes: tuple[str, ...] = ()  # how the world differs from the tables it was made of
    seconds: float = 0.0  # wall time
    table_kind: str = "pyarrow"  # kind of table that `to_frame` hands back

    @property
    def short(self) -> tuple[Term, ...]:
        """Terms whose intervals cover less often than claimed."""
        return tuple(term for term in self.terms if term.falls_short(self.level))

    @property
    def ok(self) -> bool:
        """No interval was caught covering less often than claimed, and every replicate ran."""
        return not self.short and not self.failures

    def to_frame(self) -> Any:
        """One row per term, in the kind of table the study came in."""
        columns = {name: [getattr(term, name) for term in self.terms] for name in Term.__slots__}
        return native_table(columns, self.table_kind)

    def to_mapping(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "ok": self.ok, "short": [[t.part, t.term] for t in self.short]}

    def __str__(self) -> str:
        drawn = f"{self.rows.source:,} source and {self.rows.target:,} target rows each"
        head = f"Rehearsal: {self.finished} of {self.asked} replicates, {drawn}"
        covers = f"{level_name(self.level)} covers"
        header = ("term", "part", "truth", "mean", "bias/sd", covers, "width", "")
        rows = [_cells(term, self.level) for term in self.terms]
        table = text_table(header, rows, "llrrrrrl")
        texts = [wrapped(text) for text in (*_verdict(self), *self.notes)]
        return "\n".join([head, "", table, "", *texts]) + "\n"


def _cells(term: Term, level: float) -> tuple[str, ...]:
    covers = f"{term.coverage:.0%} ({100 * term.coverage_low:.0f}-{term.coverage_high:.0%})"
    numbers = (f"{term.truth:.3f}", f"{term.mean:.3f}", f"{term.bias_in_sd:.2f}", covers)
    mark = "!" if term.falls_short(level) else ""
    return term.term, term.part, *numbers, f"{term.width:.3f}", mark


def _verdict(rehearsal: Rehearsal) -> Iterator[str]:
    level, count = rehearsal.level, len(rehearsal.terms)
    if rehearsal.short:
        named = ", ".join(f"{t.part} {t.term} ({t.coverage:.0%})" for t in rehearsal.short)
        yield (
            f"{len(rehearsal.short)} of {count} intervals cover less often than the "
            f"{level_name(level)} they claim, beyond the luck of the draw (marked !): {named}. "
            "Read them as narrower than they should be."
        )
    elif count:
        yield (
            f"As far as {rehearsal.finished} replicates can tell, all {count} intervals cover as "
            f"often as the {level_name(level)} they claim."
        )
    for part, times in rehearsal.undefined.items():
        yield (
            f"The {part} shares were undefined in {times} of {rehearsal.finished} replicates: "
            "expect that there may be too little shift, or too few rows, to explain."
        )
    for message, times in rehearsal.failures.items():
        yield f"{times} replicates could not be analysed: {message}"
