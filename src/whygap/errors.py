"""The errors whygap raises; each says what, where, got, hint.

WhygapError
├── InputError           the user's tables, roles, settings or files (command line: exit code 2)
│   ├── TableError       a table cannot be read, is empty, or does not fit the other one
│   ├── ColumnError      a column is missing, named twice, or holds what it must not
│   ├── SettingsError    a setting is out of range or unknown
│   ├── ModelError       a model cannot be loaded or gives unusable predictions
│   └── ResultError      a result file cannot be read, written or used this way
├── FitError             a nuisance model failed: which one, which fold, which columns
└── Interrupted          the user stopped the run; what was finished is attached
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "ColumnError",
    "FitError",
    "InputError",
    "Interrupted",
    "ModelError",
    "ResultError",
    "SettingsError",
    "TableError",
    "WhygapError",
    "did_you_mean",
]


class WhygapError(Exception):
    """Base of every error raised on purpose by whygap."""

    def __init__(self, what: str, *, got: object = None, hint: str = "") -> None:
        self.what = what
        self.got = got
        self.hint = hint
        super().__init__(compose(what, got, hint))


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


class Interrupted(WhygapError):  # noqa: N818 - not an error: the user asked for it
    """The user stopped the run."""


def compose(what: str, got: object = None, hint: str = "") -> str:
    """One sentence each for what, got and hint."""
    parts = [what.rstrip(".") + "."]
    if got is not None:
        parts.append(f"Got {got}.")
    if hint:
        parts.append(hint)
    return " ".join(parts)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``Did you mean 'sex'?`` for the closest known name, else an empty string."""
    candidates = [str(k) for k in known]
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.6)
    if not close:
        lowered = {c.lower(): c for c in candidates}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"Did you mean '{close[0]}'?" if close else ""
