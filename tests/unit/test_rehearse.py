"""Rehearsals: the arithmetic, the world made of the user's rows, coverage where it must hold."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from small_study import fast, make_study, tables

import whygap as wg
from experiments.worlds.atoms import Atoms
from experiments.worlds.atoms_answers import AtomsAnswers
from whygap._rehearse import Quantity, Rehearsal
from whygap._rehearse import run as module
from whygap._rehearse.run import Job, perform
from whygap._rehearse.world import ATOMS, COVARIATE_LEVELS, World, coarsened, enriched, world_of
from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.estimate import Estimate
from whygap.results.files import plain

REPLICATES = 4
PARTS = ("baseline", "covariate", "outcome")


@pytest.fixture(scope="module")
def rehearsal() -> Rehearsal:
    return wg.rehearse(make_study(), replicates=REPLICATES, settings=fast(level=0.9))


@pytest.fixture(scope="module")
def world() -> World:
    return world_of(make_study().design, fast())


def quantity(hits: int, misses: int) -> Quantity:
    """True value 0; estimates at 0 and at 5, with standard error 0.5."""
    estimates = [Estimate(0.0, 0.5)] * hits + [Estimate(5.0, 0.5)] * misses
    return Quantity("part", "outcome", "", 0.0, tuple(estimates))


def test_parts_and_points_are_rehearsed(rehearsal):
    keys = {(q.name, q.part, q.variable) for q in rehearsal.quantities}
    assert keys == {
        ("gap", "", ""),
        *(("part", part, "") for part in PARTS),
        ("points", "baseline", "w"),
        *(("points", "covariate", name) for name in "abc"),
    }
    assert rehearsal.rows == ByDomain(400, 300)
    assert rehearsal.finished == rehearsal.requested == REPLICATES
    assert rehearsal.failures == {}


def test_truths_equal_those_of_an_independent_world(world):
    """Points and parts by the classes that the oracle tests rest on."""
    atoms = Atoms(
        features=world.atoms.features.source,
        columns=world.atoms.columns,
        baseline=world.atoms.baseline,
        groups=world.atoms.players,
        mass=world.mass,
        risk=world.risk,
        prediction=world.atoms.prediction.source,
        intercept=world.atoms.intercept.source,
        slope=world.atoms.slope.source,
    )
    corners, points = atoms.corners(), AtomsAnswers(atoms).points()
    truth = Job(world, ByDomain(1, 1), fast(), True).truths()
    assert truth["gap", "", ""] == pytest.approx(corners.gap, abs=1e-12)
    for part in PARTS:
        assert truth["part", part, ""] == pytest.approx(getattr(corners, part), abs=1e-12)
    for part in ("baseline", "covariate"):
        for name, value in getattr(points, part).items():
            assert truth["points", part, name] == pytest.approx(value, abs=1e-10)


def test_true_points_add_up_to_their_part_with_many_variables():
    source, target = tables()
    rng = np.random.default_rng(0)
    more = [
        t.assign(**{f"x{k}": rng.normal(0.1 * k * d, 1, len(t)) for k in range(10)})
        for d, t in enumerate((source, target))
    ]
    truth = Job(world_of(make_study(*more).design, fast()), ByDomain(1, 1), fast(), True)
    truths = truth.truths()
    points = [value for key, value in truths.items() if key[:2] == ("points", "covariate")]
    assert len(points) == 13
    assert sum(points) == pytest.approx(truths["part", "covariate", ""], abs=1e-9)


def test_the_world_has_a_gap_like_the_tables(rehearsal):
    gap = make_study().design.loss.map(np.mean)
    truth = {(q.name, q.part): q.truth for q in rehearsal.quantities if not q.variable}
    assert truth["gap", ""] < 0.5 * (gap.target - gap.source) < 0


def test_estimates_of_parts_and_points_are_near_the_truth(rehearsal):
    for one in rehearsal.quantities:
        error = np.mean([e.standard_error for e in one.estimates])
        bias = np.mean([e.value for e in one.estimates]) - one.truth
        assert abs(bias) < 3 * error / np.sqrt(REPLICATES) + 1e-3, one


def test_the_summary_fits_80_columns_and_says_what_is_not_rehearsed(rehearsal):
    page = rehearsal.summary()
    assert max(len(line) for line in page.splitlines()) <= 80
    assert page.startswith("Rehearsal: 4 of 4 replicates, 400 source and 300 target rows each\n")
    assert "90% covers" in page
    words = " ".join(page.split())
    assert "like your data, not your data." in words
    assert "Shares, affected groups and what can be won back are not rehearsed." in words
    assert str(rehearsal) in words
    assert rehearsal._repr_html_().startswith("<pre>Rehearsal: 4 of 4")


def test_another_level_takes_the_same_estimates(rehearsal):
    page = rehearsal.summary(0.999)
    assert "99.9% covers" in page
    assert "100% covers" not in page
    wide, narrow = (rehearsal.records(level) for level in (0.999, 0.5))
    for high, low in zip(wide, narrow, strict=True):
        assert high["covered"] >= low["covered"]
        assert not high["width"] < low["width"]


def test_the_table_is_of_the_callers_kind(rehearsal):
    frame = rehearsal.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [
        "name", "part", "variable", "truth", "coverage", "coverage_low", "coverage_high",
        "covered", "replicates", "bias", "width",
    ]  # fmt: skip
    assert len(frame) == len(rehearsal.quantities)


def test_json_holds_plain_values(rehearsal):
    values = json.loads(json.dumps(plain(rehearsal.to_dict()), allow_nan=False))
    assert values["finished"] == REPLICATES
    assert values["quantities"][0]["name"] == "gap"
    assert values["rows"] == {"source": 400, "target": 300}


def test_a_redacted_copy_has_round_counts_and_no_messages(rehearsal):
    spoilt = replace(rehearsal, rows=ByDomain(403, 298), failures={"Value 'Bob' of name": 2})
    hidden = spoilt.redacted()
    assert hidden.rows == ByDomain(400, 300)
    assert "Bob" not in hidden.summary()
    assert sum(hidden.failures.values()) == 2


def test_the_same_seed_gives_the_same_rehearsal():
    one, two, other = (
        wg.rehearse(make_study(), 2, detail=(), settings=fast(seed=seed)).records()
        for seed in (3, 3, 4)
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize(("detail", "names"), [((), set()), ("points", {"points"})])
def test_details_can_be_chosen(detail, names):
    found = wg.rehearse(make_study(), replicates=2, detail=detail, settings=fast())
    assert {q.name for q in found.quantities} == {"gap", "part"} | names


def test_a_wrong_detail_is_refused():
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(make_study(), replicates=2, detail="recoverable")
    assert str(caught.value) == ("A rehearsal has no detail 'recoverable'. Details are: points.")


def test_an_analysis_that_fails_is_counted_not_raised(world):
    found = perform(Job(world, ByDomain(20, 20), fast(folds=5), False), 3, lambda *_: None)
    assert found.finished == 0
    assert sum(found.failures.values()) == 3
    assert "replicates could not be analysed: The " in found.summary()


def test_the_time_budget_ends_a_rehearsal(world):
    job = Job(world, ByDomain(300, 300), fast(time_budget=0.01), False)
    found = perform(job, 50, lambda *_: None)
    assert found.finished == 2
    assert found.requested == 50


def test_ctrl_c_keeps_what_is_finished(monkeypatch, world):
    whole = module.run_chunks

    def stopped(job, items, settings):
        if items[0] >= 3:
            raise KeyboardInterrupt
        return whole(job, items, settings)

    monkeypatch.setattr(module, "run_chunks", stopped)
    found = perform(Job(world, ByDomain(300, 300), fast(), False), 50, lambda *_: None)
    assert found.finished == 3


@pytest.mark.parametrize("replicates", [1, 0, 2.5, True, 10_001])
def test_the_number_of_replicates_is_checked(replicates):
    with pytest.raises(SettingsError) as caught:
        wg.rehearse(make_study(), replicates=replicates, settings=fast())
    assert str(caught.value) == (
        f"The number of replicates must be a whole number from 2 to 10000. Got {replicates!r}."
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
    assert found.notes[1] == "Made of the rows in the region of common support."


def test_coarse_columns_have_few_values_each_a_value_of_the_table():
    design = make_study(*(t.assign(m=t["a"].where(t["a"] > 0)) for t in tables())).design
    coarse = coarsened(design)
    pooled, original = (np.concatenate(list(d.features)) for d in (coarse, design))
    for k in range(pooled.shape[1]):
        known = pooled[~np.isnan(pooled[:, k]), k]
        assert len(np.unique(known)) <= COVARIATE_LEVELS
        assert np.isin(known, original[:, k]).all()
    np.testing.assert_array_equal(np.isnan(pooled), np.isnan(original))
    assert len(np.unique(pooled[:, list(design.baseline)], axis=0)) <= 4


def test_copies_keep_each_covariates_distribution_given_w():
    design = coarsened(make_study().design)
    copies = round(ATOMS / sum(design.rows))
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


def test_estimates_are_summed_up():
    estimates = tuple(Estimate(v, 0.1) for v in (0.9, 1.0, 1.1, 1.5))
    row = Quantity("points", "covariate", "a", 1.0, estimates).measured(0.95)
    assert row["bias"] == pytest.approx(0.125)
    assert (row["covered"], row["replicates"], row["coverage"]) == (3, 4, 0.75)
    assert row["width"] == pytest.approx(2 * 1.96 * 0.1, rel=1e-4)


def test_what_no_replicate_had_is_undefined():
    row = Quantity("points", "covariate", "a", 1.0, ()).measured(0.95)
    assert (row["replicates"], row["coverage_low"], row["coverage_high"]) == (0, 0.0, 1.0)
    assert np.isnan([row["coverage"], row["bias"], row["width"]]).all()


@pytest.mark.parametrize(("covered", "trials"), [(0, 10), (10, 10), (45, 50), (1, 3)])
def test_limits_of_the_coverage_are_clopper_and_pearsons(covered, trials):
    row = quantity(covered, trials - covered).measured(0.95)
    low = stats.beta.ppf(0.025, covered, trials - covered + 1) if covered else 0.0
    high = stats.beta.ppf(0.975, covered + 1, trials - covered) if covered < trials else 1.0
    assert (row["coverage_low"], row["coverage_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize(("hits", "words"), [(44, "none of 1 intervals"), (40, "1 of 1 intervals")])
def test_an_interval_falls_short_only_beyond_chance(hits, words):
    found = Rehearsal((quantity(hits, 50 - hits),), ByDomain(1, 1), 50, 50, {}, 0.95)
    assert str(found).startswith(f"50 replicates: {words} cover less often than the 95% they claim")
    assert found.summary().count("!") == 2 * (hits < 44)


@pytest.mark.slow
def test_intervals_of_parts_and_points_cover_in_the_world_of_a_small_study():
    study = make_study(*tables(800, 700))
    found = wg.rehearse(study, replicates=60, detail="points", settings=fast(level=0.9))
    for row in found.records():
        assert row["coverage_high"] >= 0.9, row
        assert abs(row["bias"]) < row["width"] / 4, row
