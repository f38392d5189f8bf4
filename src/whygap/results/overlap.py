"""How far the two tables overlap: what is measured, and the one judgement of it.

`check`, notes, badges, banners and the decision to compare the tables on a region only all ask
here, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from whygap.domains import ByDomain
from whygap.notes import Fact, Note, NoteLevel


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts as shared support, and as poor overlap."""

    # A row is shared when P(its domain | W, Z), both domains weighing the same, leaves the other at
    # least this much: weights within the region stay below 19
    probability: float = 0.05
    without_counterpart: float = 0.01  # a target row surely has none when the source is left less
    # Share of the target without counterpart from which the region is needed: a metric that is off
    # by a fifth there moves the mean by one point, which a thousand rows do not show
    missing: float = 0.05
    # Of the mean weight above 1, from which the ratio is overfitted: corrections by weights that
    # average 1.25, and their standard errors, are a quarter too large. 200 columns and 1,000 rows
    # gave 0.8, 5,000 rows 0.07
    excess: float = 0.25
    # Of the source rows that must be left when they are reweighted: half of what the paper's own
    # world leaves, which is hard on purpose
    least_effective: float = 0.02
    least_share: float = 0.1  # of either table, for the region to say anything of the other 90%
    least_rows: int = 100  # likewise, in rows: 20 in each of five folds
    # Of the source rows that effectively remain, from which overlap is good: intervals are at most
    # 1.4 times as wide
    good: float = 0.5
    poor: float = 0.1  # likewise; below it is poor: intervals are three times as wide
    few_rows: float = 100.0  # effective ones: fewer do not tell a mean to a tenth of a deviation
    too_few_rows: float = 25.0  # likewise: fewer are five a fold, which is no estimate
    few_clipped: float = 0.01  # of the source rows; fewer than one in a hundred are outliers
    # An AUC from which columns tell the tables apart: normal laws that it tells apart lie 2.3
    # deviations from each other, and reweighting leaves one source row in 200
    tells: float = 0.95
    sure: float = 0.999  # an AUC that only what defines the tables reaches: 4.4 deviations


LIMITS = Limits()
OTHER_CODING = "other coding"  # what such a column looks like; the values themselves may follow


