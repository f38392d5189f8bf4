"""The errors whygap raises; each says what, where, got, hint.

WhygapError
├── InputError           the user's tables, roles, settings or files (command line: exit code 2)
│   ├── TableError       a table cannot be read, is empty, or does not fit the other one
│   ├── ColumnError      a column is missing, named twice, or holds what it must not
│   ├── SettingsError    a setting is out of range or unknown
│   ├── ModelError       a model cannot be loaded or gives unusable predictions
│   └── ResultError      a result file cannot be read, written or used this way
└── FitError             a nuisance model failed: which one, which fold, which columns
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class WhygapError(Exception):
    """Base of every error raised on purpose by whygap."""

    def __init__(self, what: str, *, got: object = None, hint: str = "") -> None:
        self.what = what
        self.got = got
        self.hint = hint
        super().__init__(compose(what, got, hint))


class WhygapWarning(UserWarning):
    """A result that must not be trusted as it stands."""


class InputError(WhygapError, ValueError):
    """Something the user gave cannot be used."""


class TableError(InputError):
    """A table cannot be read, is empty, or does not fit the other one."""


class ColumnError(InputError):
    """A column is missing, named twice, or holds what it must not."""


class SettingsError(InputError):
    """A setting is out of range or unknown."""


class ModelError(InputError):
    """A model cannot be loaded or gives unusable predictions."""


class ResultError(InputError):
    """A result file cannot be read, written or used this way."""


class FitError(WhygapError):
    """A nuisance model failed; the cause is attached (``__cause__``)."""


def compose(what: str, got: object = None, hint: str = "") -> str:
    """One sentence each for what, got and hint."""
    parts = [what.rstrip(".") + "."]
    if got is not None:
        parts.append(f"Got {got}.")
    if hint:
        parts.append(hint)
    return " ".join(parts)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Quoted names, the first few."""
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def large(number: float) -> str:
    """A count that may be huge: 1,024; about 2 million; about 10^60."""
    if number < 1e6:
        return f"{number:,.0f}"
    if number >= 1e15:
        return f"about 10^{math.log10(number):.0f}"
    words = {1e12: "trillion", 1e9: "billion", 1e6: "million"}
    size = next(size for size in words if number >= size)
    return f"about {number / size:.0f} {words[size]}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``Did you mean 'sex'?`` for the closest known name, else an empty string."""
    candidates = [str(k) for k in known]
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if not close:
        lowered = {c.lower(): c for c in candidates}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"Did you mean '{close[0]}'?" if close else ""


def require_known(
    name: Any, known: Iterable[str], what: str, many: str, error: type[InputError] = InputError
) -> None:
    """Refuse a name that is not known: the closest one is the hint, or all of them."""
    names = list(known)
    if not isinstance(name, str) or name not in names:
        every = f"{many} are: {', '.join(names)}."
        raise error(what, hint=did_you_mean(str(name), names) or every)


def did_you_mean_file(path: Path) -> str:
    """``Did you mean 'study.toml'?`` for the closest file in the folder of one that is missing."""
    folder = path.parent
    return did_you_mean(path.name, [p.name for p in folder.iterdir()] if folder.is_dir() else [])


def first_line(err: BaseException, *, with_type: bool = False) -> str:
    """The first line of another library's error; its type alone where it says nothing."""
    name = type(err).__name__
    lines = str(err).strip().splitlines()
    if not lines:
        return name
    return f"{name}: {lines[0].rstrip('.')}" if with_type else lines[0].rstrip(".")


def require_level(level: Any, what: str = "The level of an interval") -> None:
    """Refuse a confidence level that is none."""
    require_number(level, what)
    if not 0 < level < 1:
        raise InputError(f"{what} must lie between 0 and 1", got=level, hint="Try 0.95.")


def require_number(value: Any, what: str) -> None:
    """Refuse what is not one real number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{what} must be a number", got=f"an object of type {_kind(value)}")


def require_flag(value: Any, name: str) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise InputError(f"{name}= must be True or False", got=f"an object of type {_kind(value)}")


def name_list(names: Any, what: str, error: type[InputError] = InputError) -> tuple[str, ...]:
    """Several names; one alone is a list of one, and anything but names is refused."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable) or isinstance(names, bytes):
        raise error(f"{what} must be a list of names", got=f"an object of type {_kind(names)}")
    given = tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise error(f"{what} must be a list of names", got=f"an object of type {_kind(name)}")
    return given


def _kind(value: Any) -> str:
    return type(value).__name__


def path_of(path: Any, what: str, error: type[InputError] = InputError) -> Path:
    """A path, or the refusal of what cannot be one."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path) or not os.fspath(path):
        got = repr(path) if isinstance(path, str) else f"an object of type {_kind(path)}"
        raise error(f"{what} must be named by a path", got=got)
    return Path(path)


def refusing_unknown(one: str, many: str, error: type[InputError]) -> Callable[[type[T]], type[T]]:
    """Makes a dataclass refuse arguments it does not have in our words: 'There is no ...'."""

    def checked(made: type[T]) -> type[T]:
        begin, signature = made.__init__, inspect.signature(made)

        @functools.wraps(begin)
        def begin_checked(self: T, *given: Any, **named: Any) -> None:
            for name in named:
                require_known(
                    name, signature.parameters, f"There is no {one} '{name}'", many, error
                )
            try:
                signature.bind(*given, **named)
            except TypeError as err:
                what = f"{made.__name__} cannot be made of these arguments"
                raise error(what, got=str(err)) from err
            begin(self, *given, **named)

        made.__init__ = begin_checked  # type: ignore[method-assign, assignment]
        return made

    return checked
