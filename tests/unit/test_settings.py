"""Every setting is checked when it is given, and says what it would take."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from whygap.errors import SettingsError
from whygap.settings import Settings, details_named

MESSAGES = [
    ({"folds": 1}, "The 'folds' setting must be a whole number from 2 to 50. Got 1."),
    ({"folds": 51}, "The 'folds' setting must be a whole number from 2 to 50. Got 51."),
    ({"folds": 5.0}, "The 'folds' setting must be a whole number from 2 to 50. Got 5.0."),
    ({"folds": True}, "The 'folds' setting must be a whole number from 2 to 50. Got True."),
    (
        {"folds": 2},
        (
            "The 'folds' setting must be at least 3 when twins=True. Got 2. Use folds=5, or "
            "twins=False."
        ),
    ),
    ({"split": 1.0}, "The 'split' setting must be a number between 0 and 1 or None. Got 1.0."),
    (
        {"split": "half"},
        "The 'split' setting must be a number between 0 and 1 or None. Got 'half'.",
    ),
    ({"repeats": 0}, "The 'repeats' setting must be a whole number from 1 to 100. Got 0."),
    (
        {"repeats": 3, "split": 0.2},
        (
            "The 'repeats' setting needs cross-fitting: a single split measures other rows each "
            "time. Got repeats=3 with split=0.2. Use split=None."
        ),
    ),
    (
        {"learner": "fats"},
        (
            "The 'learner' setting must be one of 'auto', 'fast', 'boosted', 'paper'. Got 'fats'. "
            "Did you mean 'fast'?"
        ),
    ),
    (
        {"learner": {"classifier": None}},
        "Your own learner must be {'classifier': estimator, 'regressor': estimator}. Got dict.",
    ),
    (
        {"outcome_form": "bined"},
        (
            "The 'outcome_form' setting must be one of 'binned', 'smooth'. Got "
            "'bined'. Did you mean 'binned'?"
        ),
    ),
    ({"bins": 1}, "The 'bins' setting must be a whole number from 2 to 1000. Got 1."),
    ({"twins": 1}, "The 'twins' setting must be True or False. Got 1."),
    (
        {"risk_uncertainty": "yes"},
        "The 'risk_uncertainty' setting must be True or False. Got 'yes'.",
    ),
    ({"halvings": 4}, "The 'halvings' setting must be a whole number from 1 to 3. Got 4."),
    (
        {"subsets": "every"},
        "The 'subsets' setting must be one of 'auto', 'all'. Got 'every'.",
    ),
    ({"subsets": 1}, "The 'subsets' setting must be a whole number at least 2. Got 1."),
    ({"subsets": 2.5}, "The 'subsets' setting must be a whole number at least 2. Got 2.5."),
    ({"precision": 0}, "The 'precision' setting must be a number between 0 and 10. Got 0."),
    (
        {"precision_floor": 1},
        "The 'precision_floor' setting must be a number between 0 and 1. Got 1.",
    ),
    (
        {"training_rows": 99},
        "The 'training_rows' setting must be a whole number at least 100. Got 99.",
    ),
    (
        {"training_rows": "all"},
        "The 'training_rows' setting must be one of 'auto'. Got 'all'.",
    ),
    (
        {"influence_groups": None},
        "The 'influence_groups' setting must be a whole number at least 100. Got None.",
    ),
    ({"time_budget": 0}, "The 'time_budget' setting must be a number above 0 or None. Got 0."),
    ({"clip": -1}, "The 'clip' setting must be a number above 0 or None. Got -1."),
    (
        {"support": "comon"},
        (
            "The 'support' setting must be one of 'auto', 'all', 'common'. Got 'comon'. "
            "Did you mean 'common'?"
        ),
    ),
    ({"n_jobs": 0}, "The 'n_jobs' setting must be a whole number from 1 to 4096. Got 0."),
    (
        {"backend": "spark"},
        "The 'backend' setting must be one of 'local', 'ray', 'dask'. Got 'spark'.",
    ),
    ({"level": 95}, "The 'level' setting must be a number between 0 and 1. Got 95."),
    ({"seed": -1}, "The 'seed' setting must be a whole number at least 0. Got -1."),
    ({"seed": None}, "The 'seed' setting must be a whole number at least 0. Got None."),
]


@pytest.mark.parametrize(("values", "message"), MESSAGES, ids=lambda v: str(v)[:40])
def test_a_setting_out_of_range_says_what_it_would_take(values, message):
    with pytest.raises(SettingsError) as caught:
        Settings(**values)
    assert str(caught.value) == message


def test_every_default_is_valid_and_frozen():
    settings = Settings()
    with pytest.raises(FrozenInstanceError):
        settings.seed = 1
    assert Settings.from_mapping(settings.to_mapping()) == settings


def test_models_are_trained_on_sixty_thousand_rows_at_most_unless_told_otherwise():
    assert Settings().most_training_rows == 60_000
    assert Settings(training_rows=None).most_training_rows is None
    assert Settings(training_rows=500).most_training_rows == 500


def test_two_folds_are_enough_without_twins():
    assert Settings(folds=2, twins=False).folds == 2


def test_a_study_files_settings_are_read_by_name():
    assert Settings.from_mapping({"folds": 3, "subsets": 64}) == Settings(folds=3, subsets=64)


def test_an_unknown_name_is_refused_with_the_closest_one():
    with pytest.raises(SettingsError) as caught:
        Settings.from_mapping({"fold": 3})
    assert str(caught.value) == "There is no setting 'fold'. Did you mean 'folds'?"


def test_a_name_like_no_other_lists_them_all():
    with pytest.raises(SettingsError, match=r"^There is no setting 'qqq'\. Settings are: folds, "):
        Settings.from_mapping({"qqq": 3})


def test_own_estimators_become_text_in_a_result_file():
    own = {"classifier": object(), "regressor": object()}
    plain = Settings(learner=own).to_mapping()
    assert "object at" in json.loads(json.dumps(plain))["learner"]


@pytest.mark.parametrize("detail", [True, 3])
def test_details_are_named(detail):
    with pytest.raises(SettingsError, match="detail= names what is asked for"):
        details_named(detail)
