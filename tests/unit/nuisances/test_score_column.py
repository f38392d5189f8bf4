"""The score beside a set of columns: what it says of the ones that are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import featured, make_design
from scipy import special

from whygap.domains import ByDomain
from whygap.learning.menu import Menu
from whygap.learning.models import Fast
from whygap.learning.primitives import fit_means
from whygap.nuisances.cross_fit import cross_fit
from whygap.nuisances.recoverable import _task, prepare_gain
from whygap.nuisances.score import ScoreColumn
from whygap.settings import Settings

SLOPES = np.array([1.0, -0.7, 0.5, 0.3])


def scored_design(rows=1500, seed=0):
    """Y depends on a product of two columns that the score, linear in all, does not know."""
    rng = np.random.default_rng(seed)
    features = ByDomain(*(rng.normal(size=(rows, 4)) for _ in range(2)))
    score = features.map(lambda x: x @ SLOPES)
    risk = features.zip(score, lambda x, t: special.expit(t + 1.2 * x[:, 0] * x[:, 3]))
    outcome = risk.map(lambda p: (rng.random(len(p)) < p).astype(float))
    design = make_design(features.source, features.target, outcome)
    return replace(design, prediction=score.map(special.expit)), score


def test_the_rest_of_a_linear_score_is_the_column_left_out():
    design, score = scored_design()
    features = featured(design)
    column = ScoreColumn.of(features, "target", score)
    extra = column.beside((1, 2, 3))
    left_out = features.raw.target[:, 0]
    rest = extra.main(extra.views["own"].position)[1]
    assert np.corrcoef(rest, left_out)[0, 1] == pytest.approx(1, abs=1e-8)
    assert len(extra.knots) == 2


def test_without_columns_or_with_all_of_them_the_score_stands_alone():
    design, score = scored_design()
    column = ScoreColumn.of(featured(design), "target", score)
    assert column.beside(()) is column.alone
    assert column.beside((0, 1, 2, 3)) is column.alone


def test_a_rest_of_few_values_has_an_indicator_of_each_inner_one():
    rng = np.random.default_rng(1)
    raw = rng.normal(size=(800, 3))
    raw[:, 0] = rng.integers(0, 4, size=800)
    score = ByDomain(*(np.array([0.0, 0.9, 0.2, -0.4])[raw[:, 0].astype(int)] + raw[:, 1],) * 2)
    design = make_design(raw, raw)
    extra = ScoreColumn.of(featured(design), "source", score).beside((1, 2))
    mains = extra.main(extra.views["own"].position)
    assert len(mains) == 4
    assert set(np.unique(mains[2])) == {0.0, 1.0}


def test_what_a_score_and_the_other_columns_tell_is_won_without_the_column():
    rng = np.random.default_rng(2)
    raw = rng.normal(size=(2000, 3))
    level = rng.integers(0, 4, size=2000)
    raw[:, 0] = level
    score = np.array([0.0, 0.3, 0.6, 0.9])[level] + raw[:, 1] - raw[:, 2] / 2
    risk = special.expit(score + np.where(level == 1, 2.0, -1.0) * raw[:, 2])
    outcome = (rng.random(2000) < risk).astype(float)
    design = make_design(raw, raw, ByDomain(outcome, outcome), ["category", "numeric", "numeric"])
    design = replace(design, prediction=ByDomain(*(special.expit(score),) * 2))
    settings = Settings(learner="fast", progress=False, support="all")
    crossfit = cross_fit(design, settings, np.random.SeedSequence(0), Menu(settings))
    game = prepare_gain(crossfit, "target", [(0,), (0, 2)])
    whole, without = game.value((0, 1, 2)).value, game.value((1, 2)).value
    assert whole > 0.03
    assert without == pytest.approx(whole, rel=0.15)


def test_a_fit_that_starts_from_what_all_columns_know_ends_where_any_other_does():
    design, _ = scored_design(600)
    settings = Settings(learner="fast", progress=False, support="all")
    crossfit = cross_fit(design, settings, np.random.SeedSequence(0), Menu(settings))
    (scored,) = prepare_gain(crossfit, "target", [(0,), (0, 3)]).scored
    task = _task(crossfit, "target", scored, (1, 3))
    eased = fit_means(crossfit.features, Fast(1e-2), task)
    plain = fit_means(crossfit.features, Fast(1e-2), replace(task, repeated=False))
    for half, model in eased.models.items():
        other = plain.models[half].model.coefficients
        assert model.model.coefficients == pytest.approx(other, abs=2e-3)


def test_with_very_many_columns_the_score_stands_alone_and_multiplies_none():
    rng = np.random.default_rng(2)
    raw = rng.normal(size=(400, 301))
    score = ByDomain(raw[:, 0] + raw[:, 1], raw[:, 0] - raw[:, 1])
    for columns, multiplied in ((301, False), (12, True)):
        features = featured(make_design(raw[:, :columns], raw[:, :columns]))
        column = ScoreColumn.of(features, "source", score)
        masks = features.times(features.dictionary.select((1, 2)), column.alone)
        assert masks[0].any() == multiplied
        assert (column.beside((1, 2)) is column.alone) != multiplied
