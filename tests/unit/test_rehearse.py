"""Rehearsals: the arithmetic, the world made of the user's rows, coverage where it must hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small_study import fast, make_study, tables

import whygap as wg
from whygap._rehearse import Rehearsal, rehearse_world
from whygap._rehearse import run as module
from whygap._rehearse.rehearsal import Measured, term_of
from whygap._rehearse.world import PLAN, coarsened, copies_needed, enriched
from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.results.files import plain
from whygap.simulate import GaussianWorld

REPLICATES = 4


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return wg.rehearse(make_study(), replicates=REPLICATES, settings=fast(level=0.9))


def test_every_estimate_of_the_analysis_is_rehearsed(rehearsal):
    terms = {(t.part, t.term) for t in rehearsal.terms}
    assert terms >= {("aggregate", n) for n in ("gap", "baseline", "covariate", "outcome")}
    assert terms >= {("outcome", n) for n in ("(base)", "a", "b", "c")}
    assert rehearsal.rows == ByDomain(400, 300)
    assert rehearsal.finished == rehearsal.asked == REPLICATES
    assert rehearsal.failures == {}


def test_the_world_has_a_gap_like_the_tables(rehearsal):
    study = make_study()
    gap = study.design.loss.map(np.mean)
    truth = {(t.part, t.term): t.truth for t in rehearsal.terms}
    assert truth["aggregate", "gap"] < 0.5 * (gap.target - gap.source) < 0
    total = sum(truth["aggregate", n] for n in ("baseline", "covariate", "outcome"))
    assert total == pytest.approx(truth["aggregate", "gap"], abs=1e-12)


def test_aggregate_estimates_are_near_the_truth(rehearsal):
    for term in rehearsal.terms:
        if term.part == "aggregate":
            assert abs(term.bias) < 3 * term.standard_error / math.sqrt(REPLICATES) + 1e-3, term


def test_the_page_fits_80_columns(rehearsal):
    page = str(rehearsal)
    assert max(len(line) for line in page.splitlines()) <= 80
    assert page.startswith("Rehearsal: 4 of 4 replicates, 400 source and 300 target rows each\n")
    assert "90% covers" in page
    assert "it is like your data, not your data." in " ".join(page.split())


def test_a_level_is_not_rounded(rehearsal):
    page = str(replace(rehearsal, level=0.999))
    assert "99.9% covers" in page
    assert "100% covers" not in page


def test_the_table_is_of_the_callers_kind(rehearsal):
    frame = rehearsal.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(rehearsal.terms)
    assert {"part", "term", "truth", "coverage", "bias_in_sd", "width"} <= set(frame.columns)


def test_json_holds_plain_values(rehearsal):
    values = json.loads(json.dumps(plain(rehearsal.to_mapping()), allow_nan=False))
    assert values["finished"] == REPLICATES
    assert values["terms"][0]["term"] == "gap"
    assert values["ok"] is rehearsal.ok


def test_the_same_seed_gives_the_same_rehearsal():
    one, two, other = (
        wg.rehearse(make_study(), 2, detail=(), settings=fast(seed=seed)) for seed in (3, 3, 4)
    )
    assert one.terms == two.terms
    assert one.terms != other.terms


def test_variables_can_be_named():
    found = wg.rehearse(
        make_study(), replicates=2, detail="shares", settings=fast(), variables=["b"]
    )
    assert {t.term for t in found.terms if t.part == "outcome"} <= {"(base)", "b"}
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(make_study(), replicates=2, settings=fast(), variables=["bb"])
    assert str(caught.value) == "There is no player named 'bb'. Did you mean 'b'?"


def test_an_analysis_that_fails_is_counted_not_raised():
    world = GaussianWorld()
    found = rehearse_world(world, ByDomain(20, 20), 3, (), fast(folds=5))
    assert found.finished == 0
    assert sum(found.failures.values()) == 3
    assert not found.ok
    assert "replicates could not be analysed: The " in str(found)


def test_the_time_budget_ends_a_rehearsal():
    found = rehearse_world(GaussianWorld(), ByDomain(300, 300), 50, (), fast(time_budget=0.01))
    assert found.finished == 2
    assert found.asked == 50


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    whole = module.run_chunks

    def stopped(job, items, settings):
        if items[0] >= 3:
            raise KeyboardInterrupt
        return whole(job, items, settings)

    monkeypatch.setattr(module, "run_chunks", stopped)
    found = rehearse_world(GaussianWorld(), ByDomain(300, 300), 50, (), fast())
    assert found.finished == 3


@pytest.mark.parametrize("replicates", [1, 0, 2.5, True, 10_001])
def test_the_number_of_replicates_is_checked(replicates):
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(make_study(), replicates=replicates, settings=fast())
    assert str(caught.value) == (
        f"The number of replicates must be a whole number from 2 to 10000. Got {replicates!r}."
    )


@pytest.mark.parametrize("form", ["smooth"])
def test_only_the_binned_form_can_be_rehearsed(form):
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(make_study(), settings=fast(outcome_form=form))
    assert str(caught.value) == (
        f"A rehearsal knows the truth of outcome_form='binned' only. Got '{form}'. Rehearse with "
        "'binned'; the forms share everything but the risk's bins."
    )


def test_weights_clusters_and_known_risks_are_said_to_be_different():
    source, target = (
        t.assign(k=np.arange(len(t)) % 3 + 1.0, id=np.arange(len(t)) // 2, q=t["risk"])
        for t in tables()
    )
    study = make_study(source, target, weights="k", clusters="id", source_risk="q")
    found = wg.rehearse(study, replicates=2, detail=(), settings=fast())
    assert [note.split(":")[0] for note in found.notes[1:]] == [
        "Weights",
        "Clusters",
        "Source risk",
    ]
    assert found.rows.source < 400


def test_common_support_makes_the_world_of_the_rows_that_remain():
    source, target = tables()
    study = make_study(source, target.assign(a=target["a"] + 2.0))
    found = wg.rehearse(study, replicates=2, detail=(), settings=fast(support="common"))
    assert found.rows.source < 400
    assert found.notes[1] == "It is made of the rows in the region of shared support."


def test_coarse_columns_have_few_values_each_a_value_of_the_table():
    design = make_study(*(t.assign(m=t["a"].where(t["a"] > 0)) for t in tables())).design
    coarse = coarsened(design)
    pooled, original = (np.concatenate(list(d.features)) for d in (coarse, design))
    for k in range(pooled.shape[1]):
        known = pooled[~np.isnan(pooled[:, k]), k]
        assert len(np.unique(known)) <= PLAN.levels
        assert np.isin(known, original[:, k]).all()
    np.testing.assert_array_equal(np.isnan(pooled), np.isnan(original))
    assert len(np.unique(pooled[:, list(design.baseline)], axis=0)) <= 4


def test_copies_keep_each_covariates_distribution_given_w():
    design = coarsened(make_study().design)
    copies = copies_needed(design)
    pool = enriched(design, copies, np.random.default_rng(0))
    assert copies > 10
    assert pool.rows.source == copies * 400
    w, a = design.baseline[0], design.players[0].columns[0]
    for before, after in zip(design.features, pool.features, strict=True):
        np.testing.assert_array_equal(after[: len(before)], before)
        for value in np.unique(before[:, w]):
            shares = [
                np.mean(rows[rows[:, w] == value, a] == np.median(before[:, a]))
                for rows in (before, after)
            ]
            assert shares[0] == pytest.approx(shares[1], abs=0.03)
    assert len(np.unique(pool.features.source, axis=0)) > len(
        np.unique(design.features.source, axis=0)
    )


def test_terms_are_summed_up():
    found = [Measured(v, 0.1, v - 0.2, v + 0.2) for v in (0.9, 1.0, 1.1, 1.5)]
    term = term_of("outcome", "a", 1.0, found)
    assert (term.mean, term.bias) == (pytest.approx(1.125), pytest.approx(0.125))
    assert term.spread == pytest.approx(np.std([0.9, 1.0, 1.1, 1.5], ddof=1))
    assert term.bias_in_sd == pytest.approx(term.bias / term.spread)
    assert (term.covered, term.coverage) == (3, 0.75)
    assert term.width == pytest.approx(0.4)
    assert not term.falls_short(0.9)


@pytest.mark.parametrize(("covered", "trials"), [(0, 10), (10, 10), (45, 50), (1, 3)])
def test_limits_of_the_coverage_are_clopper_and_pearsons(covered, trials):
    hit, miss = Measured(0, 1, -1, 1), Measured(5, 1, 4, 6)
    term = term_of("outcome", "a", 0.0, [hit] * covered + [miss] * (trials - covered))
    low = stats.beta.ppf(0.025, covered, trials - covered + 1) if covered else 0.0
    high = stats.beta.ppf(0.975, covered + 1, trials - covered) if covered < trials else 1.0
    assert (term.coverage_low, term.coverage_high) == pytest.approx((low, high))


def test_an_interval_falls_short_only_beyond_the_luck_of_the_draw():
    def covering(times: int, of: int = 50):
        hit, miss = Measured(0, 1, -1, 1), Measured(5, 1, 4, 6)
        return term_of("outcome", "a", 0.0, [hit] * times + [miss] * (of - times))

    assert not covering(44).falls_short(0.95)
    assert covering(40).falls_short(0.95)
    assert "1 of 1 intervals cover less often than the 95% they claim" in " ".join(
        str(Rehearsal((covering(40),), ByDomain(1, 1), 50, 50, {}, {"covariate": 7}, 0.95)).split()
    )


@pytest.mark.slow
def test_aggregate_intervals_cover_in_the_world_of_a_small_study():
    study = make_study(*tables(800, 700))
    found = wg.rehearse(study, replicates=60, detail=(), settings=fast(level=0.9))
    assert found.short == ()
    for term in found.terms:
        assert abs(term.bias_in_sd) < 0.6, term
