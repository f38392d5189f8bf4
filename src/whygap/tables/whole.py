"""A sample is analysed, averages are over all rows: weights that make the one fit the other.

The metric's terms are averaged over every row of a table, batch by batch, and the sampled rows get
weights close to 1 with which their averages are the same (calibration: Deville and Särndal 1992).
The corners 000 and 111 then are plain averages over all rows, the corners between them are
regressed on that, and all parts still add up. Intervals remain those of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import numpy as np
import pyarrow as pa

from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.errors import TableError
from whygap.notes import Note
from whygap.tables.batches import chosen_rows
from whygap.tables.columns import raw_column
from whygap.tables.design import Design
from whygap.tables.extras import require_weights
from whygap.tables.open import Frame, Mask, OpenedTable
from whygap.tables.roles import Roles
from whygap.tables.score import ModelScoring
from whygap.tables.scored import Scored, score_rows, shown_to
from whygap.tables.task import Asked

__all__ = ["Drawn", "Scoring", "draw", "with_whole_averages"]

MOST_CHANGE = 2.0  # a sample whose weights would have to change more does not look like its table
A_FEW = 1000  # rows that stand for the other table where a batch is scored


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Rows of a table that are analysed, and how many it has."""

    frame: Frame
    total: int

    @property
    def is_part(self) -> bool:
        """Whether rows were left out."""
        return self.total > self.frame.rows


@dataclass(frozen=True, slots=True, eq=False)
class Scoring:
    """What it takes to score rows."""

    roles: Roles
    asked: Asked
    model: ModelScoring | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Outcome, predictions (or what the model sees) and weights."""
        roles = self.roles
        named = (roles.outcome, roles.prediction, *roles.class_columns.values(), roles.weights)
        seen = () if self.model is None else tuple(self.model.columns)
        return tuple(dict.fromkeys(name for name in (*named, *seen) if name is not None))


def draw(table: OpenedTable, columns: Sequence[str], most: int) -> Drawn:
    """At most so many rows, at random; the table is read in batches."""
    found = chosen_rows((frame.native for frame in table.batches(columns)), most, table.label)
    return Drawn(table.frame(found.native), found.total)


def with_whole_averages(
    design: Design, tables: ByDomain[OpenedTable], drawn: ByDomain[Drawn], scoring: Scoring
) -> Design:
    """The design with weights that make its averages those of the whole tables."""
    if not any(one.is_part for one in drawn):
        return design
    weights, notes = design.weights or design.outcome.map(np.ones_like), list(design.notes)
    for domain in DOMAINS:
        if not drawn[domain].is_part:
            continue
        factor = None
        if not design.metric.pairs:
            means = whole_means(domain, tables[domain], drawn, scoring, design)
            factor = calibration(design.terms[domain], weights[domain], means)
        of = "that of the drawn rows" if factor is None else "averaged over all of them"
        counts = {"rows": drawn[domain].total, "drawn": drawn[domain].frame.rows}
        notes.append(Note("drawn", "info", {**counts, "domain": domain, "how": of}))
        if factor is not None:
            weights = replace(weights, **{domain: weights[domain] * factor})
    return replace(design, weights=weights, notes=tuple(notes))


def whole_means(
    domain: Domain,
    table: OpenedTable,
    drawn: ByDomain[Drawn],
    scoring: Scoring,
    design: Design,
) -> Array:
    """Weighted means of the metric's terms over every row of a table, batch by batch."""
    sums, mass = np.zeros(len(design.terms[domain])), 0.0
    asked = replace(scoring.asked, task=design.task)
    other = drawn.map(lambda one: witnesses(one.frame, scoring.roles.outcome))
    for frame in table.batches(scoring.columns):
        if holds_nothing(frame, scoring.roles):
            continue  # its rows are left out, as the drawn ones are, of which a note tells
        pair = replace(other, **{domain: frame})
        scored = score_rows(pair, scoring.roles, asked, scoring.model)
        if scored.classes != design.classes:
            raise TableError(
                f"The {domain} table has outcomes that no drawn row has",
                got=", ".join(sorted(set(scored.classes) - set(design.classes))),
                hint="Raise sample=, or leave these rows out.",
            )
        keep = scored.keep[domain]
        weight = row_weights(frame, scoring.roles.weights, keep)
        sums += batch_terms(design, scored, domain)[:, keep] @ weight
        mass += float(weight.sum())
    return np.asarray(sums / mass)


def witnesses(frame: Frame, outcome: str) -> Frame:
    """A few rows with every value of the outcome, so that each batch is read as the sample was."""
    codes = frame.arrow(outcome).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    first = np.unique(codes, return_index=True)[1][:A_FEW]
    rows = np.unique(np.concatenate([first, np.arange(min(A_FEW, frame.rows))]))
    native = nw.from_native(frame.native, eager_only=True)[rows].to_native()
    return replace(frame, native=native, rows=len(rows))


def holds_nothing(frame: Frame, roles: Roles) -> bool:
    """Whether outcome or prediction is missing in every row."""
    names = [name for name in (roles.outcome, roles.prediction) if name is not None]
    raw = [raw_column(frame.arrow(name), name, frame.label) for name in names]
    return any(one.missing == frame.rows and not one.infinite for one in raw)


def row_weights(frame: Frame, name: str | None, keep: Mask) -> Array:
    """Of the kept rows; those that were not drawn are checked too."""
    if name is None:
        return np.ones(int(keep.sum()))
    column = raw_column(frame.arrow(name).filter(pa.array(keep)), name, frame.label)
    require_weights(name, column, f"a part of {frame.label}")
    return column.values


def batch_terms(design: Design, scored: Scored, domain: Domain) -> Array:
    """The terms (K, rows) of the design's own metric."""
    metric, outcome = design.metric, scored.outcome[domain]
    if design.task == "binary":
        start, slope = metric.term_coefficients(scored.prediction[domain], design.threshold)
        return np.asarray(start + slope * outcome)
    return metric.per_row(shown_to(metric, scored)[domain], outcome)


def calibration(terms: Array, weights: Array, means: Array) -> Array | None:
    """Factors, 1 on average, with which the weighted means of the terms are these; or None."""
    mass = weights / weights.sum()
    apart = terms - (terms @ mass)[:, None]
    spread = (apart * mass) @ apart.T
    factor = 1 + np.linalg.pinv(spread, hermitian=True) @ (means - terms @ mass) @ apart
    fits = factor.min() > 1 / MOST_CHANGE and factor.max() < MOST_CHANGE
    return factor if fits else None
