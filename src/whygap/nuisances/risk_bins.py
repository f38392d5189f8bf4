"""What models trained without one block say about target rows, observed or recombined.

G = (W, Z_s, q_bin) needs the bin of the source risk as one more column (`BinTerms`), and recombined
rows need basis columns that no table holds; both are made here from the shared dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, IntArray
from whygap.equations import binning
from whygap.learning.blocks import BlockSet
from whygap.learning.inputs import Inputs
from whygap.learning.models import Model
from whygap.learning.ridge import logit_clipped
from whygap.nuisances.ground import Ground
from whygap.nuisances.recombined import Mixed

__all__ = ["BinTerms", "Fold"]

_END_SHARE = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class BinTerms:
    """The bin as a column: its level, hinges of it, it times linear terms, and the end bins.

    m varies a lot within the two end bins (risks near 0 and 1); where one of them holds enough rows
    it gets every term of the other columns once more.
    """

    level: Array
    knots: Array
    ends: tuple[int, ...]

    @classmethod
    def of(cls, number: Array, bins: int) -> BinTerms:
        """From the bins of the training rows."""
        centres = np.clip(np.arange(bins + 1) / bins, 0.25 / bins, 1 - 0.25 / bins)
        scale = logit_clipped(centres)
        seen = scale[number.astype(int)]
        level = (scale - seen.mean()) / (float(seen.std()) or 1.0)
        knots = np.unique(np.quantile(level[number.astype(int)], [0.1, 0.3, 0.5, 0.7, 0.9]))
        ends = tuple(end for end in (0, bins) if np.mean(number == end) >= _END_SHARE)
        return cls(level, knots, ends)

    def join(self, inputs: Inputs, number: Array) -> Inputs:
        """The same rows with the bin as a further column."""
        level = self.level[number.astype(int), None]
        at_end = [(number == end).astype(float)[:, None] for end in self.ends]
        main = np.hstack([level, *at_end])
        rest = [np.maximum(level - self.knots, 0), level * inputs.basis[:, inputs.light > 0]]
        rest += [end * inputs.basis for end in at_end]
        added = np.hstack([main, *rest])
        light = (np.arange(added.shape[1]) < main.shape[1]).astype(float)
        return replace(
            inputs,
            raw=np.column_stack([inputs.raw, number]),
            basis=np.hstack([inputs.basis, added]),
            light=np.concatenate([inputs.light, light]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One evaluated block, and the risks fitted on the other blocks.

    Attributes:
        number: the bin of the source risk at every target row, block-sorted.
        terms: the bin as a column, made from the training rows.
    """

    ground: Ground
    block: int
    p_0: Model
    p_1: Model
    number: Array
    terms: BinTerms

    @classmethod
    def of(cls, ground: Ground, block: int, p_0: Model, p_1: Model) -> Fold:
        """Sort the target rows into bins."""
        features, bins = ground.features, ground.settings.bins
        everyone = slice(0, len(features.raw.target))
        view = features.plain.target
        risk = p_0.predict(features.inputs(view, everyone, ground.all_columns()))
        number = binning.bin_index(risk, bins)
        trained = features.training_rows("target", ground.blocks.complement(block))
        return cls(ground, block, p_0, p_1, number, BinTerms.of(number[trained], bins))

    @property
    def trained_on(self) -> BlockSet:
        """All other blocks."""
        return self.ground.blocks.complement(self.block)

    @property
    def training_rows(self) -> IntArray:
        """Sorted target rows of the other blocks."""
        return self.ground.features.training_rows("target", self.trained_on)

    @property
    def held_out_rows(self) -> IntArray:
        """Sorted target rows of this block."""
        rows = self.ground.blocks.rows("target", self.block)
        return np.arange(rows.start, rows.stop)

    def observed(self, rows: IntArray, columns: Sequence[int]) -> Inputs:
        """Columns and the bin, at target rows."""
        features = self.ground.features
        plain = features.inputs(features.plain.target, rows, columns)
        return self.terms.join(plain, self.number[rows])

    def inputs_at(self, mixed: Mixed) -> Inputs:
        """All columns at recombined rows.

        Basis functions of kept columns, or of swapped columns, are known from the observed rows;
        only those that join the two are computed.
        """
        features, columns = self.ground.features, list(self.ground.all_columns())
        dictionary, known = features.dictionary, features.basis.target
        swapped = frozenset(mixed.swapped)
        lent = [j for j, tag in enumerate(dictionary.tags) if tag <= swapped]
        basis = known[mixed.kept]
        basis[:, lent] = known[np.ix_(mixed.lender, np.array(lent, dtype=np.int64))]
        for j, tag in enumerate(dictionary.tags):
            if tag & swapped and not tag <= swapped:
                raw = dictionary.pieces[j](mixed.raw)
                basis[:, j] = (raw - dictionary.centre[j]) / dictionary.scale[j]
        categorical = (k for k, c in enumerate(columns) if features.columns[c].kind == "category")
        return Inputs(mixed.raw[:, columns], basis, dictionary.simple, tuple(categorical))

    def number_at(self, mixed: Mixed) -> Array:
        """The bin of the source risk at recombined rows."""
        return binning.bin_index(self.p_0.predict(self.inputs_at(mixed)), self.ground.settings.bins)

    def p_1_at(self, mixed: Mixed) -> Array:
        """The target risk at recombined rows."""
        return self.p_1.predict(self.inputs_at(mixed))
