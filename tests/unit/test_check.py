"""The page before an analysis: facts, overlap, a forecast, and reasons not to trust."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, make_table, tables

import whygap as wg
from whygap.checks import CheckReport
from whygap.checks.facts import column_facts, domain_facts
from whygap.checks.forecast import Forecast, forecast, peak_megabytes
from whygap.storage import plain


@pytest.fixture(scope="module")
def study() -> wg.Study:
    source, target = tables()
    rng = np.random.default_rng(0)
    for table, levels in ((source, ["p", "q"]), (target, ["q", "r"])):
        table["site"] = rng.choice(levels, len(table))
        table.loc[rng.random(len(table)) < 0.2, "b"] = np.nan
        table["k"] = rng.random(len(table)) + 0.5
    return make_study(source, target, weights="k", target_name="hospital B")


@pytest.fixture(scope="module")
def report(study) -> CheckReport:
    return wg.check(study, fast())


def test_a_sound_study_passes():
    page = wg.check(make_study(), fast())
    assert page.ok
    assert page.problems == page.warnings == ()
    assert str(page).endswith("Verdict\n-------\nNothing stands in the way of an analysis.\n")


def test_tables_that_share_a_region_only_can_be_analysed_and_the_verdict_says_so(report):
    kept = report.overlap.kept
    assert report.ok
    assert report.warnings[-1] == (
        "The tables are compared where both have rows (probability of the target between 5% and "
        f"95%): {kept.source:.1%} of the source rows and {kept.target:.1%} of the target rows. "
        "The rest is outside the common support: source-only and target-only rows."
    )
    assert "Verdict\n-------\nAn analysis is possible. Keep in mind:\n- Column 's" in str(report)
    assert "Nothing stands in the way" not in str(report)


def test_rows_outcomes_and_metric_are_those_of_the_tables(study, report):
    for domain in ("source", "target"):
        facts, table = report.domains[domain], getattr(study, domain)
        weight = table["k"] / table["k"].sum()
        right = (table["risk"] >= 0.5) == (table["y"] == 1)
        assert facts.rows == facts.units == len(table)
        assert facts.effective_rows == pytest.approx(1 / (weight**2).sum())
        assert facts.rarer == min(table["y"].sum(), len(table) - table["y"].sum())
        assert facts.positive_share == pytest.approx((weight * table["y"]).sum())
        assert facts.metric.value == pytest.approx((weight * right).sum())


def test_the_metric_comes_with_the_interval_of_its_own_rows(report):
    low, high = report.domains.source.metric.interval(0.95)
    assert 0.02 < (high - low) / 2 < 0.08


def test_a_level_is_not_rounded(report):
    assert "(99.9% interval)" in str(replace(report, level=0.999))


def test_missing_values_levels_and_separation_by_column(report):
    facts = {column.name: column for column in report.columns}
    assert facts["b"].missing.source == pytest.approx(0.2, abs=0.06)
    assert facts["a"].missing.source == 0
    assert facts["site"].values == 3
    assert facts["site"].one_sided.source == pytest.approx(0.5, abs=0.1)
    assert facts["site"].player == "site"
    assert facts["w"].player == ""
    assert facts["a"].domain_auc > facts["w"].domain_auc
    assert report.separators[0].name == "site"
    assert len(report.separators) == 5


def test_single_column_aucs_agree_with_ranks():
    source, target = tables()
    found = {c.name: c for c in column_facts(make_study(source, target).design)}
    pairs = source["a"].to_numpy()[:, None] < target["a"].to_numpy()
    assert found["a"].domain_auc == pytest.approx(pairs.mean(), abs=1e-12)


def test_the_page_fits_80_columns_and_names_everything(report):
    page = str(report)
    assert max(len(line) for line in page.splitlines()) <= 80
    for word in ("hospital B", "risk", "weights", "site", "AUC", "CPU time", "memory"):
        assert word in page
    assert "'only source'" in page
    assert "Extrapolated from trial fits on 400 source and 300 target rows." in page


def forecast_of(study: wg.Study, settings: wg.Settings) -> Forecast:
    return forecast(study.design, settings)


def test_the_forecast_is_in_the_order_of_what_it_takes(study):
    already = peak_megabytes()  # of this process, whatever ran in it before
    cost = forecast_of(study, fast())
    gap = wg.explain(study, settings=fast())
    assert cost.subsets == (16, 16)
    assert [stage.name for stage in cost.stages] == [
        "aggregate",
        "points",
        "where",
        "recoverable",
        "covariate shares",
        "outcome shares",
    ]
    low, high = cost.seconds
    assert 0 < low <= high < 30 * sum(gap.about.seconds.values()) + 5
    assert 0 < cost.megabytes - already < 400


def test_more_rows_and_more_subsets_are_forecast_to_cost_more():
    small, big = make_study(*tables(300, 300)), make_study(*tables(3000, 3000))
    many = forecast_of(big, fast())
    few = min(forecast_of(small, fast()).seconds[1] for _ in range(3))  # other programs only add
    assert many.seconds[1] > 2 * few
    assert many.trial_rows.source < 3000
    assert forecast_of(small, fast(subsets="all")).subsets == (8, 8)


def test_workers_are_counted_on_the_page(report):
    assert report.forecast is not None
    shared = replace(report, forecast=replace(report.forecast, workers=4))
    assert "with 4 workers" in str(shared)


def test_workers_share_games_but_not_the_aggregate_and_the_groups(report):
    alone = {s.name: (s.low, s.high) for s in report.forecast.stages}
    kept = [sum(alone[name][k] for name in ("aggregate", "where")) for k in (0, 1)]
    every = report.forecast.seconds
    expected = [own + (total - own) / 4 for own, total in zip(kept, every, strict=True)]
    assert replace(report.forecast, workers=4).wall_seconds == pytest.approx(tuple(expected))


def test_every_detail_has_a_cost_of_its_own(report):
    page = str(report)
    for name in ("points", "where", "recoverable", "covariate shares", "outcome shares"):
        assert f"\n{name} " in page
    assert all(0 < stage.low <= stage.high for stage in report.forecast.stages)


def test_without_a_baseline_points_cost_one_game():
    source, target = tables(600, 600)
    both = forecast_of(make_study(source, target, baseline=["w", "b"]), fast())
    one = forecast_of(make_study(source, target, baseline=[], covariates=["a", "c"]), fast())
    points = [next(s for s in cost.stages if s.name == "points") for cost in (both, one)]
    assert points[0].high > points[1].high > 0


def test_json_holds_plain_values(report):
    values = json.loads(json.dumps(plain(report.to_mapping()), allow_nan=False))
    assert values["ok"] is True
    assert values["domains"]["target"]["name"] == "hospital B"
    assert values["overlap"]["ratios"][1]["domain_auc"] > 0.5
    assert values["forecast"]["seconds"][0] <= values["forecast"]["seconds"][1]


def test_clusters_are_units():
    source, target = (t.assign(id=np.arange(len(t)) // 4) for t in tables())
    facts = domain_facts(make_study(source, target, clusters="id").design)
    assert (facts.source.units, facts.target.units) == (100, 75)
    assert "Clusters by 'id': 100 and 75." in str(
        wg.check(make_study(source, target, clusters="id"), fast())
    )


def test_a_column_that_separates_the_domains_fails_the_check():
    source, target = tables()
    page = wg.check(make_study(source.assign(year=2018), target.assign(year=2024)), fast())
    (problem,) = page.problems
    assert problem == (
        "The tables share too little to compare them: only 0.0% of the source rows (0) and 0.0% of "
        "the target rows (0) have a counterpart in the other table. What separates them: 'year' "
        "(constant in the source)."
    )
    assert page.overlap.reason == problem
    assert "An analysis could not be trusted:\n- The tables share too little" in str(page)
    assert "Nothing stands in the way" not in str(page)


def test_one_column_in_other_units_fails_the_check():
    source, target = tables()
    page = wg.check(make_study(source, target.assign(a=target["a"] * 1000)), fast())
    (problem,) = page.problems
    ratio = np.subtract(*np.quantile(target["a"], (0.75, 0.25)))
    ratio *= 1000 / np.subtract(*np.quantile(source["a"], (0.75, 0.25)))
    assert problem.endswith(
        "have a counterpart in the other table. What separates them: 'a' (other units: the "
        f"target's spread is {ratio:,.0f} times the source's)."
    )
    assert page.overlap.ratios[1].verdict == "poor"
    assert page.overlap.ratios[0].verdict == "good"


def test_without_a_region_poor_overlap_fails_the_check():
    source, target = tables()
    target = target.assign(a=target["a"] + 5, b=target["b"] - 5)
    page = wg.check(make_study(source, target), fast(support="all"))
    ratio = page.overlap.ratios[1]
    assert page.problems[0] == (
        f"The domains overlap poorly on all variables: {'; '.join(ratio.faults())}."
    )
    assert ratio.lacks_counterparts
    assert page.problems[1] == (
        "Column 'a' looks recorded differently in the two tables (another origin: the target's "
        f"values lie {np.median(target['a']) - np.median(source['a']):+,.3g} from the source's). "
        "Set that right first."
    )


def test_a_rare_outcome_fails_the_check():
    source, target = tables()
    rare = target.assign(y=np.arange(len(target)) % 20 == 0)
    page = wg.check(make_study(source.assign(y=source["y"] == 1), rare), fast())
    assert page.ok
    text = "Only 15 of 300 rows of {} have the rarer value of 'y'; at least 25 are needed for "
    text += "models of the outcome."
    assert text.format("target") in page.warnings
    page = wg.check(make_study(rare, source.assign(y=source["y"] == 1)), fast())
    assert page.problems == (text.format("source"),)


def test_a_study_that_cannot_be_analysed_says_why_instead_of_raising():
    source, target = tables()
    tiny = target.assign(y=np.arange(len(target)) < 6)
    page = wg.check(make_study(tiny, source.assign(y=source["y"] == 1)), fast(folds=10))
    assert not page.ok
    assert page.overlap is None
    assert page.forecast is None
    assert page.problems[-1].startswith("The source table is too small for 10 folds")
    assert "Unknown: the trial fits were not possible." in str(page)


def test_many_columns_are_cut_short():
    source, target = (
        t.assign(**{f"flag_{k:02d}": pd.Categorical(np.arange(len(t)) % 2) for k in range(15)})
        for t in tables()
    )
    page = str(wg.check(make_study(source, target), fast(subsets=64)))
    assert "... and 4 more columns." in page


def test_large_tables_are_measured_on_some_rows():
    source, target = make_table(6_000, 0.0, 1), make_table(300, 1.0, 2)
    page = wg.check(make_study(source, target), fast())
    assert page.overlap.rows.source == 5_000
    assert page.overlap.ratios[0].rows == 6_000
    assert "Measured on 5,000 source and 300 target rows at random." in str(page)


def test_reversed_scores_fail_the_check_and_the_rest_is_said_below():
    source, target = (t.assign(risk=1 - t["risk"]) for t in tables())
    page = wg.check(make_study(source, target), fast())
    area = {one.name: one.value.source for one in page.prediction}["AUC"]
    (problem,) = page.problems
    assert problem == (
        f"In the source high scores go with outcome 0 (AUC {area:.2f}): the scores may be 1 - p, "
        "or meant for the other outcome value (positive=)."
    )
    assert "\nAlso:\n- In the source the model is right in " in str(page)


def test_predictions_are_shown_with_what_their_numbers_mean(report):
    found = {one.name: one for one in report.prediction}
    area = found["AUC"].text(found["AUC"].value.source)
    assert f"\nAUC                 {area} " in str(report)
    assert report.to_mapping()["prediction"]["AUC"]["source"] == found["AUC"].value.source
    flat = " ".join(str(report).split())
    assert "Commoner outcome: the accuracy of always saying it." in flat


def test_numbers_as_outcome_have_no_shares_and_no_cost_of_them():
    rng = np.random.default_rng(0)
    source, target = (
        t.assign(y=2 * t["a"] + rng.normal(size=len(t)), risk=2 * t["a"]) for t in tables()
    )
    page = wg.check(make_study(source, target, task="regression", metric="r2"), fast())
    assert page.ok
    assert [s.name for s in page.forecast.stages] == ["aggregate", "points", "where", "recoverable"]
    assert [one.name for one in page.prediction] == [
        "R2",
        "bias",
        "mean prediction",
        "mean outcome",
    ]
    error = np.mean((source["y"] - source["risk"]) ** 2)
    fitted = 1 - error / source["y"].var(ddof=0)
    assert page.domains.source.metric.value == pytest.approx(fitted)
    assert page.domains.source.positive_share is None
    assert "outcome 1" not in str(page)
