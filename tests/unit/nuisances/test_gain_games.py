"""Gains: what recalibration and columns win back, from scores of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from small_study import fast, make_study, make_table, tables

import whygap as wg
from whygap.nuisances.recoverable import prepare_gain
from whygap.progress import Silent
from whygap.running.analysis import Analysis

PROBES = [(0,), (0, 1)]


def game_of(study: wg.Study, domain="target", **settings):
    crossfit = Analysis.begin(study.design, fast(support="all", **settings), Silent()).crossfits[0]
    return prepare_gain(crossfit, domain, PROBES)


def scored(score):
    return make_study(*(t.assign(risk=score(t)) for t in tables(1500, 1500)))


def test_players_are_all_columns():
    game = game_of(make_study(groups={"ab": ["a", "b"]}))
    names = [column.name for column in game.crossfit.design.columns]
    assert [[names[c] for c in group] for group in game.groups] == [["w"], ["a", "b"], ["c"]]


def test_only_rows_of_the_domain_count():
    for domain, other in (("target", "source"), ("source", "target")):
        influence = game_of(make_study(), domain).value((0,)).influence
        assert not getattr(influence, other).any()
        assert getattr(influence, domain).any()


def test_a_good_score_leaves_nothing_to_win_at_home():
    game = game_of(make_study(*tables(1500, 1500)), "source")
    for subset in ((), (0, 1, 2, 3)):
        low, high = game.value(subset).interval(0.99)
        assert low < 0 < high


def test_a_score_on_the_wrong_scale_is_won_back_by_recalibration():
    squeezed = scored(lambda t: 0.4 + 0.2 * t["risk"])
    game = game_of(squeezed, "source")
    recalibrated, whole = game.value(()), game.value((0, 1, 2, 3))
    source = squeezed.source
    truth = np.mean((source["risk"] - make_table(1500, 0.0, 1)["risk"]) ** 2)
    assert recalibrated.value == pytest.approx(truth, abs=0.01)
    assert whole.value == pytest.approx(recalibrated.value, abs=0.01)


@pytest.mark.parametrize(
    "score",
    [
        lambda t: (t["risk"] > 0.5).astype(int),
        lambda t: t["y"].mean() + 0 * t["risk"],
        lambda t: t["risk"].round(0),
        lambda t: np.where(t["risk"] > 0.9, 1.0, t["risk"].round(1)),
    ],
    ids=["labels", "a constant", "0 and 1", "scores that reach 0 and 1"],
)
def test_scores_of_few_values_start_from_what_they_say(score):
    game = game_of(scored(score), "source")
    error, whole = game.squared_error().value, game.value((0, 1, 2, 3))
    truth = make_table(1500, 0.0, 1)["risk"]
    assert error - whole.value == pytest.approx(np.mean(truth * (1 - truth)), abs=0.02)
    assert game.value(()).value <= whole.value + 0.005


def test_a_constant_score_at_the_base_rate_has_nothing_to_recalibrate():
    game = game_of(scored(lambda t: t["y"].mean() + 0 * t["risk"]), "source")
    assert game.value(()).value == pytest.approx(0, abs=0.003)
    assert game.value((0, 1)).value > 0.02


def test_the_variable_whose_role_changed_is_named():
    gap = wg.explain(
        make_study(*tables(1500, 1500)), detail="recoverable", settings=fast(support="all")
    )
    here = gap.recoverable
    assert here.variables.largest_first()[0] == "a"
    assert here.variables["a"].p_value() < 1e-4
    assert gap.recoverable.added_in_target.p_value() < 1e-4
    assert abs(gap.recoverable.source.total.value) < 0.01


def test_a_known_source_risk_serves_the_targets_mix():
    source, target = (t.assign(q=t["risk"].clip(0.01, 0.99)) for t in tables())
    study = make_study(source, target, source_risk="q")
    gap = wg.explain(study, detail="recoverable", settings=fast(support="all"))
    assert gap.recoverable.reweighted.total.value == pytest.approx(0, abs=0.002)
