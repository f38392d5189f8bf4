"""Every setting is checked when it is made, and says what it would take."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from whygap.errors import SettingsError
from whygap.settings import Settings, details_named

WHOLE, SWITCH = "a whole number", "True or False"
OWN_LEARNER = "'auto', 'fast', 'boosted', or {'classifier': estimator, 'regressor': estimator}"
# Setting, a value out of range, what it must be, and the hint
BOUNDS = [
    ("folds", 2, "greater than or equal to 3", ""),
    ("folds", 51, "less than or equal to 50", ""),
    ("folds", 5.0, WHOLE, ""),
    ("folds", True, WHOLE, ""),
    ("repeats", 0, "greater than or equal to 1", ""),
    ("repeats", 101, "less than or equal to 100", ""),
    ("learner", "fats", f"one of {OWN_LEARNER}", " Did you mean 'fast'?"),
    ("subsets", "every", f"{WHOLE} or 'auto' or 'all'", ""),
    ("subsets", 1, "greater than or equal to 2 or 'auto' or 'all'", ""),
    ("subsets", 2.5, f"{WHOLE} or 'auto' or 'all'", ""),
    ("sampling_error", 0, "greater than 0", ""),
    ("sampling_error", 10, "less than 10", ""),
    ("time_budget", 0, "greater than 0", ""),
    ("time_budget", float("inf"), "a finite number", ""),
    ("time_budget", "600", "a number", ""),
    ("support", "comon", "'auto', 'all' or 'common'", " Did you mean 'common'?"),
    ("clip", -1, "greater than 0", ""),
    ("level", 95, "less than 1", ""),
    ("level", 0, "greater than 0", ""),
    ("checkpoint", 3, "text", ""),
    ("n_jobs", 0, "greater than or equal to 1", ""),
    ("n_jobs", 4097, "less than or equal to 4096", ""),
    ("backend", "spark", "'local', 'ray' or 'dask'", ""),
    ("seed", -1, "greater than or equal to 0", ""),
    ("seed", None, WHOLE, ""),
    ("progress", "yes", SWITCH, ""),
    ("learner", "paper", f"one of {OWN_LEARNER}", ""),
]


@pytest.mark.parametrize(("name", "value", "must", "hint"), BOUNDS)
def test_a_setting_out_of_range_says_what_it_would_take(name, value, must, hint):
    with pytest.raises(SettingsError) as caught:
        Settings(**{name: value})
    assert str(caught.value) == f"The setting '{name}' must be {must}. Got {value!r}.{hint}"


TOGETHER = [
    ({"learner": {"classifier": 1}}, f"The setting 'learner' must be one of {OWN_LEARNER}."),
    ({"fold": 3}, "There is no setting 'fold'. Did you mean 'folds'?"),
    ({"fold": 3, "level": 95}, "There is no setting 'fold'. Did you mean 'folds'?"),
    ({"qqq": 3}, "There is no setting 'qqq'. Settings are: learner, folds, repeats, "),
    *(
        ({name: 1}, f"There is no setting '{name}'.")
        for name in ("split", "twins", "halvings", "risk_uncertainty", "outcome_form", "bins")
    ),
]


@pytest.mark.parametrize(("values", "message"), TOGETHER, ids=lambda v: str(v)[:40])
def test_settings_that_do_not_go_together_or_do_not_exist_are_refused(values, message):
    with pytest.raises(SettingsError) as caught:
        Settings(**values)
    assert str(caught.value).startswith(message)


def test_settings_are_given_by_name():
    with pytest.raises(SettingsError, match="Every setting is given by its name"):
        Settings("fast")


def test_every_default_is_valid_and_frozen():
    settings = Settings()
    with pytest.raises(FrozenInstanceError):
        settings.seed = 1
    assert Settings(**settings.to_mapping()) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301


def test_there_are_fifteen_settings():
    assert " ".join(Settings().to_mapping()) == (
        "learner folds repeats subsets sampling_error time_budget support clip level checkpoint "
        "n_jobs backend address seed progress"
    )


def test_a_checkpoint_may_be_a_path():
    assert Settings(checkpoint=Path("a") / "b").checkpoint == str(Path("a") / "b")


def test_own_estimators_become_text_in_a_result_file():
    own = {"classifier": object(), "regressor": object()}
    assert Settings(learner=own).learner == own
    plain = Settings(learner=own).to_mapping()
    assert "object at" in json.loads(json.dumps(plain))["learner"]


@pytest.mark.parametrize("detail", [True, 3])
def test_details_are_named(detail):
    with pytest.raises(SettingsError, match="detail= names what is asked for"):
        details_named(detail)
