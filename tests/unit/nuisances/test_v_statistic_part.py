"""Recombined rows, their bins and ratios, and the part that users ask for by name."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from small_study import fast, make_study

import whygap as wg
from whygap.domains import ByDomain
from whygap.errors import FitError, SettingsError
from whygap.learning.menu import Menu
from whygap.learning.models import Constant
from whygap.nuisances import phantom_ratio, recombined, v_statistic
from whygap.nuisances.ground import lay_ground
from whygap.nuisances.phantom_ratio import fit_phantom_ratio
from whygap.nuisances.recombined import Lenders, Mixed, Recombination, stream_pairs
from whygap.nuisances.v_statistic import prepare_v_statistic
from whygap.simulate.clustered import ClusteredWorld
from whygap.simulate.gaussian import GaussianWorld

SETTINGS = fast(outcome_form="v_statistic", bins=5)


def part_of(rows: int, settings=SETTINGS, design=None):
    drawn = GaussianWorld(metric="brier").draw(ByDomain(rows, rows), np.random.default_rng(1))
    ground = lay_ground(design or drawn, settings, np.random.SeedSequence(0), Menu(settings))
    return prepare_v_statistic(ground, [(0,)])


@pytest.fixture(scope="module")
def part():
    return part_of(400)


def model(table):
    """The risk column of the small study, as a function of its other columns."""
    return 1 / (1 + np.exp(-(0.3 * table["w"] + 1.2 * table["a"] + 0.5 * table["b"])))


# -- who lends to whom -----------------------------------------------------------------------------


def everything() -> Recombination:
    """All rows in one bin; p_1 and a tell who lends and who keeps; ratios of 1."""
    return Recombination(
        lambda mixed: np.zeros(len(mixed)),
        lambda mixed: mixed.raw[:, 1],
        lambda mixed, _: np.ones(len(mixed)),
        lambda raw: (raw[:, 0], np.ones(len(raw))),
        floats=10,
    )


def streamed(block, at=None, swapped=(1,)):
    raw = np.column_stack([np.arange(9.0), 100 + np.arange(9.0)])
    return list(stream_pairs(raw, block, swapped, at or everything(), np.random.default_rng(0)))


def block(rows=4, **changed) -> Lenders:
    known = {"rows": np.arange(rows), "number": np.zeros(rows), "weight": np.ones(rows)}
    return Lenders(**(known | changed))


def test_every_row_borrows_from_every_other_row():
    (found,) = streamed(block(unit=np.arange(4)))
    lender = (found.p_1 - 100).astype(int)
    assert sorted(zip(found.row.tolist(), lender.tolist(), strict=True)) == [
        (i, j) for i in range(4) for j in range(4) if i != j
    ]
    np.testing.assert_array_equal(found.intercept, found.row)
    np.testing.assert_allclose(np.bincount(found.row, weights=found.weight), 1.0)


def test_rows_of_a_cluster_do_not_lend_to_each_other():
    unit = np.array([0, 0, 1, 2])
    (found,) = streamed(block(unit=unit, weight=np.array([1.0, 2.0, 3.0, 4.0])))
    lender = (found.p_1 - 100).astype(int)
    assert (unit[lender] != unit[found.row]).all()
    np.testing.assert_allclose(np.bincount(found.row, weights=found.weight), 1.0)
    own = found.weight[(found.row == 0) & (lender == 3)]
    np.testing.assert_allclose(own, 4 / 7)


def test_a_block_of_one_unit_has_no_pairs():
    assert streamed(block(unit=np.zeros(4, dtype=int))) == []


def test_only_pairs_in_the_bin_of_the_kept_row_are_made():
    number = np.array([0.0, 0.0, 1.0, 1.0])
    at = replace(everything(), number=lambda mixed: number[mixed.lender])
    (found,) = streamed(block(number=number), at)
    assert (number[found.row] == number[(found.p_1 - 100).astype(int)]).all()
    np.testing.assert_allclose(np.bincount(found.row, weights=found.weight), 0.5)


def test_many_rows_draw_their_lenders_by_weight(monkeypatch):
    monkeypatch.setattr(recombined, "MOST_DRAWS", 3)
    weight = np.array([1.0, 1.0, 1.0, 0.0])
    found = streamed(block(weight=weight, unit=np.arange(4)))
    lender = np.concatenate([(p.p_1 - 100).astype(int) for p in found])
    row = np.concatenate([p.row for p in found])
    assert 3 not in lender
    assert (lender != row).all()
    assert len(row) <= 4 * 3


def test_drawn_averages_are_unbiased(monkeypatch):
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = block(5, weight=weight, unit=np.arange(5))
    raw = np.column_stack([np.zeros(5), np.array([0.1, 0.9, 0.4, 0.2, 0.7])])

    def averages(seed):
        stream = stream_pairs(raw, rows, (1,), everything(), np.random.default_rng(seed))
        return sum(np.bincount(p.row, p.weight * p.p_1, minlength=5) for p in stream)

    exact = averages(0)
    monkeypatch.setattr(recombined, "MOST_DRAWS", 4)
    drawn = np.array([averages(seed) for seed in range(2000)])
    noise = drawn.std(axis=0, ddof=1) / np.sqrt(2000)
    assert (np.abs(drawn.mean(axis=0) - exact) < 4.5 * noise).all()


@pytest.mark.parametrize("most", [2000, 40])
def test_the_size_of_the_pieces_does_not_matter(part, monkeypatch, most):
    monkeypatch.setattr(recombined, "MOST_DRAWS", most)
    whole = part.numerator((1,))
    monkeypatch.setattr(recombined, "MEMORY_BOUND", 1)
    assert part.numerator((1,)).value == pytest.approx(whole.value, rel=1e-9)


# -- what is known about recombined rows -----------------------------------------------------------


def test_basis_of_recombined_rows_is_that_of_the_dictionary(part):
    fold = part.folds[1]
    features = part.ground.features
    kept, lender = np.array([3, 5, 8]), np.array([90, 3, 40])
    mixed = Mixed.of(features.raw.target, kept, lender, (2, 3))
    found = fold.inputs_at(mixed)
    np.testing.assert_array_equal(mixed.raw[:, :2], features.raw.target[kept, :2])
    np.testing.assert_array_equal(mixed.raw[:, 2:], features.raw.target[lender, 2:])
    np.testing.assert_allclose(found.basis, features.dictionary.transform(mixed.raw), atol=1e-12)
    np.testing.assert_allclose(fold.p_1_at(mixed), fold.p_1.predict(found))


def test_a_row_recombined_with_itself_is_in_its_own_bin(part):
    fold, rows = part.folds[0], np.arange(50)
    mixed = Mixed.of(part.ground.features.raw.target, rows, rows, (1, 2))
    np.testing.assert_array_equal(fold.number_at(mixed), fold.number[rows])


def test_the_phantom_ratio_has_mean_one_over_phantoms(part):
    """E over recombined rows of ratio times "same bin" is 1, here over rows not trained on."""
    fold, swapped = part.folds[0], (2, 3)
    ratio = fit_phantom_ratio(fold, swapped, part._ratio_learner(), np.random.default_rng(0))
    rows = fold.held_out_rows
    lender = np.random.default_rng(1).choice(rows, size=(200, len(rows)))
    mixed = Mixed.of(part.ground.features.raw.target, np.tile(rows, 200), lender.ravel(), swapped)
    number = fold.number[mixed.kept]
    same = np.flatnonzero(fold.number_at(mixed) == number)
    total = ratio.at(mixed.only(same), number[same]).sum() / len(mixed)
    assert 0.8 < total < 1.25
    assert len(same) / len(mixed) < 0.6


def test_no_phantom_in_its_bin_is_an_error(part):
    fold = part.folds[0]
    lost = replace(fold, p_0=Constant(0.0), number=np.full_like(fold.number, 2.0))
    with pytest.raises(FitError) as caught:
        phantom_ratio.contrast(lost, fold.training_rows[:100], (2, 3), np.random.default_rng(0))
    assert str(caught.value) == (
        "No recombined row stayed in its bin of the source risk in 40 rounds. Got 100 rows, 5 "
        "bins. Use fewer bins, or outcome_form='binned', which needs no recombined rows."
    )


# -- the part --------------------------------------------------------------------------------------


def test_the_full_set_leaves_nothing(part):
    everyone = part.numerator((0, 1, 2))
    assert everyone.value == 0.0
    assert everyone.standard_error == 0.0


def test_numbers_depend_on_the_seed_and_not_on_the_order(part, monkeypatch):
    monkeypatch.setattr(recombined, "MOST_DRAWS", 20)
    first, second = part.numerator((1,)), part.numerator((2,))
    assert part.numerator((2,)).value == second.value
    assert part.numerator((1,)).value == first.value
    assert replace(part, repeat=1).numerator((1,)).value != first.value


def test_the_single_split_of_the_paper():
    part = part_of(500, replace(SETTINGS, split=0.2))
    assert len(part.folds) == 1
    found = part.numerator((0,))
    assert len(found.influence.target) == len(part.folds[0].held_out_rows)
    assert np.isfinite(found.value)


def test_clusters_and_weights_are_respected():
    drawn = ClusteredWorld(metric="brier").draw(ByDomain(500, 500), np.random.default_rng(0))
    weighted = replace(drawn, weights=drawn.outcome.map(lambda y: 1.0 + y))
    part = part_of(0, design=weighted)
    order = part.ground.blocks.order.target
    pairs = np.unique(
        np.column_stack([v_statistic._units(part.ground), drawn.clusters.target[order]]), axis=0
    )
    assert len(pairs) == len(np.unique(drawn.clusters.target))
    found = part.numerator((0,))
    assert np.isfinite(found.value)
    assert len(found.influence.target) == len(pairs)


def test_memory_is_bounded():
    """1.8 million pairs; all at once their basis alone would take more than half a gigabyte."""
    part = part_of(3000)
    tracemalloc.start()
    try:
        part.numerator((0,))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6


# -- from the outside ------------------------------------------------------------------------------


def test_a_prediction_column_is_refused_before_anything_is_fitted():
    with pytest.raises(SettingsError) as caught:
        wg.explain(make_study(), settings=SETTINGS)
    assert str(caught.value) == (
        "The 'outcome_form' setting 'v_statistic' needs the model itself, at rows recombined from "
        "the baseline and covariate columns. Got a prediction column, or a model that reads other "
        "columns. Give Study(model=...) without prediction=, or use outcome_form='binned', which "
        "needs predictions at the observed rows only."
    )


def test_a_source_risk_column_is_refused():
    study = make_study(prediction=None, model=model, source_risk="risk")
    with pytest.raises(SettingsError) as caught:
        wg.subset_values(study, "outcome", [["a"]], settings=SETTINGS)
    assert str(caught.value) == (
        "The 'outcome_form' setting 'v_statistic' needs the source risk at recombined rows, where "
        "a source_risk column says nothing. Leave out source_risk= (the risk is then estimated), "
        "or use outcome_form='binned'."
    )


def test_the_covariate_part_alone_needs_no_model():
    gap = wg.explain(make_study(), detail="covariate", settings=SETTINGS)
    assert gap.covariate is not None


def test_a_study_with_a_model_is_explained():
    study = make_study(prediction=None, model=model, covariates=["a", "b"], metric="brier")
    gap = wg.explain(study, detail="outcome", settings=SETTINGS)
    again = wg.explain(study, detail="outcome", settings=SETTINGS)
    assert gap.outcome is not None
    assert gap.outcome.defined
    total = sum(share.value for share in gap.outcome.shares.values())
    assert total + gap.outcome.base.value == pytest.approx(1.0)
    assert gap.outcome.shares["a"].value == again.outcome.shares["a"].value
    default = replace(SETTINGS, outcome_form="binned", twins=False, risk_uncertainty=False)
    base = wg.explain(study, detail="outcome", settings=default).outcome.base
    error = np.hypot(gap.outcome.base.standard_error, base.standard_error)
    assert abs(gap.outcome.base.value - base.value) < error
    assert sum("v_statistic" in note.text for note in gap.diagnostics.notes) == 1
