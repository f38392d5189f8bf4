"""Between the tables' own row order and the learners' block order; rows only where held out.

Everything outside `learning/` is in the tables' order. Targets are put into block order on their
way to the learners, predictions are put back here, and a fit is evaluated only at rows it was not
trained on. Twins are arrays (halvings, 2, rows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain, Domain
from whygap.learning.blocks import Blocks, BlockSet
from whygap.learning.features import Extra, Features
from whygap.learning.models import Kind
from whygap.learning.primitives import Fits, MeanTask


def mean_task(
    features: Features,
    name: str,
    kind: Kind,
    columns: tuple[int, ...],
    domain: Domain,
    target: Array | Mapping[BlockSet, Array],
    trained_on: tuple[BlockSet, ...],
    extra: Mapping[BlockSet, Extra] | None = None,
    repeated: bool = False,
) -> MeanTask:
    """A regression over all rows of a domain, whose target is in the table's order."""
    order = features.blocks.order[domain]
    sorted_target = (
        {half: values[order] for half, values in target.items()}
        if isinstance(target, Mapping)
        else target[order]
    )
    return MeanTask(name, kind, columns, domain, sorted_target, trained_on, extra, repeated)


def block_sorted(blocks: Blocks, values: ByDomain[Array]) -> ByDomain[Array]:
    """Values of all rows, as learners see them."""
    return values.zip(blocks.order, lambda v, order: v[order])


def out_of_fold(fits: Fits, domain: Domain) -> Array:
    """Each row by the model trained on all other blocks."""
    blocks = fits.features.blocks
    pieces = [fits.predict(blocks.complement(k), domain, k) for k in range(blocks.count)]
    return np.concatenate(pieces)[blocks.back[domain]]


def everywhere(fits: Fits, domain: Domain) -> dict[BlockSet, Array]:
    """Every model at all rows of a domain, in sample where it was trained on them."""
    blocks = fits.features.blocks
    found = {t: np.empty(len(blocks.order[domain])) for t in fits.models}
    for block in range(blocks.count):
        rows = fits.inputs(domain, block)
        place = blocks.order[domain][blocks.rows(domain, block)]
        for trained_on, model in fits.models.items():
            found[trained_on][place] = model.predict(rows)
    return found


def twins(fits: Fits, domain: Domain) -> Array:
    """Each row by two models trained on disjoint halves of the other blocks."""
    found = _Twins(fits.features.blocks, domain)
    for block, pairs in found.pairs():
        rows = fits.inputs(domain, block)
        known = {half: fits.models[half].predict(rows) for pair in pairs for half in pair}
        found.put(block, [[known[half] for half in pair] for pair in pairs])
    return found.values


def twins_at(fits: Fits, names: Sequence[str]) -> dict[str, Array]:
    """The same for models with an extra column, at its views of these names.

    Arrays (columns, halvings, 2, rows): where each twin has an extra column of its own, both twins
    see the one, then both the other.
    """
    extra = fits.extra or {}
    views = next(iter(extra.values())).views
    found: dict[str, Array] = {}
    for domain in DOMAINS:
        group = [name for name in names if views[name].domain == domain]
        if group:
            found |= _twins_at(fits, group, domain)
    return found


def _twins_at(fits: Fits, names: Sequence[str], domain: Domain) -> dict[str, Array]:
    blocks = fits.features.blocks
    columns = 1 if len(set(map(id, (fits.extra or {}).values()))) == 1 else 2
    found = {name: _Twins(blocks, domain, (columns,)) for name in names}
    for block, pairs in found[names[0]].pairs():
        wanted = [(half, pair[c]) for c in range(columns) for pair in pairs for half in pair]
        answers = iter(fits.predict_seeing(wanted, names, domain, block))
        for one in found.values():
            for column in range(columns):
                one.put(block, [[next(answers) for _ in pair] for pair in pairs], column)
    return {name: one.values for name, one in found.items()}


def twins_of_values(blocks: Blocks, domain: Domain, values: Mapping[BlockSet, Array]) -> Array:
    """Values at all rows, one array per training set, picked as `twins` picks predictions."""
    found = _Twins(blocks, domain)
    for block, pairs in found.pairs():
        rows = blocks.order[domain][blocks.rows(domain, block)]
        found.put(block, [[values[half][rows] for half in pair] for pair in pairs])
    return found.values


class _Twins:
    """Twin predictions in the table's order, gathered block by block."""

    def __init__(self, blocks: Blocks, domain: Domain, columns: tuple[int, ...] = ()) -> None:
        self.blocks, self.domain = blocks, domain
        self.values = np.empty((*columns, len(blocks.halvings(0)), 2, len(blocks.order[domain])))

    def pairs(self) -> list[tuple[int, Sequence[tuple[BlockSet, BlockSet]]]]:
        """Each block with the pairs of training sets that are asked there."""
        return [(k, self.blocks.halvings(k)) for k in range(self.blocks.count)]

    def put(self, block: int, predictions: Sequence[Sequence[Array]], *column: int) -> None:
        place = self.blocks.order[self.domain][self.blocks.rows(self.domain, block)]
        values: Array = self.values[column] if column else self.values
        for halving, pair in enumerate(predictions):
            for twin, predicted in enumerate(pair):
                values[halving, twin, place] = predicted
