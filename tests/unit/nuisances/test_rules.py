"""Rules: planted ones are found and mean their rows; nothing is shown where nothing can be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, tables

import whygap as wg
from whygap.domains import ByDomain
from whygap.nuisances.conditions import Packed, conditions_of
from whygap.nuisances.cuts import cuts_near, shortest_between
from whygap.nuisances.rules import Rules, find_rules
from whygap.progress import Silent
from whygap.results import Condition
from whygap.running.analysis import Analysis
from whygap.tables.design import MODEL_SCORE

ROWS = 1200


def planted(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same law twice; in the target, outcomes of women above 55 are turned around."""
    rng = np.random.default_rng(seed)
    pair = []
    for shifted in (False, True):
        table = pd.DataFrame(
            {
                "age": rng.integers(20, 80, ROWS),
                "sex": rng.choice(["F", "M"], ROWS),
                "site": rng.choice([f"s{k}" for k in range(30)], ROWS, p=_site_shares()),
                "smokes": rng.random(ROWS) < 0.4,
                "bmi": np.where(rng.random(ROWS) < 0.15, np.nan, rng.normal(25, 4, ROWS)),
            }
        )
        table["dose"] = rng.normal(0, 3, ROWS)
        table["risk"] = 1 / (1 + np.exp(-table["dose"]))
        y = rng.random(ROWS) < table["risk"]
        hit = (table["age"] > 55) & (table["sex"] == "F") & shifted
        table["y"] = np.where(hit & (rng.random(ROWS) < 0.5), 1 - y, y).astype(int)
        pair.append(table)
    return pair[0], pair[1]


def _site_shares():
    shares = np.r_[np.full(5, 0.18), np.full(25, 0.004)]
    return shares / shares.sum()


def crossfit_of(study: wg.Study, **settings):
    return Analysis.begin(study.design, fast(support="all", **settings), Silent()).crossfits[0]


@pytest.fixture(scope="module")
def study() -> wg.Study:
    return make_study(*planted(), baseline=["sex"])


@pytest.fixture(scope="module")
def crossfit(study):
    return crossfit_of(study)


@pytest.fixture(scope="module")
def rules(crossfit) -> Rules:
    return find_rules(crossfit)


def test_a_planted_rule_is_found_and_means_its_rows(study, rules):
    both = [r for r in rules.confirmed if {c.variable for c in r.conditions} == {"age", "sex"}]
    first = both[0]
    assert "sex is F" in str(first)
    assert "age above" in str(first)
    target = study.target
    meant = (target["age"] > 55) & (target["sex"] == "F")
    mask = first.mask(target)
    assert (mask & meant).sum() / (mask | meant).sum() > 0.6
    assert first.target_share == pytest.approx(mask.mean(), abs=1e-12)
    assert first.source_share == pytest.approx(first.mask(study.source).mean(), abs=1e-12)
    low, high = first.interval
    assert low < first.points.value < high < 0
    assert first.points.value == pytest.approx(first.change.value * mask.mean(), rel=0.25)


def test_conditions_mean_their_rows_in_every_table(study, crossfit):
    known = conditions_of(crossfit, 0.02)
    scores = study.target["risk"].to_numpy()
    kinds = set()
    for k, condition in enumerate(known.conditions):
        rule = wg.results.Rule((condition,), 0, 0, None, None, (0, 0))
        np.testing.assert_array_equal(rule.mask(study.target, scores), known.masks.target[k][:])
        kinds.add((condition.variable, condition.kind))
    assert ("bmi", "missing") in kinds
    assert ("smokes", "is") in kinds
    assert (MODEL_SCORE, "above") in kinds


def test_pooled_levels_are_never_named(crossfit):
    column = next(c for c in crossfit.design.columns if c.name == "site")
    assert "(other)" in column.levels
    known = conditions_of(crossfit, 0.02)
    named = {c.level for c in known.conditions if c.variable == "site"}
    assert named == {f"s{k}" for k in range(5)}


