"""Games of points: corners at both ends, learners of their own, the plain formula in between."""

from __future__ import annotations

import numpy as np
import pytest
from small_study import covariate_tables, fast, make_study

import whygap as wg
from whygap.equations import corners
from whygap.learning.primitives import fit_means
from whygap.nuisances.covariate import subset_ratio
from whygap.nuisances.cross_fit import CrossFit
from whygap.nuisances.held_out import out_of_fold
from whygap.nuisances.points import _task, baseline_points, covariate_points
from whygap.progress import Silent
from whygap.running.analysis import Analysis

PROBES = [(0,), (0, 1)]


def crossfit_of(study: wg.Study, **settings) -> CrossFit:
    return Analysis.begin(study.design, fast(support="all", **settings), Silent()).crossfits[0]


@pytest.fixture(scope="module")
def crossfit() -> CrossFit:
    return crossfit_of(make_study(baseline=["w", "b"]))


def test_games_begin_and_end_at_the_corners(crossfit):
    values = crossfit.aggregate
    baseline, covariate = baseline_points(crossfit, PROBES), covariate_points(crossfit, PROBES)
    ends = [corners.mean_000(values), corners.mean_100(values), corners.mean_110(values)]
    assert baseline.value(()).value == ends[0].value
    assert baseline.value((0, 1)).value == covariate.value(()).value == ends[1].value
    assert covariate.value((0, 1)).value == ends[2].value


def test_without_a_baseline_the_walk_begins_at_the_source():
    crossfit = crossfit_of(make_study(baseline=[]))
    game = covariate_points(crossfit, PROBES)
    assert game.base == ()
    assert game.value(()).value == pytest.approx(crossfit.aggregate.loss.source.mean())


def test_a_value_is_the_debiased_transported_mean(crossfit):
    game = covariate_points(crossfit, PROBES)
    columns = crossfit.design.subset_columns((1,))
    task = _task(crossfit, game.target, game.task, columns)
    fits = fit_means(crossfit.features, game.learner_mu, task)
    at_source, at_target = out_of_fold(fits, "source"), out_of_fold(fits, "target")
    ratio = subset_ratio(crossfit, game.learner_pi, columns)
    loss = crossfit.aggregate.loss.source
    expected = np.mean((loss - at_source) * ratio) + np.mean(at_target)
    assert game.value((1,)).value == pytest.approx(expected, abs=1e-14)


def test_given_the_outcome_fits_are_of_the_label():
    study = make_study(metric="precision", order="outcome first", baseline=["w", "b"])
    crossfit = crossfit_of(study)
    before, after = baseline_points(crossfit, PROBES), covariate_points(crossfit, PROBES)
    assert before.target.this is before.line.term.loss  # Y has not moved yet: l depends on it
    label, outcome = after.target.this, study.design.outcome
    assert set(label.source) == {0.0, 1.0}
    for domain in ("source", "target"):
        low, step = after.target.low[domain], after.target.step[domain]
        assert low + step * label[domain] == pytest.approx(after.line.term.loss[domain], abs=1e-12)
        assert len(np.unique(np.stack([outcome[domain], low, step]), axis=1).T) == 2


def test_each_game_has_learners_of_its_own(crossfit):
    baseline_points(crossfit, PROBES)
    covariate_points(crossfit, PROBES)
    columns = {r.name: r.columns for r in crossfit.menu.records}
    assert columns["mu_ws"] == columns["pi_ws"] == "W_s"
    assert columns["mu_wzs"] == columns["pi_wzs"] == "W, Z_s"


def test_one_player_needs_no_learner():
    crossfit = crossfit_of(make_study(covariates=["a"]))
    game = covariate_points(crossfit, [(0,)])
    assert game.learner_mu is None
    assert game.value((0,)).value == corners.mean_110(crossfit.aggregate).value


def test_points_go_to_the_column_that_moved():
    gap = wg.explain(make_study(*covariate_tables()), detail="points", settings=fast(support="all"))
    moved, still = gap.points["covariate"]["g"], gap.points["covariate"]["h"]
    assert moved.value == pytest.approx(gap.parts["covariate"].value, abs=0.03)
    assert moved.p_value() < 1e-4
    assert abs(still.value) < 0.03
    assert gap.points["covariate"].significant()[0] == "g"
    assert gap.points["covariate"].ranking()["g"].best == 2, "signs are kept: -24 is the smallest"
    assert gap.points["covariate"].difference("g", "h").value == moved.value - still.value


def test_players_may_be_groups_of_columns():
    crossfit = crossfit_of(make_study(groups={"ab": ["a", "b"]}))
    game = covariate_points(crossfit, PROBES)
    names = [crossfit.design.columns[c].name for c in game.groups[0]]
    assert names == ["a", "b"]
    assert np.isfinite(game.value((0,)).value)
