"""Nuisances of metrics that compare pairs of rows: labels and ranks, given W and given W and Z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.equations.lines import CornerName, Term
from whygap.equations.pairs import Fitted, Grid, Pair, PairValues, at_rows, fitted
from whygap.nuisances.terms import Shared, by_term, fitted_given, given_second

__all__ = ["fit_pairs"]


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    """A 0/1 label and a score at all rows; what is expected of the label at the evaluated ones."""

    label: ByDomain[Array]
    grid: Grid
    p_0: ByDomain[Array] | None  # None where the outcome is given
    given_w: ByDomain[Array]


def fit_pairs(shared: Shared) -> list[Pair]:
    """One label and score for a binary outcome, else one of each per class."""
    terms, design = by_term(shared.design.terms), shared.design
    labels, scores = terms[: len(terms) // 2], terms[len(terms) // 2 :]
    p_0: list[ByDomain[Array] | None] = [None] * len(labels)
    if shared.risk is not None:
        p_0 = [shared.risk]
    elif not design.given:
        p_0 = [*fitted_given(shared, "p_0", design.second, "W, Z", labels)]
    given_w = fitted_given(shared, "mu_00_w", design.baseline, "W", labels)
    known = zip(labels, map(Grid.of, scores), p_0, given_w, strict=True)
    return [_pair(shared, _Labelled(*one)) for one in known]


def _pair(shared: Shared, given: _Labelled) -> Pair:
    names: tuple[CornerName, ...] = ("000", "100", "110", "111")
    if not shared.design.baseline:
        names = ("000", "110", "111")
    values = _pair_values(shared, given)
    fits = {name: fitted(values, name) for name in names}
    v = {name: _everywhere(given, fit) for name, fit in fits.items()}
    # No line leads from 100 to 111, so that the ranks of the last are not asked for given W.
    asked = names[:-1]
    columns = shared.design.baseline
    on_w = fitted_given(shared, "ranks given W", columns, "W", [v[name] for name in asked])
    given_w = dict(zip(asked, on_w, strict=True)) | {"111": on_w[-1]}
    values = replace(values, basis=_stacked(values.basis, [given.given_w, *on_w]))
    given_wy: dict[CornerName, ByDomain[Array]] = {}
    if given.p_0 is None:
        name, second, shown = given_second(shared.design)
        on_wy = fitted_given(shared, name, second, shown, [v[name] for name in names])
        given_wy = dict(zip(names, on_wy, strict=True))
        basis = _stacked(values.basis, [values.label, *on_wy])
        values = replace(values, basis_110=basis)
    terms = {
        name: _term(shared, given, fits[name], v[name], given_w[name], given_wy.get(name))
        for name in names
    }
    label = _term(shared, given, None, given.label, given.given_w, values.label)
    return Pair(values, fits, label, terms, given.grid.places)


def _stacked(basis: ByDomain[Array], more: Sequence[ByDomain[Array]]) -> ByDomain[Array]:
    return ByDomain(*(np.vstack(rows) for rows in zip(basis, *more, strict=True)))


def _pair_values(shared: Shared, given: _Labelled) -> PairValues:
    return PairValues(
        shared.sample,
        given.label,
        given.p_0,
        given.grid.places,
        given.grid.size,
        shared.pi_w,
        shared.pi_wz,
        shared.design.rows.map(lambda n: np.ones((1, n))),
    )


def _everywhere(given: _Labelled, fit: Fitted) -> ByDomain[Array]:
    places, label = given.grid.places, given.label
    return places.zip(label, lambda place, y: at_rows(fit, place, y))


def _term(
    shared: Shared,
    given: _Labelled,
    fit: Fitted | None,
    loss: ByDomain[Array],
    given_w: ByDomain[Array],
    given_wy: ByDomain[Array] | None,
) -> Term:
    """U(f) + R(f) y with a corner's ranks, or y itself; `given_wy` where the outcome is given."""
    places = given.grid.places
    if fit is None:
        a, b = places.map(lambda p: np.zeros(len(p))), places.map(lambda p: np.ones(len(p)))
    else:
        a, b = places.map(fit.above.__getitem__), places.map(fit.rank.__getitem__)
    second = given_wy
    if given.p_0 is not None or second is None:
        second = a.zip(b.zip(given.p_0 or a, np.multiply), np.add)
    values = shared.known(loss, given_w, second)
    if shared.risk is None:  # slopes are those of a class's label, not of the outcome
        return Term(values, loss)
    return Term(values, loss, a, b)
