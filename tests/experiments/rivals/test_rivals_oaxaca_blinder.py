from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from rival_worlds import world_a, world_b
from statsmodels.stats.oaxaca import OaxacaBlinder

from experiments.rivals import oaxaca_blinder
from experiments.rivals.linear import Fit
from whygap.domains import ByDomain
from whygap.settings import Settings
from whygap.tables.design import Player

SETTINGS = Settings()


@pytest.fixture(scope="module")
def design():
    """900 and 600 rows, every column a player, so that importances add up to whole parts."""
    drawn = world_a(900, 5).take(ByDomain(np.arange(900), np.arange(600)))
    players = tuple(Player(column.name, (j,)) for j, column in enumerate(drawn.columns))
    return replace(drawn, baseline=(), players=players)


def least_squares(matrix, response, weights):
    """In place of the logistic model: statsmodels knows Oaxaca-Blinder for linear ones only."""
    fit = sm.WLS(response, matrix, weights=weights).fit()
    rows = matrix * fit.resid[:, None]
    return Fit(fit.params, rows @ np.linalg.inv((matrix * weights[:, None]).T @ matrix) * len(rows))


def test_linear_parts_equal_statsmodels(design, monkeypatch):
    """Two-fold with source prices: explained, and unexplained but for the intercept's change."""
    monkeypatch.setattr(oaxaca_blinder.linear, "logistic", least_squares)
    ours = [
        part(design, SETTINGS).values.sum()
        for part in (oaxaca_blinder.covariate_importance, oaxaca_blinder.outcome_importance)
    ]
    features = np.vstack(list(design.features))
    domain = np.repeat([1.0, 0.0], list(design.rows))  # statsmodels takes the smaller code first
    exog = np.column_stack([np.ones(len(domain)), features, domain])
    peer = OaxacaBlinder(np.concatenate(list(design.loss)), exog, 4, swap=False)
    unexplained, explained, *_ = peer.two_fold(
        two_fold_type="self_submitted", submitted_weight=0.0
    ).params
    source, target = (
        sm.OLS(design.loss[d], sm.add_constant(design.features[d])).fit().params[0]
        for d in ("source", "target")
    )
    assert ours[0] == pytest.approx(explained, abs=1e-8)
    assert ours[1] + target - source == pytest.approx(unexplained, abs=1e-8)


def test_terms_equal_two_logistic_models_of_statsmodels(design):
    slopes, means = (
        [
            sm.Logit(design.loss[d], sm.add_constant(design.features[d])).fit(disp=False).params[1:]
            for d in ("source", "target")
        ],
        [design.features[d].mean(axis=0) for d in ("source", "target")],
    )
    covariate = oaxaca_blinder.covariate_importance(design, SETTINGS)
    outcome = oaxaca_blinder.outcome_importance(design, SETTINGS)
    assert covariate.values == pytest.approx(slopes[0] * (means[1] - means[0]), abs=1e-4)
    assert outcome.values == pytest.approx(means[1] * (slopes[1] - slopes[0]), abs=1e-4)


def test_intervals_match_a_bootstrap(design):
    rng = np.random.default_rng(0)
    for part in (oaxaca_blinder.covariate_importance, oaxaca_blinder.outcome_importance):
        ours = part(design, SETTINGS)
        draws = [
            part(design.take(design.rows.map(lambda n: rng.integers(0, n, n))), SETTINGS).values
            for _ in range(150)
        ]
        widths = 2 * 1.96 * np.std(draws, axis=0)
        assert ours.high - ours.low == pytest.approx(widths, rel=0.25)


def test_covariate_detail_prefers_the_follower():
    found = oaxaca_blinder.covariate_importance(world_a(4000, 1), SETTINGS)
    assert found.ranking() == ("z2", "z1")


def test_outcome_detail_vanishes_for_centred_variables():
    found = oaxaca_blinder.outcome_importance(world_b(4000, 1), SETTINGS)
    assert np.abs(found.values).max() < 0.02


def test_a_player_that_never_varies_gets_nothing(design):
    still = design.features.map(lambda x: np.column_stack([x[:, :2], np.ones(len(x))]))
    found = oaxaca_blinder.covariate_importance(replace(design, features=still), SETTINGS)
    assert found.values[2] == found.low[2] == found.high[2] == 0
