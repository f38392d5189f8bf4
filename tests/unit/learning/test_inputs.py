"""Products with basis columns that are never written out beside those with the written-out ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from whygap.learning.inputs import Inputs, Lift, later, stacked


@pytest.fixture(params=[False, True], ids=["plain", "lifted"])
def inputs(request):
    rng = np.random.default_rng(3)
    light = np.array([1.0, 0, 1, 0, 0])
    lift = Lift(
        rng.normal(size=40),
        rng.normal(size=(40, 4)),
        (light > 0, np.array([True, True, False, True, True])),
    )
    basis = rng.normal(size=(40, 5))
    return Inputs(rng.normal(size=(40, 3)), basis, light, (), lift if request.param else None)


def test_products_are_those_of_the_dense_matrix(inputs):
    rng = np.random.default_rng(4)
    dense = np.column_stack([np.ones(40), inputs.dense()])
    assert inputs.width + 1 == dense.shape[1] == len(inputs.simple) + 1
    coefficients, rows = rng.normal(size=inputs.width + 1), rng.normal(size=40)
    assert np.allclose(inputs.forward(coefficients), dense @ coefficients)
    assert np.allclose(inputs.adjoint(rows), dense.T @ rows)
    assert np.allclose(inputs.gram(rows**2), dense.T @ (dense * rows[:, None] ** 2))


def test_gram_matrices_of_many_rows_are_summed_in_pieces(inputs, monkeypatch):
    whole = inputs.gram(np.ones(40))
    monkeypatch.setattr("whygap.learning.inputs.ENOUGH_ROWS", 7)
    assert np.allclose(inputs.gram(np.ones(40)), whole)


def test_the_raw_table_ends_with_the_lifted_column(inputs):
    columns = 3 if inputs.lift is None else 4
    assert inputs.table.shape == (40, columns)
    some = inputs.rows(slice(5, 9))
    assert len(some) == 4
    assert np.array_equal(some.table, inputs.table[5:9])


def test_products_kept_for_several_lifts_are_the_right_ones(inputs):
    rng = np.random.default_rng(5)
    kept = replace(inputs, seen={})
    for coefficients in rng.normal(size=(3, inputs.width + 1)):
        for scale in (1.0, 2.0):
            lift = inputs.lift and replace(inputs.lift, terms=scale * inputs.lift.terms)
            expected = replace(inputs, lift=lift).forward(coefficients)
            assert np.array_equal(replace(kept, lift=lift).forward(coefficients), expected)
    assert len(kept.seen) == (3 if inputs.lift else 0)


def test_products_asked_for_at_once_are_found_again(inputs):
    kept = replace(inputs, seen={})
    models = list(np.random.default_rng(6).normal(size=(3, inputs.width + 1)))
    kept.foresee([(coefficients, inputs.lift) for coefficients in models if inputs.lift])
    assert len(kept.seen) == (3 if inputs.lift else 0)
    for coefficients in models:
        assert np.allclose(kept.forward(coefficients), inputs.forward(coefficients), rtol=1e-13)
    assert len(kept.seen) == (3 if inputs.lift else 0)


def test_a_table_that_is_made_later_gives_the_same_numbers(inputs):
    made = []

    def counted(table):
        made.append(1)
        return table

    raw, basis = (
        later(*table.shape, partial(counted, table)) for table in (inputs.raw, inputs.basis)
    )
    waiting = replace(inputs, raw=raw, basis=basis)
    assert (len(waiting), waiting.width, waiting.raw.shape) == (40, inputs.width, (40, 3))
    some = waiting.rows(slice(5, 20))
    both = stacked([replace(waiting, lift=None), replace(waiting, lift=None)])
    assert (len(some), len(both), made) == (15, 80, [])
    rng = np.random.default_rng(1)
    coefficients, rows = rng.normal(size=inputs.width + 1), rng.normal(size=40)
    assert np.array_equal(waiting.forward(coefficients), inputs.forward(coefficients))
    assert np.array_equal(waiting.adjoint(rows), inputs.adjoint(rows))
    assert np.array_equal(waiting.gram(rows), inputs.gram(rows))
    assert np.array_equal(waiting.table, inputs.table)
    assert np.array_equal(some.dense(), inputs.rows(slice(5, 20)).dense())
    assert np.array_equal(both.raw, np.vstack([inputs.raw, inputs.raw]))
    assert np.array_equal(waiting.in_full_precision().basis, inputs.basis)
