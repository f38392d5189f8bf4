"""The shared dictionary: what each kind of column gives, and which columns each function uses."""

from __future__ import annotations

import numpy as np
import pytest
from learning_designs import inputs_of

from whygap.learning.dictionary import build_dictionary
from whygap.tables.design import THE_OUTCOME, Column


def tags(dictionary):
    return [term.columns for term in dictionary.terms]


def numeric(*names):
    return [Column(name, "numeric") for name in names]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_basis_columns_have_mean_zero_and_deviation_one(rng):
    raw = np.column_stack(
        [rng.normal(size=500), rng.integers(0, 4, 500), rng.exponential(size=500)]
    )
    basis = build_dictionary(raw, numeric("a", "b", "c")).transform(raw)
    assert np.allclose(basis.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(basis.std(axis=0), 1)


def test_a_function_changes_only_with_the_columns_of_its_tag(rng):
    raw = np.column_stack([rng.normal(size=300), rng.normal(size=300), rng.integers(0, 5, 300)])
    raw[:20, 1] = np.nan
    columns = [*numeric("a", "b"), Column("c", "category")]
    dictionary = build_dictionary(raw, columns)
    before = dictionary.transform(raw)
    for j in range(3):
        moved = raw.copy()
        moved[:, j] = rng.permutation(raw[:, j])
        changed = np.any(dictionary.transform(moved) != before, axis=0)
        assert np.array_equal(changed, [j in tag for tag in tags(dictionary)])


def test_a_column_set_selects_only_functions_of_its_columns(rng):
    dictionary = build_dictionary(rng.normal(size=(200, 4)), numeric("a", "b", "c", "d"))
    chosen = dictionary.select([1, 3])
    assert {frozenset([1]), frozenset([3]), frozenset([1, 3])} == {
        tags(dictionary)[k] for k in chosen
    }
    assert len(dictionary.select([])) == 0
    assert len(dictionary.select(range(4))) == len(tags(dictionary))


def test_pairs_are_products_of_linear_terms(rng):
    raw = rng.normal(size=(400, 2))
    dictionary = build_dictionary(raw, numeric("a", "b"))
    (pair,) = [k for k, tag in enumerate(tags(dictionary)) if len(tag) == 2]
    scaled = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    product = scaled[:, 0] * scaled[:, 1]
    expected = (product - product.mean()) / product.std()
    assert np.allclose(dictionary.transform(raw)[:, pair], expected)
    assert dictionary.simple[pair] == 0


def test_many_columns_have_no_pairs(rng):
    names = [f"c{j}" for j in range(11)]
    dictionary = build_dictionary(rng.normal(size=(200, 11)), numeric(*names))
    assert all(len(tag) == 1 for tag in tags(dictionary))


def test_splines_are_linear_beyond_their_knots(rng):
    raw = rng.normal(size=(1000, 1))
    dictionary = build_dictionary(raw, numeric("a"))
    for start, stop in ((5.0, 25.0), (-25.0, -5.0)):
        far = np.linspace(start, stop, 9)[:, None]
        bends = np.diff(dictionary.transform(far), n=2, axis=0)
        assert np.abs(bends).max() < 1e-8 * np.abs(dictionary.transform(far)).max()
    inside = np.linspace(-1, 1, 9)[:, None]
    assert np.abs(np.diff(dictionary.transform(inside), n=2, axis=0)).max() > 1e-3


def test_a_spline_fits_what_a_line_cannot(rng):
    raw = rng.normal(size=(1000, 1))
    basis = build_dictionary(raw, numeric("a")).transform(raw)
    target = np.sin(2 * raw[:, 0])
    design = np.column_stack([np.ones(1000), basis])
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    line = np.polyval(np.polyfit(raw[:, 0], target, 1), raw[:, 0])
    assert np.mean((target - fitted) ** 2) < 0.2 * np.mean((target - line) ** 2)


def test_missing_values_have_an_indicator_and_no_other_term(rng):
    raw = rng.normal(size=(300, 1))
    raw[:60, 0] = np.nan
    dictionary = build_dictionary(raw, numeric("a"))
    unscaled = dictionary.transform(raw) * dictionary.scale + dictionary.centre
    at_missing = unscaled[:60]
    assert np.isfinite(unscaled).all()
    indicator = np.flatnonzero((at_missing == 1).all(axis=0) & (unscaled[60:] == 0).all(axis=0))
    assert len(indicator) == 1
    others = np.delete(at_missing, indicator, axis=1)
    assert np.array_equal(others, np.zeros_like(others))


def test_categories_have_one_indicator_less_than_levels(rng):
    raw = rng.integers(0, 5, 400).astype(float)[:, None]
    dictionary = build_dictionary(raw, [Column("c", "category")])
    assert len(dictionary.terms) == 4
    raw[:50, 0] = np.nan
    assert len(build_dictionary(raw, [Column("c", "category")]).terms) == 5


def test_a_level_never_seen_looks_like_the_reference(rng):
    raw = rng.integers(0, 5, 400).astype(float)[:, None]
    dictionary = build_dictionary(raw, [Column("c", "category")])
    unseen = dictionary.transform(np.array([[77.0]])) * dictionary.scale + dictionary.centre
    assert np.allclose(unseen, 0)


def test_ten_thousand_levels_keep_the_most_frequent(rng):
    frequent = rng.integers(0, 10, 2000)
    raw = np.concatenate([frequent, np.arange(10_000)]).astype(float)[:, None]
    dictionary = build_dictionary(raw, [Column("c", "category")])
    assert len(dictionary.terms) <= 40
    indicators = dictionary.transform(np.arange(10.0)[:, None])
    assert np.linalg.matrix_rank(indicators) >= 9


def test_atoms_of_a_numeric_column_have_indicators(rng):
    values = np.concatenate([np.zeros(300), rng.exponential(size=700)])
    dictionary = build_dictionary(values[:, None], numeric("a"))
    unscaled = dictionary.transform(np.array([[0.0], [1e-9]]))
    assert np.abs(unscaled[0] - unscaled[1]).max() > 1


def test_few_values_have_indicators_instead_of_splines(rng):
    raw = rng.integers(0, 5, 300).astype(float)[:, None]
    dictionary = build_dictionary(raw, numeric("a"))
    assert len(dictionary.terms) == 4
    assert np.array_equal(dictionary.simple, [1, 0, 0, 0])


def test_constant_and_empty_columns_have_no_functions(rng):
    raw = np.column_stack([np.full(100, 3.0), np.full(100, np.nan)])
    assert build_dictionary(raw, numeric("a", "b")).terms == ()


def test_no_columns_at_all():
    inputs = inputs_of(np.zeros((30, 0)))
    assert inputs.raw.shape == (30, 0)
    assert inputs.basis.shape == (30, 0)
    assert len(inputs) == 30


@pytest.mark.parametrize(("name", "bends_on"), [(THE_OUTCOME, True), ("a", False)])
def test_a_given_outcome_bends_on_where_splines_are_straight(rng, name, bends_on):
    raw = rng.normal(size=(4000, 1))
    basis = build_dictionary(raw, numeric(name)).transform(raw)
    columns, square = np.column_stack([np.ones(len(raw)), basis]), raw[:, 0] ** 2
    missed = square - columns @ np.linalg.lstsq(columns, square, rcond=None)[0]
    assert (np.abs(missed).max() < 1e-9) == bends_on


def test_an_outcome_of_few_values_has_no_square(rng):
    raw = rng.integers(0, 2, size=(400, 1)).astype(float)
    assert len(tags(build_dictionary(raw, numeric(THE_OUTCOME)))) == 1


@pytest.mark.parametrize(("columns", "curves"), [(30, 4), (75, 4), (100, 3), (200, 1), (400, 1)])
def test_with_very_many_columns_each_bends_less(rng, columns, curves):
    raw = rng.normal(size=(60, columns))
    dictionary = build_dictionary(raw, numeric(*map(str, range(columns))))
    assert len(dictionary.select([7])) == 1 + curves
