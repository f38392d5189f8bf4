"""From two tables to a revised model, through the public names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from repair_worlds import world

from whygap._explain import explain
from whygap.domains import ByDomain
from whygap.errors import ResultError, SettingsError
from whygap.repair import plan_labels, revise
from whygap.settings import Settings
from whygap.study import Study

SETTINGS = Settings(folds=3, learner="fast", twins=False, progress=False)


@pytest.fixture(scope="module")
def study():
    design = world(ByDomain(500, 500), seed=1, covariates=3)
    rng = np.random.default_rng(0)

    def table(domain):
        frame = pd.DataFrame(design.features[domain], columns=["w", "z1", "z2", "z3"])
        frame["place"] = rng.choice(["north", "south", "west"], len(frame))
        frame["risk"] = design.prediction[domain]
        frame["sick"] = np.where(design.outcome[domain] == 1, "yes", "no")
        return frame

    return Study(
        source=table("source"),
        target=table("target"),
        outcome="sick",
        baseline=["w"],
        prediction="risk",
        positive="yes",
    )


@pytest.fixture(scope="module")
def gap(study):
    return explain(study, detail=("outcome",), settings=SETTINGS)


@pytest.fixture(scope="module")
def revision(study, gap):
    return revise(study, gap, top=1, settings=SETTINGS)


def test_the_largest_share_is_revised_with(gap, revision):
    assert revision.ranking[0] == max(
        gap.outcome.players, key=lambda n: gap.outcome.shares[n].value
    )
    assert revision.ranking[0] == "z1"
    assert revision.model.variables == ("w", "z1")
    assert revision.gain(revision.step("targeted", 1)).interval()[0] > 0


def test_the_model_reads_text_it_has_never_seen(study, revision):
    rows = study.target.head(5).assign(place="nowhere")
    assert np.isfinite(revision.model.predict_proba(rows)).all()


def test_tables_come_back_in_the_users_kind(study, gap, revision):
    assert isinstance(revision.to_frame(), pd.DataFrame)


def test_a_ranking_of_ones_own_needs_no_gap(study):
    revision = revise(study, ranking=["place"], settings=Settings(folds=2, twins=False))
    assert revision.model.variables == ("w", "place")
    assert revision.model.kinds[revision.model.names.index("place")] == "category"


def test_what_can_be_won_back_ranks_where_it_is_known(study, gap, revision):
    budget = explain(study, detail="recoverable", settings=SETTINGS).recoverable
    here = budget.here.variables
    players = [name for name in here if name != "w"]
    first = max(players, key=lambda name: here[name].value)
    both = replace(gap, recoverable=budget)
    found = revise(study, both, top=1, settings=SETTINGS)
    assert found.ranking == tuple(sorted(players, key=lambda name: -here[name].value))
    assert found.ranking[0] == first == "z1"
    assert found.ranked_by == "ranked by what can be won back through them"
    assert "Variables are ranked by what can be won back through them." in str(found)
    assert found.to_mapping()["ranked_by"] == found.ranked_by
    assert "Variables are ranked by their shares of the outcome part." in str(revision)


def test_your_own_ranking_says_so(study):
    found = revise(study, ranking=["z1"], settings=Settings(folds=2, twins=False))
    assert "Variables are taken as you ranked them." in str(found)


def test_a_share_can_be_planned_for(gap):
    plan = plan_labels(gap.outcome.shares["z1"], width=0.05)
    assert plan.width_now > 0.05
    assert plan.more_target is None or plan.more_target > 0


def test_what_cannot_rank_is_refused(study, gap):
    with pytest.raises(ResultError) as caught:
        revise(study, None)
    assert str(caught.value) == (
        "Revising needs a gap with its recoverable budget or outcome shares, or a ranking. "
        "Run explain(study, detail=('recoverable',)), or give ranking=['a', 'b']."
    )
    with pytest.raises(SettingsError) as refused:
        revise(study, gap, top=9)
    assert str(refused.value) == (
        "top is larger than the number of players. Got 9 of 4. "
        "Use top=4 to revise with every variable."
    )
