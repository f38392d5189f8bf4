"""The source risk as a column, and the parts that use it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import shifted_design

from whygap._explain import Analysis
from whygap.domains import ByDomain
from whygap.equations import binning
from whygap.nuisances.held_out import block_sorted
from whygap.nuisances.source_risk import fit_source_risks, risk_columns
from whygap.progress import Silent
from whygap.settings import Settings

FAST = Settings(learner="fast", progress=False)


def begun(design, **changes):
    return Analysis.begin(design, replace(FAST, **changes), Silent())


@pytest.fixture(scope="module")
def design():
    return shifted_design((600, 500), columns=4)


@pytest.fixture(scope="module")
def analysis(design):
    return begun(design)


@pytest.fixture(scope="module")
def risks(analysis):
    crossfit = analysis.crossfits[0]
    return fit_source_risks(crossfit)[0].p_0


def test_every_half_has_a_risk_of_its_own(analysis, risks):
    halves = analysis.crossfits[0].halves
    assert set(risks) == set(halves)
    first, second = (risks[half].target for half in halves[:2])
    assert not np.array_equal(first, second)
    assert np.corrcoef(first, second)[0, 1] > 0.5


def test_bins_lie_on_both_sides_of_the_nearest_edge(analysis, risks):
    crossfit = analysis.crossfits[0]
    for half, extra in risk_columns(crossfit, risks).items():
        q = block_sorted(crossfit.blocks, risks[half])
        views = extra.views
        assert np.array_equal(views["own"].position, binning.bin_index(q.target, 20))
        assert np.array_equal(views["up"].position, views["down"].position + 1)
        edge = (views["down"].position + 0.5) / 20
        assert np.abs(q.source - edge).max() <= 0.5 / 20 + 1e-9
        assert (views["own"].domain, views["up"].domain) == ("target", "source")


def test_a_given_risk_serves_every_half(design):
    rng = np.random.default_rng(0)
    given = ByDomain(rng.random(600), rng.random(500))
    crossfit = begun(replace(design, source_risk=given)).crossfits[0]
    columns = risk_columns(crossfit, dict.fromkeys(crossfit.halves, given))
    assert len({id(extra) for extra in columns.values()}) == 1


def test_terms_of_the_extra_column_follow_those_of_the_others(analysis, risks):
    crossfit = analysis.crossfits[0]
    extra = next(iter(risk_columns(crossfit, risks).values()))
    plain = crossfit.features.inputs("target", slice(0, 50), (0, 1))
    with_risk = crossfit.features.inputs("target", slice(0, 50), (0, 1), extra)
    assert with_risk.table.shape[1] == plain.raw.shape[1] + 1
    assert np.array_equal(with_risk.table[:, -1], extra.views["own"].position[:50])
    width = plain.basis.shape[1]
    assert np.array_equal(with_risk.dense()[:, :width], plain.basis)
    assert with_risk.dense().shape[1] == len(with_risk.simple) > width + len(with_risk.lift.times)


@pytest.mark.parametrize("part", ["covariate", "outcome"])
def test_the_full_set_leaves_exactly_nothing(analysis, part):
    (one,) = analysis.parts(part)
    everything = tuple(range(one.players))
    left = one.numerator(everything)
    assert left.value == 0
    assert left.standard_error == 0


def test_the_covariate_denominator_is_the_numerator_of_the_empty_set(analysis):
    (part,) = analysis.parts("covariate")
    assert part.denominator.value == part.numerator(()).value
    assert part.denominator is part.numerator(()), "fitted once"


@pytest.mark.parametrize("part", ["covariate", "outcome"])
def test_a_subset_is_valued_the_same_twice(analysis, part):
    (one,) = analysis.parts(part)
    first, second = one.numerator((1,)), one.numerator((1,))
    assert first.value == second.value
    assert first.standard_error == second.standard_error


def test_a_known_risk_has_no_error_on_source_rows(design):
    rng = np.random.default_rng(0)
    known = replace(design, source_risk=ByDomain(rng.random(600), rng.random(500)))
    with_term, without = (begun(one).parts("outcome")[0].numerator((1,)) for one in (design, known))
    assert without.influence is not None
    assert np.ptp(without.influence.source) == 0
    assert np.ptp(with_term.influence.source) > 0


@pytest.mark.parametrize("part", ["covariate", "outcome"])
def test_no_baseline_columns_are_no_obstacle(design, part):
    bare = replace(design, baseline=())
    (one,) = begun(bare).parts(part)
    for subset in ((), (0,)):
        assert np.isfinite(one.numerator(subset).value)
        assert one.numerator(subset).standard_error > 0
