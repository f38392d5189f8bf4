"""A commented study file to start from; roles guessed from the data are marked as guesses."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from whygap.errors import ColumnError, InputError
from whygap.tables.columns import RawColumn, is_number, present, raw_column
from whygap.tables.open import open_table
from whygap.tables.roles import saved_index

__all__ = ["draft_study"]

GUESS = "  # guess: please check"
UNKNOWN = "  # nothing fits: please fill in"
FEW_VALUES = 10  # distinct values that a code or a scale may have
OUTCOME = re.compile(
    r"^(y|label|outcome|target|class|event)$|readmi|died|death|mortal|default|churn|diagnos|"
    r"employed|coverage|approved|fraud|_?outcome_?|_label$",
    re.IGNORECASE,
)
# The surer names first; where several columns bear one, none is guessed
PREDICTION = (
    re.compile(r"pred|prob|y_?hat|p_?hat", re.IGNORECASE),
    re.compile(r"(^|_)(risk|score)(_|$)", re.IGNORECASE),
)
BASELINE = re.compile(
    r"^(age|agep|sex|gender|female|male|race|rac1p|ethnic\w*|race_\w+|hispanic)$", re.IGNORECASE
)
WEIGHTS = re.compile(r"(^|_)(weights?|wt|wgt|pwgtp)$", re.IGNORECASE)
CLUSTERS = re.compile(
    r"(^|_)(household|patient|subject|person|hospital|site|cluster|family|serialno)"
    r"(_?(id|nr|no))?$|_id$",
    re.IGNORECASE,
)


def draft_study(source: Any = None, target: Any = None) -> str:
    """Write a commented study file for two paths; without them, a generic template."""
    if (source is None) != (target is None):
        what = "To guess roles, both tables are needed"
        got = "only the source" if target is None else "only the target"
        raise InputError(what, got=got, hint="Name both, or neither for a generic template.")
    roles: dict[str, Any] = {"outcome": "readmitted", "prediction": "risk"}
    roles["baseline"] = ["age", "sex"]
    if source is not None:
        for path in (source, target):
            if not isinstance(path, str | Path):
                raise InputError("A study file names tables by their path", got=type(path).__name__)
        roles = _guess_roles(source, target)
    mark = "" if source is None else GUESS
    template = resources.files("whygap.tables").joinpath("study_template.toml")
    return template.read_text(encoding="utf-8").format(
        source=_toml(str(source or "source.parquet")),
        target=_toml(str(target or "target.parquet")),
        **{role: _required(role, roles.get(role), mark) for role in ("outcome", "prediction")},
        positive=_positive_line(roles.get("outcome_values", ())),
        baseline=_toml(roles["baseline"]) + mark,
        covariates=_covariate_lines(roles.get("covariates", ()), mark),
        drop=f"# left out, they differ in every row: {_toml(roles['drop'])}{mark}"
        if roles.get("drop")
        else '# drop = ["..."]         # columns to leave out',
        weights=_optional("weights", roles, mark, "a column of row weights"),
        clusters=_optional("clusters", roles, mark, "which rows belong together"),
        metric=_toml("accuracy").ljust(14),
        task='# task = "multiclass"    # or "binary", "regression", where columns leave a doubt',
    )


def _toml(value: Any) -> str:
    """Write text or a list of texts as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _required(role: str, name: str | None, mark: str) -> str:
    return _toml(role) + UNKNOWN if name is None else _toml(name) + mark


def _optional(role: str, roles: Mapping[str, Any], mark: str, meaning: str) -> str:
    name = roles.get(role)
    return f'# {role} = "..."   # {meaning}' if name is None else f"{role} = {_toml(name)}{mark}"


def _positive_line(values: tuple[str, ...]) -> str:
    """Say which value counts as 1, where the two values do not say it themselves."""
    if len(values) != 2 or set(values) in ({"0", "1"}, {"-1", "1"}):
        note = "   # the value that counts as 1, where it is not obvious (1, true, yes)"
        return "# positive = 1" + note
    shown = values[1] if is_number(values[1]) else _toml(values[1])
    return f"positive = {shown}{GUESS} (the other value is {_toml(values[0])})"


def _covariate_lines(names: tuple[str, ...], mark: str) -> str:
    """Write one covariate per line, so that lines can be deleted."""
    if not names:
        return '# covariates = ["...", "..."]'
    return "\n".join([f"covariates = [{mark}", *(f"    {_toml(name)}," for name in names), "]"])


def _guess_roles(source: Any, target: Any) -> dict[str, Any]:
    """Guess one role per column, the most telling roles first."""
    opened, second = open_table(source, "source"), open_table(target, "target")
    frame = opened.read([name for name in opened.names if name in set(second.names)])
    columns: dict[str, RawColumn] = {}
    for name in opened.names:
        if name in set(second.names):
            with contextlib.suppress(ColumnError):  # lists and the like get no role
                columns[name] = raw_column(frame.arrow(name), name, frame.label)
    left = dict(columns)

    def take(test: Callable[[str, RawColumn], bool]) -> str | None:
        name = next((name for name, column in left.items() if test(name, column)), None)
        left.pop(name or "", None)
        return name

    index = saved_index(tuple(left))
    drop = [name for name, c in left.items() if name in index or _differs_everywhere(c)]
    for name in drop:
        del left[name]
    roles: dict[str, Any] = {"drop": drop}
    roles["weights"] = take(lambda name, c: bool(WEIGHTS.search(name)) and c.kind == "number")
    roles["clusters"] = take(lambda name, c: bool(CLUSTERS.search(name)) and _repeats(c))
    predicted = _predicted([name for name, column in left.items() if _is_probability(column)])
    roles["prediction"] = take(lambda name, _: name == predicted)
    outcome = take(lambda name, c: bool(OUTCOME.search(name)) and _is_two_valued(c))
    if outcome is None:
        flags = [name for name, column in left.items() if _is_two_valued(column)]
        outcome = take(lambda name, _: name in flags[-1:])
    if outcome is not None:
        roles["outcome_values"] = _values(columns[outcome])
    roles["outcome"] = outcome
    roles["baseline"] = [name for name in left if BASELINE.search(name)]
    roles["covariates"] = tuple(name for name in left if name not in roles["baseline"])
    return roles


def _predicted(names: list[str]) -> str | None:
    """Return the name that says it is a prediction; None where none or several do."""
    for words in PREDICTION:
        fitting = [name for name in names if words.search(name)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def _values(column: RawColumn) -> tuple[str, ...]:
    distinct = np.unique(present(column.values))
    if column.levels:
        return tuple(column.levels[int(i)] for i in distinct)
    return tuple(f"{value:g}" for value in distinct)


def _is_two_valued(column: RawColumn) -> bool:
    return len(_values(column)) == 2 and column.kind in ("number", "boolean", "text")


def _is_probability(column: RawColumn) -> bool:
    values = present(column.values)
    if column.kind != "number" or not len(values):
        return False
    return bool(values.min() >= 0 and values.max() <= 1 and len(np.unique(values)) > FEW_VALUES)


def _repeats(column: RawColumn) -> bool:
    distinct = len(np.unique(present(column.values)))
    return max(FEW_VALUES, len(column.values) / 50) < distinct < len(column.values)


def _differs_everywhere(column: RawColumn) -> bool:
    if column.kind == "text" or (column.kind == "number" and column.whole):
        rows = len(column.values)
        return rows > 2 * FEW_VALUES and len(np.unique(column.values)) == rows
    return False