def test_the_cut_of_the_score_is_the_models_label():
    rounded = [t.assign(risk=t["risk"].round(1)) for t in planted()]
    crossfit = crossfit_of(make_study(*rounded, baseline=["sex"]))
    known = conditions_of(crossfit, 0.02)
    label = crossfit.design.prediction.target >= crossfit.design.threshold
    above = [
        known.masks.target[k][:]
        for k, c in enumerate(known.conditions)
        if (c.variable, c.kind) == (MODEL_SCORE, "above")
    ]
    assert any((mask == label).all() for mask in above)
    assert len({mask.tobytes() for mask in above}) == len(above), "no cut twice"


def test_words_are_short_and_say_a_column_once():
    between = (
        Condition("age", "above", number=20.0),
        Condition("age", "at most", number=35.5),
    )
    words = {
        (Condition("seen", "above", "2020-01-01", 18262.0),): "seen after 2020-01-01",
        (Condition("seen", "at most", "2020-01-01", 18262.0),): "seen until 2020-01-01",
        (Condition("bmi", "missing"), Condition("sex", "is", "F")): "bmi is missing and sex is F",
        between: "age above 20 and at most 35.5",
        (Condition("income", "above", number=1234567.0),): "income above 1234567",
    }
    for conditions, expected in words.items():
        assert str(wg.results.Rule(conditions, 0, 0, None, None, (0, 0))) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(37, 38, 37), (0.123412, 0.123987, 0.1237), (-1.5, 2.5, 0.5), (99.5, 130, 100), (0, 1, 0)],
)
def test_cuts_are_the_shortest_numbers_between(low, high, expected):
    assert shortest_between(low, high) == expected


def test_cuts_split_rows_where_quantiles_do():
    values = np.random.default_rng(1).normal(size=1000)
    (cut,) = cuts_near(values, [0.5])
    assert (values <= cut).sum() == 500
    assert len(str(cut)) <= 8
    assert cuts_near(np.ones(5), [0.5]) == []


def test_rules_of_one_seed_are_the_same_and_of_another_may_differ(study, rules):
    again = find_rules(crossfit_of(study))
    assert [str(rule) for rule in again.confirmed] == [str(rule) for rule in rules.confirmed]
    assert [r.points.value for r in again.confirmed] == [r.points.value for r in rules.confirmed]


def test_too_few_rows_or_clusters_show_nothing():
    few = [t.head(60) for t in planted()]
    assert find_rules(crossfit_of(make_study(*few, baseline=["sex"]))).confirmed == ()
    clustered = [t.assign(id=np.arange(ROWS) % 30) for t in planted()]
    study = make_study(*clustered, baseline=["sex"], clusters="id")
    assert find_rules(crossfit_of(study)) == Rules((), 0)


def test_rows_without_weight_do_not_count(study):
    design = study.design
    weights = ByDomain(*(np.r_[np.ones(50), np.zeros(ROWS - 50)] for _ in range(2)))
    analysis = Analysis.begin(replace(design, weights=weights), fast(support="all"), Silent())
    assert find_rules(analysis.crossfits[0]).confirmed == ()


def test_labels_as_predictions_and_constant_scores_do_no_harm():
    for score in (lambda t: (t["risk"] > 0.5).astype(int), lambda _: 0.7):
        pair = [t.assign(risk=score(t)) for t in tables()]
        found = find_rules(crossfit_of(make_study(*pair)))
        assert found.tested > 0


def test_packed_rows_are_the_rows():
    mask = np.random.default_rng(0).random(1003) < 0.3
    packed = Packed.of(mask)
    np.testing.assert_array_equal(packed[:], mask)
    np.testing.assert_array_equal(packed[16:1003], mask[16:])
    np.testing.assert_array_equal(packed[16:29], mask[16:29])
    np.testing.assert_array_equal(packed[13:29], mask[13:29])
    np.testing.assert_array_equal(packed[mask], mask[mask])
    assert packed[2000:3000].size == 0
