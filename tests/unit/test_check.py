"""The page before an analysis: facts, overlap, a forecast, and reasons not to trust."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from small_study import fast, make_study, make_table, tables

import whygap as wg
from whygap.checks import Check
from whygap.checks.facts import column_facts, domain_facts
from whygap.checks.trial import Forecast, forecast
from whygap.results.files import plain


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
def report(study) -> Check:
    return wg.check(study, fast())


def test_a_sound_study_passes():
    page = wg.check(make_study(), fast())
    assert page.ok
    assert page.problems() == page.warnings() == ()
    assert page.summary().endswith("Verdict\n-------\nNothing stands in the way of an analysis.\n")


def test_tables_that_share_a_region_only_can_be_analysed_and_the_verdict_says_so(report):
    kept = report.overlap.kept
    assert report.ok
    assert report.warnings()[-1] == (
        "The tables are compared where both have rows (probability of the target between 5% and "
        f"95%): {kept.source:.1%} of the source rows and {kept.target:.1%} of the target rows. "
        "The rest is outside the common support: source-only and target-only rows."
    )
    assert (
        "Verdict\n-------\nAn analysis is possible. Keep in mind:\n- Column 's" in report.summary()
    )
    assert "Nothing stands in the way" not in report.summary()


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
    assert "(99.9% interval)" in replace(report, level=0.999).summary()
    assert "(99.9% interval)" in report.summary(level=0.999)


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
    page = report.summary()
    assert max(len(line) for line in page.splitlines()) <= 80
    for word in ("hospital B", "risk", "weights", "site", "AUC", "Missing values", "subsets"):
        assert word in page
    assert "Rows with a level that the other table lacks (source / target): site " in page


def forecast_of(study: wg.Study, settings: wg.Settings) -> Forecast:
    return forecast(study.design, settings)


def test_the_forecast_is_in_the_order_of_what_it_takes(study):
    cost = forecast_of(study, fast())
    gap = wg.explain(study, settings=fast())
    assert (cost.subsets, cost.possible) == (16, 16)
    assert 0 < cost.seconds < 10 * sum(gap.about.seconds.values()) + 5


def test_more_rows_and_more_subsets_are_forecast_to_cost_more():
    small, big = make_study(*tables(300, 300)), make_study(*tables(3000, 3000))
    many = forecast_of(big, fast())
    few = min(forecast_of(small, fast()).seconds for _ in range(3))  # other programs only add
    assert many.seconds > 2 * few
    assert forecast_of(small, fast(subsets="all")).subsets == 8


def test_the_cost_is_one_line_of_text(report):
    for seconds, workers, words in (
        (0.2, 1, "About 1 s, for 16 of 16 subsets"),
        (170, 4, "About 3 min with 4 workers, for"),
        (9000, 1, "About 2 h, for"),
    ):
        cost = replace(report.cost, seconds=seconds, workers=workers)
        assert f"\n{words}" in replace(report, cost=cost).summary()


def test_the_frame_has_a_line_for_every_fact(report):
    frame = report.to_frame()
    assert list(frame.columns) == ["topic", "term", "table", "value", "low", "high"]
    metric = frame[frame["topic"] == "metric"].set_index("table")
    assert metric.loc["hospital B", "value"] == report.domains.target.metric.value
    assert metric.loc["hospital B", "low"] == report.domains.target.metric.interval(0.95)[0]
    narrow = report.to_frame(level=0.5)
    assert narrow["low"].dropna().gt(frame["low"].dropna()).all()
    missing = frame[(frame["topic"] == "missing") & (frame["term"] == "b")]
    assert missing["value"].tolist() == list(
        next(c for c in report.columns if c.name == "b").missing
    )


def test_the_short_form_is_the_verdict(report):
    assert str(report).startswith("An analysis is possible. Keep in mind:\n- Column 's")
    assert report.summary().endswith(f"{report}\n")
    assert report._repr_html_().startswith("<pre>Rows\n")


def test_redacted_names_no_value_and_no_exact_count(report):
    assert "'p'" in report.summary()
    hidden = report.redacted(rows=40)
    for text in (hidden.summary(), json.dumps(plain(hidden.to_dict()))):
        assert "'p'" not in text
        assert "'r'" not in text
    for size in hidden.domains:
        assert size.rows % 40 == size.units % 40 == size.rarer % 40 == 0
        assert size.effective_rows % 40 == 0
    assert report.redacted() == report.redacted(rows=10)


def test_json_holds_plain_values(report):
    values = json.loads(json.dumps(plain(report.to_dict()), allow_nan=False))
    assert values["problems"] == []
    assert values["names"]["target"] == "hospital B"
    assert values["overlap"]["ratios"][1]["domain_auc"] > 0.5
    assert values["cost"]["seconds"] > 0
    metric = values["domains"]["source"]["metric"]
    assert {"value", "standard_error"} <= set(metric)
    assert "influence" not in metric


def test_clusters_are_units():
    source, target = (t.assign(id=np.arange(len(t)) // 4) for t in tables())
    facts = domain_facts(make_study(source, target, clusters="id").design)
    assert (facts.source.units, facts.target.units) == (100, 75)
    page = wg.check(make_study(source, target, clusters="id"), fast()).summary()
    assert "effective  clusters" in page
    assert "  100 " in page


def test_a_column_that_separates_the_domains_fails_the_check():
    source, target = tables()
    page = wg.check(make_study(source.assign(year=2018), target.assign(year=2024)), fast())
    (problem,) = page.problems()
    assert problem == (
        "The tables share too little to compare them: only 0.0% of the source rows (0) and 0.0% of "
        "the target rows (0) have a counterpart in the other table. What separates them: 'year' "
        "(constant in the source)."
    )
    assert page.overlap.reason == problem
    assert "An analysis could not be trusted:\n- The tables share too little" in page.summary()
    assert "Nothing stands in the way" not in page.summary()


def test_one_column_in_other_units_fails_the_check():
    source, target = tables()
    page = wg.check(make_study(source, target.assign(a=target["a"] * 1000)), fast())
    (problem,) = page.problems()
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
    assert page.problems()[0] == (
        f"The domains overlap poorly on all variables: {'; '.join(ratio.faults())}."
    )
    assert ratio.lacks_counterparts
    assert page.problems()[1] == (
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
    assert text.format("target") in page.warnings()
    page = wg.check(make_study(rare, source.assign(y=source["y"] == 1)), fast())
    assert page.problems() == (text.format("source"),)


def test_a_study_that_cannot_be_analysed_says_why_instead_of_raising():
    source, target = tables()
    tiny = target.assign(y=np.arange(len(target)) < 6)
    page = wg.check(make_study(tiny, source.assign(y=source["y"] == 1)), fast(folds=10))
    assert not page.ok
    assert page.overlap is None
    assert page.cost is None
    assert page.problems()[-1].startswith("The source table is too small for 10 folds")
    assert "Unknown: the trial fits were not possible." in page.summary()


def test_many_columns_are_cut_short():
    rng = np.random.default_rng(0)
    source, target = (
        t.assign(
            **{
                f"lab_{k:02d}": np.where(
                    rng.random(len(t)) < 0.2, np.nan, 1.0 + np.arange(len(t)) % 7
                )
                for k in range(15)
            }
        )
        for t in tables()
    )
    page = wg.check(make_study(source, target), fast(subsets=64)).summary()
    assert "; and 3 more columns." in " ".join(page.split())


def test_large_tables_are_measured_on_some_rows():
    source, target = make_table(6_000, 0.0, 1), make_table(300, 1.0, 2)
    page = wg.check(make_study(source, target), fast())
    assert page.overlap.rows.source == 5_000
    assert page.overlap.ratios[0].rows == 6_000
    assert "Measured on 5,000 source and 300 target rows at random." in page.summary()


def test_reversed_scores_fail_the_check_and_the_rest_is_said_below():
    source, target = (t.assign(risk=1 - t["risk"]) for t in tables())
    page = wg.check(make_study(source, target), fast())
    area = {one.name: one.value.source for one in page.prediction}["AUC"]
    (problem,) = page.problems()
    assert problem == (
        f"In the source high scores go with outcome 0 (AUC {area:.2f}): the scores may be 1 - p, "
        "or meant for the other outcome value (positive=)."
    )
    assert "\nAlso:\n- In the source the model is right in " in page.summary()


def test_predictions_are_shown_with_what_their_numbers_mean(report):
    found = {one.name: one for one in report.prediction}
    area = found["AUC"].text(found["AUC"].value.source)
    assert f"\nAUC                 {area} " in report.summary()
    assert report.to_dict()["prediction"][0]["value"]["source"] == found["AUC"].value.source


def test_numbers_as_outcome_have_no_shares_and_no_cost_of_them():
    rng = np.random.default_rng(0)
    source, target = (
        t.assign(y=2 * t["a"] + rng.normal(size=len(t)), risk=2 * t["a"]) for t in tables()
    )
    page = wg.check(make_study(source, target, task="regression", metric="r2"), fast())
    assert page.ok
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
    assert "outcome 1" not in page.summary()
