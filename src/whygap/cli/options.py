"""Options that several commands have, each written once, and the study files they change."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from whygap.cli.output import STREAMS
from whygap.errors import InputError, SettingsError

if TYPE_CHECKING:
    from whygap.settings import Settings
    from whygap.study_file import StudyFile


def option(flags: str, metavar: str | None, words: str) -> Any:
    """Make an option of names (without any, the parameter's), metavar and help."""
    return Option(*flags.split(), metavar=metavar, help=words)


OutputFile = Annotated[Path | None, option("--output -o", "FILE", "Save the result here.")]
Level = Annotated[float | None, option("--level", "LEVEL", "Confidence level, such as 0.9.")]
Seed = Annotated[int | None, option("--seed", "N", "Seed of all random numbers.")]
Jobs = Annotated[int | None, option("--jobs -j", "N", "Parallel workers.")]
Set = Annotated[list[str] | None, option("--set", "NAME=VALUE", "Any other setting; repeatable.")]
UnsafePickle = Annotated[
    bool, option("--unsafe-pickle", None, "Allow a pickled model, which can run any code.")
]
Redact = Annotated[
    int | None, option("--redact", "ROWS", "Name no group of fewer rows; round counts.")
]
DETAILS = "points,affected,recoverable,shares; all, or none."
Detail = Annotated[str | None, option("--detail", "NAMES", DETAILS)]
AsJson = Annotated[bool, option("--json", None, "Print the result as JSON.")]
StudyPath = Annotated[Path, Argument(metavar="STUDY.toml", help="A study file.")]


def settings_with(settings: Settings, texts: list[str] | None, **options: Any) -> Settings:
    """Return settings changed by --set, and by options that were used (not None)."""
    changes = {name: value for name, value in options.items() if value is not None}
    changes |= {"progress": False} if STREAMS["quiet"] else {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            hint = "For example --set folds=3."
            raise SettingsError("A setting is given as NAME=VALUE", got=repr(text), hint=hint)
        try:
            changes[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:  # neither a number, true nor false
            changes[name.strip()] = value.strip()
    return dataclasses.replace(settings, **changes)


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a text, separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def details_in(text: str | None, default: Any) -> Any:
    """Return the details that --detail names; without the option the default."""
    names = default if text is None else names_in(text)
    return "all" if names == ("all",) else tuple(n for n in names if n != "none")


def targets_of(file: StudyFile) -> dict[str, Any]:
    """Return the targets by name: the study's, then all in [targets]."""
    target_name = file.study.target_name
    if target_name in file.targets:
        actual = f"'{target_name}' as the study's own target and in [targets]"
        hint = "Give one of them another name: target_name is the one of the study's own."
        raise InputError("Two targets have the same name", got=actual, hint=hint)
    return {target_name: file.study.target, **file.targets}