@dataclass(frozen=True, slots=True)
class RatioRecord:
    """Overlap of the two domains on some columns, read off the density ratio.

    Attributes:
        effective_size: how many source rows of equal weight the reweighted ones count as.
        largest_weight: of a source row; 1 is the average.
        clipped_share: of the source rows, weights that were cut at the limit set or the region's.
        domain_auc: how well the ratio tells target rows from source rows; 0.5 is not at all.
        mean_weight: of the source rows; 1 where every target row has counterparts among them.
        mean_error: its standard error.
        without_counterpart: share of target rows that nearly no source row is like.
    """

    name: str
    columns: str
    effective_size: float
    rows: int
    largest_weight: float
    clipped_share: float
    domain_auc: float
    mean_weight: float = 1.0
    mean_error: float = 0.0
    without_counterpart: float = 0.0

    @property
    def kept_share(self) -> float:
        """Source rows that effectively remain when weighted like the target."""
        return self.effective_size / self.rows if self.rows else 0.0

    @property
    def lacks_counterparts(self) -> bool:
        """Whether many target rows have nothing alike in the source.

        The mean weight is the part of the target that lies where the source has rows: 1 where
        weights are merely heavy, clearly less where counterparts are missing. Rows that are nearly
        sure to be the target's tell the same where they are twice as many, since a model may be too
        sure of some; and so do weights of which next to nothing is effective.
        """
        surely = self.without_counterpart > 2 * LIMITS.missing
        hardly = self.kept_share < LIMITS.least_effective
        return surely or hardly or 1 - self.mean_weight - 2 * self.mean_error > LIMITS.missing

    @property
    def verdict(self) -> Literal["good", "fair", "poor"]:
        """In a word."""
        if self.faults():
            return "poor"
        return "good" if self.kept_share >= LIMITS.good else "fair"

    @property
    def level(self) -> Literal["info", "warning", "problem"]:
        """How much the overlap matters, as the level of a note."""
        if not self.faults():
            return "info"
        too_few = self.effective_size < LIMITS.too_few_rows
        return "problem" if too_few or self.lacks_counterparts else "warning"

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong with the overlap, in words; nothing where the overlap will do."""
        texts = []
        hardly_any = self.effective_size < LIMITS.few_rows and self.kept_share < LIMITS.good
        if hardly_any or self.kept_share < LIMITS.poor:
            texts.append(
                "reweighted to look like the target, the source rows count as about "
                f"{self.effective_size:,.0f} (the heaviest counts {self.largest_weight:,.0f} times)"
            )
        off = abs(self.mean_weight - 1) - 2 * self.mean_error
        average = f"the weights average {self.mean_weight:.2f} instead of 1, so"
        if off > LIMITS.missing and self.mean_weight < 1:
            missing = f"about {1 - self.mean_weight:.0%} of the target lies"
            texts.append(f"{average} {missing} where the source has no rows")
        elif off > LIMITS.excess:
            texts.append(f"{average} they are fitted badly (too few rows for so many columns)")
        if self.without_counterpart > LIMITS.missing:
            share = f"{self.without_counterpart:.0%}"
            texts.append(f"{share} of the target rows have no counterpart in the source")
        if self.domain_auc > LIMITS.tells:
            auc = f"{self.domain_auc:.3f}"
            texts.append(f"a classifier tells the tables apart with an AUC of {auc}")
        return tuple(texts)


@dataclass(frozen=True, slots=True)
class Separator:
    """A column that tells the tables apart on its own.

    Attributes:
        auc: how well (0.5 to 1).
        looks_like: in words, what it looks like.
        values: the values that differ, where it looks like another coding.
        is_mishap: whether it looks like a mistake in the tables rather than a difference.
    """

    name: str
    auc: float
    looks_like: str
    is_mishap: bool = False
    values: str = ""

    @property
    def unnamed(self) -> Separator:
        """Return the separator without values of rows."""
        return replace(self, values="")

    @property
    def level(self) -> Literal["warning", "problem"]:
        """How much the column matters: a mishap, or what defines the tables, is a problem."""
        return "problem" if self.is_mishap or self.auc > LIMITS.sure else "warning"

    def __str__(self) -> str:
        values = f": {self.values}" if self.values else ""
        return f"'{self.name}' ({self.looks_like}{values})"


@dataclass(frozen=True, slots=True)
class Overlap:
    """What was measured on W, on W and Z, and column by column."""

    ratios: tuple[RatioRecord, ...] = ()
    separators: tuple[Separator, ...] = ()

    @property
    def lacks_counterparts(self) -> bool:
        """Whether the tables are to be compared on the shared region only."""
        return bool(self.ratios) and self.ratios[-1].lacks_counterparts

    def notes(self) -> tuple[Note, ...]:
        """Return what a reader must know, of ratios first."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        for ratio in self.ratios:
            facts: dict[str, Fact] = {"clipped": ratio.clipped_share, "columns": ratio.columns}
            if ratio.clipped_share > 0:
                level: NoteLevel = "warning" if ratio.clipped_share > LIMITS.few_clipped else "info"
                yield Note("clipped", level, facts | {"limit": ratio.largest_weight})
            if ratio.faults():
                facts = {"columns": ratio.columns, "faults": "; ".join(ratio.faults())}
                yield Note("poor_overlap", ratio.level, facts)
        for separator in self.separators:
            facts = {"column": separator.name, "looks_like": separator.looks_like}
            facts |= {"value": separator.values} if separator.values else {}
            facts |= {} if separator.is_mishap else {"auc": separator.auc}
            kind = "recorded_differently" if separator.is_mishap else "separator"
            yield Note(kind, separator.level, facts)


def not_comparable_note(
    kept_share: ByDomain[float], rows: ByDomain[int], separators: Sequence[Separator]
) -> Note:
    """Say that too few rows have counterparts, and which columns separate the tables.

    Args:
        kept_share: of the rows that have counterparts.
        rows: how many they are.
        separators: columns that tell the tables apart.
    """
    facts: dict[str, Fact] = {"source_share": kept_share.source, "source_rows": rows.source}
    facts |= {"target_share": kept_share.target, "target_rows": rows.target}
    facts["separators"] = "No single column separates them; several together do."
    if separators:
        unnamed = (str(separator.unnamed) for separator in separators)
        facts["separators"] = f"What separates them: {'; '.join(unnamed)}."
        facts["value"] = f"What separates them: {'; '.join(map(str, separators))}."
    return Note("not_comparable", "problem", facts)
