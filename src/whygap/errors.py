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

import dataclasses
import difflib
import functools
import math
import numbers
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import ValidationError

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
    """Write a sentence each for what, got and hint.

    Args:
        what: is wrong, and where.
        got: what was found; None leaves the sentence out.
        hint: what to do about it.
    """
    parts = [what.rstrip(".") + "."]
    if got is not None:
        parts.append(f"Got {got}.")
    if hint:
        parts.append(hint)
    return " ".join(parts)


def listed(names: Sequence[str], limit: int = 5) -> str:
    """Quote at most `limit` names and count the remaining names.

    Args:
        names: to quote.
        limit: names that are quoted, at most.
    """
    quoted = ", ".join(f"'{name}'" for name in names[:limit])
    return quoted if len(names) <= limit else f"{quoted} and {len(names) - limit} more"


def large(number: float) -> str:
    """Write a count that may be huge: 1,024; about 2 million; about 10^60."""
    if number < 1e6:
        return f"{number:,.0f}"
    if number >= 1e15:
        return f"about 10^{math.log10(number):.0f}"
    words = {1e12: "trillion", 1e9: "billion", 1e6: "million"}
    size = next(size for size in words if number >= size)
    return f"about {number / size:.0f} {words[size]}"


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Ask ``Did you mean 'sex'?`` of the closest choice; empty where nothing is close.

    Args:
        name: what was written.
        choices: what can be meant.
    """
    candidates = [str(choice) for choice in choices]
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if not close:
        lowered = {c.lower(): c for c in candidates}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"Did you mean '{close[0]}'?" if close else ""


def require_known(
    name: Any, choices: Iterable[str], text: str, plural: str, error: type[InputError] = InputError
) -> None:
    """Refuse a name that does not exist; the hint is the closest name, or all names.

    Args:
        name: the name to look up.
        choices: the names that exist.
        text: the first sentence of the error.
        plural: what the names are called, in the plural and with a capital.
        error: class of the error.
    """
    names = list(choices)
    if not isinstance(name, str) or name not in names:
        hint = did_you_mean(str(name), names) or f"{plural} are: {', '.join(names)}."
        raise error(text, hint=hint)


def did_you_mean_file(path: Path) -> str:
    """Ask ``Did you mean 'study.toml'?`` of the closest file beside a missing file."""
    folder = path.parent
    return did_you_mean(path.name, [p.name for p in folder.iterdir()] if folder.is_dir() else [])


def first_line(err: BaseException, *, with_type: bool = False) -> str:
    """Return the first line of a library's error, or the error's type if the text is empty.

    Args:
        err: the library's error.
        with_type: whether the type comes before the line.
    """
    name = type(err).__name__
    lines = str(err).strip().splitlines()
    if not lines:
        return name
    return f"{name}: {lines[0].rstrip('.')}" if with_type else lines[0].rstrip(".")


def require_level(level: Any, subject: str = "The level of an interval") -> None:
    """Refuse a confidence level outside (0, 1).

    Args:
        level: what the user passed.
        subject: beginning of the message: what was passed.
    """
    require_number(level, subject)
    if not 0 < level < 1:
        raise InputError(f"{subject} must lie between 0 and 1", got=level, hint="Try 0.95.")


def require_number(value: Any, subject: str) -> None:
    """Refuse a value that is not a real number.

    Args:
        value: what the user passed.
        subject: beginning of the message: what was passed.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{subject} must be a number", got=f"an object of type {_kind(value)}")


