"""What commands read: study files, result files, settings given as options."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whygap.errors import InputError, SettingsError

if TYPE_CHECKING:
    from whygap.results import Gap
    from whygap.settings import Settings
    from whygap.study import Study
    from whygap.study_file import StudyFile

__all__ = [
    "inline_study",
    "names_in",
    "read_file",
    "read_result",
    "read_study",
    "settings_with",
    "value_of",
]


def read_file(
    path: Path, given: Iterable[str] | None, *, unsafe_pickle: bool = False, **options: Any
) -> StudyFile:
    """A study file, its settings overridden by the options that were given."""
    from whygap.study_file import read_study_file

    found = read_study_file(path, unsafe_pickle=unsafe_pickle)
    return dataclasses.replace(found, settings=settings_with(found.settings, given, **options))


def read_study(
    path: Path, given: Iterable[str] | None, *, unsafe_pickle: bool = False, **options: Any
) -> tuple[Study, Settings]:
    """The study and the settings of a study file."""
    found = read_file(path, given, unsafe_pickle=unsafe_pickle, **options)
    return found.study, found.settings


def inline_study(
    roles: dict[str, str],
    given: Iterable[str] | None,
    *,
    unsafe_pickle: bool = False,
    **options: Any,
) -> StudyFile:
    """A study from the options of the command line."""
    from whygap.settings import Settings
    from whygap.study import Study
    from whygap.study_file import StudyFile, metric_in, model_of

    for name in ("source", "target", "outcome"):
        if name not in roles:
            raise InputError(
                f"The {name} is not named",
                hint=f"Give a study file, or --{name}; see 'whygap explain --help'.",
            )
    here = Path.cwd()
    values: dict[str, Any] = dict(roles)
    for name in ("baseline", "covariates"):
        values |= {name: names_in(roles[name])} if name in roles else {}
    if "positive" in roles:
        values["positive"] = value_of(roles["positive"])
    values["model"] = model_of(roles.get("model"), here)
    values["metric"] = metric_in(roles.get("metric", "accuracy"), here)
    return StudyFile(
        study=Study(**values, unsafe_pickle=unsafe_pickle),
        settings=settings_with(Settings(), given, **options),
    )


def read_result(path: Path, level: float | None) -> tuple[Gap, float]:
    """A result file and the confidence level to show it at (by default the one it was made at)."""
    from whygap import storage

    if level is not None and not 0 < level < 1:
        raise InputError("The level must lie between 0 and 1", got=level, hint="Try 0.95.")
    gap = storage.load(path)
    return gap, level or float(gap.about.settings.get("level", 0.95))


def settings_with(settings: Settings, given: Iterable[str] | None, **options: Any) -> Settings:
    """Settings with those options that were given (not None) and `--set NAME=VALUE` put in."""
    changes = {name: value for name, value in options.items() if value is not None}
    changes |= dict(_assignment(text) for text in given or ())
    known = [field.name for field in dataclasses.fields(settings)]
    kept = {name: getattr(settings, name) for name in known}
    return type(settings).from_mapping(kept | changes)


def names_in(text: str | None) -> list[str] | None:
    """`age,sex` becomes the two names; None stays None."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise SettingsError(
            "A setting is given as NAME=VALUE", got=repr(text), hint="For example --set folds=3."
        )
    return name.strip(), value_of(value.strip())


def value_of(text: str) -> Any:
    """A number, true or false as TOML reads them; anything else is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
