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

__all__ = ["names_in", "read_result", "settings_with"]


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
