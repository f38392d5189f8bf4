"""What every part shares: risks out of fold, ratios clipped and counted, overlap in words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from learning_designs import make_design, shifted_design

from whygap.domains import ByDomain
from whygap.learning.menu import Menu
from whygap.nuisances.cross_fit import cross_fit, largest
from whygap.nuisances.overlap import fit_notes, ratio_records, ratios_of
from whygap.nuisances.terms import loss_kind
from whygap.results import Overlap
from whygap.settings import Settings

FAST = Settings(learner="fast", progress=False)


def crossed(design, **changes):
    settings = replace(FAST, **changes)
    return cross_fit(design, settings, np.random.SeedSequence(0), Menu(settings))


@pytest.fixture(scope="module")
def design():
    return shifted_design((500, 400))


@pytest.fixture(scope="module")
def crossfit(design):
    return crossed(design)


def test_arrays_are_in_the_order_of_the_tables(design, crossfit):
    for domain in ("source", "target"):
        assert np.array_equal(crossfit.aggregate.loss[domain], design.loss[domain])


def test_the_source_risk_resembles_the_outcome_and_is_a_probability(design, crossfit):
    risk = crossfit.risk
    for domain in ("source", "target"):
        assert risk[domain].shape == design.outcome[domain].shape
        assert ((risk[domain] > 0) & (risk[domain] < 1)).all()
        assert np.corrcoef(risk[domain], design.outcome[domain])[0, 1] > 0.2


def test_a_given_source_risk_is_taken_as_it_is(design):
    rng = np.random.default_rng(0)
    given = ByDomain(rng.random(500), rng.random(400))
    crossfit = crossed(replace(design, source_risk=given))
    risk = crossfit.risk
    assert np.array_equal(risk.source, given.source)
    assert np.array_equal(risk.target, given.target)
    assert "p_0" not in crossfit.menu.choices


def test_the_fitted_metric_is_affine_in_the_risk(design):
    slanted = replace(
        design,
        term_intercept=design.outcome.map(lambda y: np.full((1, len(y)), 0.25)),
        term_slope=design.outcome.map(lambda y: np.full((1, len(y)), -2.0)),
    )
    crossfit = crossed(slanted)
    risk = crossfit.risk
    assert np.allclose(crossfit.aggregate.mu_0_wz.source, 0.25 - 2 * risk.source)


def test_without_baseline_the_ratio_is_one_and_the_mean_constant(design):
    bare = replace(design, baseline=(), players=design.players)
    crossfit = crossed(bare)
    assert np.allclose(crossfit.aggregate.pi_w, 1)
    assert len(np.unique(crossfit.aggregate.mu_00_w.target.round(12))) <= 5


def test_repeats_share_one_sample(design, crossfit):
    settings = FAST
    again = cross_fit(
        design, settings, np.random.SeedSequence(1), crossfit.menu, sample=crossfit.sample
    )
    assert again.sample is crossfit.sample
    assert not np.array_equal(again.blocks.order.source, crossfit.blocks.order.source)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.0, 1.0], "probability"),
        ([0.0, 0.5], "bounded"),
        ([0.0, 7.0], "real"),
        ([-1.0, 0.0], "real"),
    ],
)
def test_targets_are_told_apart(values, kind):
    assert loss_kind(ByDomain(np.array(values), np.array(values))) == kind


def test_ratios_are_cut_where_the_user_and_the_region_say(design):
    assert largest(design, FAST, math.inf, (0,)) == math.inf
    assert largest(design, replace(FAST, clip=10.0), 19.0, (0,)) == 10.0
    assert largest(design, FAST, 19.0, (0,)) == 19.0
    knowing = replace(design, order="outcome first").with_outcome_column()
    assert largest(knowing, FAST, 19.0, (0, *knowing.given)) == math.inf
    assert largest(knowing, replace(FAST, clip=10.0), 5.0, (0, *knowing.given)) == 10.0


def test_clipped_rows_are_counted_and_told(design):
    crossfit = crossed(design, clip=1.2)
    records = ratio_records(ratios_of(crossfit))
    both = {record.name: record for record in records}
    assert both["pi_wz"].largest_weight == 1.2
    assert both["pi_wz"].clipped_share > 0.05
    assert crossfit.aggregate.pi_wz.max() == 1.2
    text = " ".join(str(note) for note in Overlap(records).notes())
    share = f"{both['pi_wz'].clipped_share:.2%}"
    assert f"{share} of the source rows had their density ratio on all variables cut" in text


def test_the_effective_size_counts_rows_of_equal_weight(crossfit):
    for record in ratio_records(ratios_of(crossfit)):
        assert 0 < record.effective_size <= record.rows == 500
        assert 0.4 <= record.domain_auc <= 1
        assert record.clipped_share == 0


def test_poor_overlap_is_said_in_words():
    rng = np.random.default_rng(0)
    far = make_design(rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 4.0)
    crossfit = crossed(far)
    records = ratio_records(ratios_of(crossfit))
    assert records[1].domain_auc > 0.95
    notes = Overlap(records).notes()
    assert any("The domains overlap poorly on all variables" in str(note) for note in notes)


def test_rows_on_a_bin_edge_are_counted(design):
    edge = ByDomain(np.full(500, 0.5), np.where(np.arange(400) < 7, 0.525, 0.5))
    crossfit = crossed(replace(design, source_risk=edge))
    notes = fit_notes(crossfit)
    assert any(
        str(note).startswith("7 target rows have a source risk exactly on the edge")
        for note in notes
    )
