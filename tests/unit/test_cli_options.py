"""Groups of options: one parameter of a command stands for several options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from whygap.cli.options import RoleOptions, expanded, settings_with
from whygap.errors import SettingsError
from whygap.settings import Settings

Times = Annotated[int, typer.Option("--times", help="How often.")]


@dataclass(frozen=True)
class Greeting:
    name: Annotated[str, typer.Argument(help="Whom.")]
    word: Annotated[str, typer.Option("--word", help="What.")] = "hello"


def command(greeting: Greeting, times: Times = 1) -> None:
    typer.echo(f"{greeting.word} {greeting.name} " * times)


def run(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(expanded(command))
    return CliRunner().invoke(app, arguments)


def test_the_options_of_a_group_reach_the_command() -> None:
    assert run("Ada").output.split() == ["hello", "Ada"]
    assert run("Ada", "--word", "bye", "--times", "2").output.split() == ["bye", "Ada"] * 2


def test_a_required_option_of_a_group_stays_required() -> None:
    assert run("--times", "2").exit_code == 2


def test_help_shows_the_options_and_not_the_group() -> None:
    text = run("--help").output
    assert "--word" in text
    assert "--times" in text
    assert "greeting" not in text.lower()


def test_only_the_roles_that_were_named_are_given() -> None:
    assert RoleOptions(source="a.csv", metric="brier").given == {
        "source": "a.csv",
        "metric": "brier",
    }


def test_settings_of_the_command_line() -> None:
    chosen = settings_with(Settings(), ["folds=3", "learner=fast"], True, seed=7, level=None)
    assert chosen == Settings(folds=3, learner="fast", seed=7, progress=False)
    with pytest.raises(SettingsError) as caught:
        settings_with(Settings(), ["folds"], False)
    assert str(caught.value) == (
        "A setting is given as NAME=VALUE. Got 'folds'. For example --set folds=3."
    )
