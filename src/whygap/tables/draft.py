"""A commented study file to start from; roles guessed from the data are marked as guesses."""

import contextlib
import json
import re
from collections.abc import Iterable, Sequence
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
    """Write a commented study file for two paths; without paths, a generic template.

    Args:
        source: path of the source table.
        target: path of the target table, needed with `source`.
    """
    if (source is None) != (target is None):
        message = "To guess roles, both tables are needed"
        actual = "only the source" if target is None else "only the target"
        raise InputError(message, got=actual, hint="Name both, or neither for a generic template.")
    roles: dict[str, Any] = {"outcome": "readmitted", "prediction": "risk"}
    roles["baseline"] = ["age", "sex"]
    if source is not None:
        for path in (source, target):
            if not isinstance(path, str | Path):
                raise InputError("A study file names tables by their path", got=type(path).__name__)
        roles = _guess_roles(source, target)
    mark = "" if source is None else GUESS

    def line(role: str, unset: str) -> str:
        name = roles.get(role)
        return unset if not name else f"{role} = {_toml(name)}{mark}"

    covariates, drop = (roles.get(role) for role in ("covariates", "drop"))
    lines = [f"covariates = [{mark}", *(f"    {_toml(name)}," for name in covariates or ()), "]"]
    template = resources.files("whygap.tables").joinpath("study_template.toml")
    return template.read_text(encoding="utf-8").format(
        source=_toml(str(source or "source.parquet")),
        target=_toml(str(target or "target.parquet")),
        outcome=line("outcome", f'outcome = "outcome"{UNKNOWN}'),
        prediction=line("prediction", f'prediction = "prediction"{UNKNOWN}'),
        positive=_positive_line(roles.get("outcome_values", ())),
        baseline=_toml(roles["baseline"]) + mark,
        covariates="\n".join(lines) if covariates else '# covariates = ["...", "..."]',
        drop=f"# left out, they differ in every row: {_toml(drop)}{mark}"
        if drop
        else '# drop = ["..."]         # columns to leave out',
        weights=line("weights", '# weights = "..."   # a column of row weights'),
        clusters=line("clusters", '# clusters = "..."   # which rows belong together'),
    )


def _toml(value: Any) -> str:
    """Write text or a list of texts as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _positive_line(values: Sequence[str]) -> str:
    """Write which value counts as 1, unless the two values are 0 and 1 or obvious."""
    if len(values) != 2 or set(values) in ({"0", "1"}, {"-1", "1"}):
        return (
            "# positive = 1   # the value that counts as 1, where it is not obvious (1, true, yes)"
        )
    text = values[1] if is_number(values[1]) else _toml(values[1])
    return f"positive = {text}{GUESS} (the other value is {_toml(values[0])})"


def _guess_roles(source: Any, target: Any) -> dict[str, Any]:
    """Guess a role per column, the most telling roles first."""
    opened, second = open_table(source, "source"), open_table(target, "target")
    frame = opened.read([name for name in opened.names if name in set(second.names)])
    columns: dict[str, RawColumn] = {}
    for name in opened.names:
        if name in set(second.names):
            with contextlib.suppress(ColumnError):  # lists and the like get no role
                columns[name] = raw_column(frame.arrow(name), name, frame.label)
    roles: dict[str, Any] = {}

    def take(role: str, fitting: Iterable[str]) -> RawColumn | None:
        roles[role] = next(iter(fitting), None)
        return columns.pop(roles[role], None)

    index = saved_index(tuple(columns))
    roles["drop"] = [n for n, c in columns.items() if n in index or _differs_everywhere(c)]
    for name in roles["drop"]:
        del columns[name]
    take("weights", [n for n, c in columns.items() if WEIGHTS.search(n) and c.kind == "number"])
    take("clusters", [n for n, c in columns.items() if CLUSTERS.search(n) and _repeats(c)])
    scores = [name for name, column in columns.items() if _is_probability(column)]
    fitting = ([name for name in scores if words.search(name)] for words in PREDICTION)
    predictions = next(filter(None, fitting), [])
    take("prediction", predictions if len(predictions) == 1 else [])
    flags = [
        n
        for n, c in columns.items()
        if c.kind in ("number", "boolean", "text") and len(_values(c)) == 2
    ]
    outcome = take("outcome", [name for name in flags if OUTCOME.search(name)] or flags[-1:])
    roles["outcome_values"] = () if outcome is None else _values(outcome)
    roles["baseline"] = [name for name in columns if BASELINE.search(name)]
    roles["covariates"] = [name for name in columns if name not in roles["baseline"]]
    return roles


def _values(column: RawColumn) -> tuple[str, ...]:
    distinct = np.unique(present(column.values))
    if column.levels:
        return tuple(column.levels[int(i)] for i in distinct)
    return tuple(f"{value:g}" for value in distinct)


def _is_probability(column: RawColumn) -> bool:
    values = present(column.values)
    if column.kind != "number" or not len(values):
        return False
    return bool(values.min() >= 0 and values.max() <= 1 and len(np.unique(values)) > FEW_VALUES)


def _repeats(column: RawColumn) -> bool:
    distinct = len(np.unique(present(column.values)))
    return max(FEW_VALUES, len(column.values) / 50) < distinct < len(column.values)


def _differs_everywhere(column: RawColumn) -> bool:
    if column.kind == "text" or (column.kind == "number" and column.is_whole):
        rows = len(column.values)
        return rows > 2 * FEW_VALUES and len(np.unique(column.values)) == rows
    return False