def require_flag(value: Any, name: str) -> None:
    """Refuse a value that is neither True nor False.

    Args:
        value: what the user passed.
        name: of the argument.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name}= must be True or False", got=f"an object of type {_kind(value)}")


def name_list(names: Any, subject: str, error: type[InputError] = InputError) -> tuple[str, ...]:
    """Return names as a tuple; a single name is a list of length 1, and non-names are refused.

    Args:
        names: what the user passed.
        subject: beginning of the message: what was passed.
        error: class of the error raised.
    """
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable) or isinstance(names, bytes):
        raise error(f"{subject} must be a list of names", got=f"an object of type {_kind(names)}")
    items = tuple(names)
    for item in items:
        if not isinstance(item, str):
            actual = f"an object of type {_kind(item)}"
            raise error(f"{subject} must be a list of names", got=actual)
    return items


def path_of(path: Any, subject: str, error: type[InputError] = InputError) -> Path:
    """Return a path, and refuse a value that cannot be a path.

    Args:
        path: what the user passed.
        subject: beginning of the message: what was passed.
        error: class of the error raised.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path) or not os.fspath(path):
        got = repr(path) if isinstance(path, str) else f"an object of type {_kind(path)}"
        raise error(f"{subject} must be named by a path", got=got)
    return Path(path)


def in_our_words(noun: str, error: type[InputError]) -> Callable[[type[T]], type[T]]:
    """Make a pydantic dataclass raise our errors instead of `pydantic.ValidationError`.

    Args:
        noun: what a field is called, such as "setting".
        error: class of the errors.
    """

    def decorate(cls: type[T]) -> type[T]:
        from pydantic import ValidationError

        validate = cls.__init__

        @functools.wraps(validate)
        def validated(self: T, *values: Any, **fields: Any) -> None:
            try:
                validate(self, *values, **fields)
            except ValidationError as err:
                names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
                refusal = translated(err, noun, names, error)
                raise refusal from refusal.__cause__

        cls.__init__ = validated  # type: ignore[method-assign, assignment]
        return cls

    return decorate


# How pydantic begins or ends a message -> our words
_WORDS = {
    "Input should be ": "must be ",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "True or False",
    "a valid string": "text",
    "a valid dictionary": "a table of names and values",
    "a valid mapping": "a table of names and values",
    "an instance of Sequence": "a list of names",
}


def translated(
    err: ValidationError, noun: str, names: Sequence[str], error: type[InputError], place: str = ""
) -> Exception:
    """Return the error of ours that says what a pydantic model refused: what, where, got, hint.

    Errors of ours that validators raised are returned as they are.

    Args:
        err: what pydantic raised.
        noun: what a field is called, such as "setting".
        names: the names of all fields.
        error: class of the error that is returned.
        place: what the fields belong to, such as " in 'study.toml'".
    """
    details = err.errors(include_url=False)
    unknown = ("extra_forbidden", "unexpected_keyword_argument")
    first = next((d for d in details if d["type"] in unknown and len(d["loc"]) == 1), details[0])
    if "error" in first.get("ctx", {}):
        refusal: Exception = first["ctx"]["error"]
        return refusal
    name = first["loc"][0] if first["loc"] else ""
    if isinstance(name, int):
        return error(f"Every {noun}{place} is given by its name", hint=f"Names: {listed(names)}.")
    if first["type"] in unknown:
        message = f"There is no {noun} '{name}'{place}"
        choices = f"{noun.capitalize()}s are: {', '.join(names)}."
        return error(message, hint=did_you_mean(name, names) or choices)
    if first["type"] in ("missing", "missing_argument"):
        return error(f"The {noun} '{name}' is missing{place}")
    # A field that takes several kinds of value has an entry for each of the kinds.
    texts = [d["msg"] for d in details if d["loc"][:1] == first["loc"][:1]]
    for old, new in _WORDS.items():
        texts = [text.replace(old, new) for text in texts]
    must = " or ".join(dict.fromkeys(text.removeprefix("must be ") for text in texts))
    options = re.findall(r"'([^']*)'", must)
    hint = did_you_mean(first["input"], options) if isinstance(first["input"], str) else ""
    value = first["input"]
    is_plain = value is None or isinstance(value, str | bool | int | float)
    actual = repr(value) if is_plain else f"an object of type {_kind(value)}"  # no rows of tables
    return error(f"The {noun} '{name}'{place} must be {must}", got=actual, hint=hint)


def _kind(value: Any) -> str:
    return type(value).__name__
