"""The model's score as a column beside a set of columns: as it is, and what it says of the others.

A score and some columns tell of the columns that are left out: from a score a + b'x and all columns
but one, that one can be worked out. So E[Y | f, X_s] may depend on a left-out column in any way,
for instance through its product with a column of s, and a learner that sees f and X_s side by side
would have to find the right difference of many columns first. Here it is given one: the score less
the terms of s in an additive fit of it on all columns. (f, X_s) and (f, X_s, rest) tell the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain, Domain
from whygap.learning.dictionary import FEW_VALUES
from whygap.learning.features import Extra, Features, View, at
from whygap.learning.ridge import least_squares
from whygap.nuisances.held_out import block_sorted

# In units of the score's deviation: what differs by less is one value, give or take rounding.
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class ScoreColumn:
    """A score at the rows of a domain, in block order, and its additive fit on the dictionary."""

    features: Features
    domain: Domain
    score: Array
    coefficients: Array
    alone: Extra

    @classmethod
    def of(cls, features: Features, domain: Domain, score: ByDomain[Array]) -> ScoreColumn:
        """Of a score of all rows, in the tables' order."""
        own = block_sorted(features.blocks, score)[domain]
        rows = features.blocks.training_rows(domain, frozenset(range(features.blocks.count)))
        inputs = features.inputs(domain, rows, range(len(features.columns))).in_full_precision()
        target, weight = at(own, rows), at(features.weights[domain], rows)
        fitted = least_squares(inputs, target, weight, np.zeros(inputs.width))[1:]
        alone = Extra.of(_Terms.of(own[:, None]), {"own": View(domain, own)})
        return cls(features, domain, own, fitted, alone)

    def beside(self, columns: Sequence[int]) -> Extra:
        """The score; and less what these columns say of it, where that is something else.

        It serves to be multiplied, so it is not there where there are too many columns for that.
        """
        terms, basis = self.features.dictionary.select(columns), self.features.basis[self.domain]
        if not self.features.times(terms, self.alone)[0].any():
            return self.alone
        theirs = np.zeros(len(self.coefficients), dtype=basis.dtype)
        theirs[terms] = self.coefficients[terms]
        said = basis @ theirs
        rest = self.score - said
        rest -= rest.mean()
        spread, level = float(self.score.std()), float(np.abs(self.score).max())
        if min(rest.std(), said.std()) <= _ROUNDING * max(spread, _ROUNDING * level):
            return self.alone
        both = np.column_stack([self.score, rest])
        return Extra.of(_Terms.of(both), {"own": View(self.domain, both)}, bending=2)


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """Main terms of raw columns: each standardised; indicators of the rest's values if few."""

    middle: Array
    spread: Array
    values: Array

    @classmethod
    def of(cls, raw: Array) -> _Terms:
        spread = raw.std(axis=0)
        spread[spread == 0] = 1.0
        middle = raw.mean(axis=0)
        values = np.unique(_rounded((raw[:, -1] - middle[-1]) / spread[-1]))
        few = raw.shape[1] > 1 and len(values) <= FEW_VALUES
        return cls(middle, spread, values[1:-1] if few else values[:0])

    def __call__(self, position: Array) -> list[Array]:
        """At some raw values."""
        standard = (position.reshape(len(position), -1) - self.middle) / self.spread
        last = _rounded(standard[:, -1])
        return [*standard.T, *((last == value).astype(float) for value in self.values)]


def _rounded(standard: Array) -> Array:
    return np.round(standard / _ROUNDING) * _ROUNDING
