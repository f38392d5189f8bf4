from __future__ import annotations

import numpy as np
import pytest
from rival_worlds import world_a, world_b
from statsmodels.stats.oaxaca import OaxacaBlinder
from whygap.rivals.rows import rows_of

from whygap.domains import ByDomain
from whygap.errors import SettingsError
from whygap.rivals import oaxaca_blinder
from whygap.settings import Settings


@pytest.fixture(scope="module")
def design():
    return world_a(900, 5)


def peer_of(design):
    """statsmodels takes the group with the smaller code first: target = 0."""
    features = np.vstack(list(design.features))
    domain = np.repeat([1.0, 0.0], list(design.rows))
    exog = np.column_stack([np.ones(len(domain)), features, domain])
    return OaxacaBlinder(np.concatenate(list(design.loss)), exog, 4, swap=False)


def test_three_fold_equals_statsmodels(design):
    ours = oaxaca_blinder.three_fold(design)
    endowments, coefficients, interaction, gap = peer_of(design).three_fold().params
    assert ours.endowments.value == pytest.approx(endowments, abs=1e-8)
    assert ours.coefficients.value == pytest.approx(coefficients, abs=1e-8)
    assert ours.interaction.value == pytest.approx(interaction, abs=1e-8)
    assert ours.gap.value == pytest.approx(gap, abs=1e-8)


@pytest.mark.parametrize(
    ("reference", "options"),
    [
        ("pooled", {"two_fold_type": "pooled"}),
        ("neumark", {"two_fold_type": "nuemark"}),  # statsmodels' own spelling, in code and docs
        ("cotton", {"two_fold_type": "cotton"}),
        ("reimers", {"two_fold_type": "reimers"}),
        ("source", {"two_fold_type": "self_submitted", "submitted_weight": 0.0}),
        ("target", {"two_fold_type": "self_submitted", "submitted_weight": 1.0}),
    ],
)
def test_two_fold_equals_statsmodels(reference, options):
    keep = ByDomain(np.arange(800), np.arange(500))
    design = rows_of(world_b(800, 2), keep)
    ours = oaxaca_blinder.two_fold(design, reference)
    features = np.vstack(list(design.features))
    domain = np.repeat([1.0, 0.0], list(design.rows))
    exog = np.column_stack([np.ones(len(domain)), features, domain])
    peer = OaxacaBlinder(np.concatenate(list(design.loss)), exog, 7, swap=False)
    unexplained, explained, gap, *_ = peer.two_fold(**options).params
    assert ours.explained.value == pytest.approx(explained, abs=1e-8)
    assert ours.unexplained.value == pytest.approx(unexplained, abs=1e-8)
    assert ours.gap.value == pytest.approx(gap, abs=1e-8)


def test_standard_errors_match_a_bootstrap(design):
    ours = oaxaca_blinder.three_fold(design)
    rng = np.random.default_rng(0)
    draws = [
        oaxaca_blinder.three_fold(rows_of(design, design.rows.map(lambda n: rng.integers(0, n, n))))
        for _ in range(200)
    ]
    for name in ("endowments", "coefficients", "interaction"):
        spread = np.std([getattr(draw, name).value for draw in draws])
        assert getattr(ours, name).standard_error == pytest.approx(spread, rel=0.2)


def test_parts_add_up(design):
    found = oaxaca_blinder.three_fold(design)
    total = found.endowments + found.coefficients + found.interaction
    assert total.value == pytest.approx(found.gap.value, abs=1e-12)


def test_covariate_detail_prefers_the_follower():
    found = oaxaca_blinder.covariate_importance(world_a(4000, 1), Settings())
    assert found.ranking() == ("z2", "z1")


def test_outcome_detail_vanishes_for_centred_variables():
    found = oaxaca_blinder.outcome_importance(world_b(4000, 1), Settings())
    assert np.abs(found.values).max() < 0.02


def test_an_unknown_reference_is_refused(design):
    with pytest.raises(SettingsError) as caught:
        oaxaca_blinder.two_fold(design, "pool")
    assert str(caught.value) == (
        "The reference must be one of 'source', 'target', 'pooled', 'neumark', 'cotton', "
        "'reimers'. Got 'pool'. Did you mean 'pooled'?"
    )
