"""The commands, their number of options, and what shared options mean."""

from __future__ import annotations

import inspect

import pytest
from command_line import call as call

from whygap.cli.main import COMMANDS
from whygap.cli.options import details_in, settings_with
from whygap.errors import SettingsError
from whygap.settings import Settings

NAMES = ("demo", "init", "check", "explain", "show", "rehearse", "watch")
MAX_OPTIONS = 18


def test_help_lists_the_seven_commands(call):
    lines = call("--help").out.partition("Commands:\n")[2].split("\n\n")[0].splitlines()
    assert tuple(line.split()[0] for line in lines) == NAMES


@pytest.mark.parametrize("module", COMMANDS)
def test_options_are_few_and_every_command_prints_json(module):
    parameters = inspect.signature(module.command).parameters
    options = [name for name in parameters if name not in ("study_file", "result_file")]
    assert len(options) <= MAX_OPTIONS
    assert "as_json" in options


def test_settings_of_the_command_line() -> None:
    chosen = settings_with(Settings(), ["folds=3", "learner=fast"], seed=7, level=None)
    assert chosen == Settings(folds=3, learner="fast", seed=7)
    with pytest.raises(SettingsError) as caught:
        settings_with(Settings(), ["folds"])
    assert str(caught.value) == (
        "A setting is given as NAME=VALUE. Got 'folds'. For example --set folds=3."
    )
    with pytest.raises(SettingsError, match=r"Did you mean 'folds'\?"):
        settings_with(Settings(), ["fold=3"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ("points",)),
        ("all", "all"),
        ("none", ()),
        ("affected, shares", ("affected", "shares")),
    ],
)
def test_details_of_the_command_line(text, names):
    assert details_in(text, ("points",)) == names
