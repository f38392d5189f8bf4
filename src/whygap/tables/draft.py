"""A commented study file to start from; roles guessed from the data are marked as guesses."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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


def draft_study(source: Any = None, target: Any = None) -> str:
    """The text of a commented study file for two paths; without them, a generic template."""
    if (source is None) != (target is None):
        raise InputError(
            "To guess roles, both tables are needed",
            got="only the source" if target is None else "only the target",
            hint="Name both, or neither for a generic template.",
        )
    if source is None:
        example = GuessedRoles("readmitted", "risk", None, None, ("age", "sex"))
        return fill("source.parquet", "target.parquet", example, mark="")
    for path in (source, target):
        if not isinstance(path, str | Path):
            raise InputError("A study file names tables by their path", got=type(path).__name__)
    return fill(str(source), str(target), guess_roles(source, target), mark=GUESS)


def fill(source: str, target: str, guess: GuessedRoles, mark: str) -> str:
    template = resources.files("whygap.tables").joinpath("study_template.toml")
    return template.read_text(encoding="utf-8").format(
        source=quoted(source),
        target=quoted(target),
        outcome=required(guess.outcome, "outcome", mark),
        positive=positive_line(guess),
        prediction=required(guess.prediction, "prediction", mark),
        baseline=quoted_list(guess.baseline) + mark,
        covariates=covariate_lines(guess, mark),
        drop=drop_line(guess, mark),
        weights=optional_line("weights", guess.weights, mark, "a column of row weights"),
        clusters=optional_line("clusters", guess.clusters, mark, "which rows belong together"),
        metric=quoted("accuracy").ljust(14),
        task='# task = "multiclass"    # or "binary", "regression", where columns leave a doubt',
    )


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def quoted_list(names: tuple[str, ...]) -> str:
    return "[" + ", ".join(quoted(name) for name in names) + "]"


def required(name: str | None, role: str, mark: str) -> str:
    return quoted(role) + UNKNOWN if name is None else quoted(name) + mark


def optional_line(role: str, name: str | None, mark: str, meaning: str) -> str:
    if name is None:
        return f'# {role} = "..."   # {meaning}'
    return f"{role} = {quoted(name)}{mark}"


def positive_line(guess: GuessedRoles) -> str:
    """Which value counts as 1; needed when the two values do not say it themselves."""
    values = guess.outcome_values
    note = "   # the value that counts as 1, where it is not obvious (1, true, yes)"
    if len(values) != 2 or set(values) in ({"0", "1"}, {"-1", "1"}):
        return "# positive = 1" + note
    shown = values[1] if is_number(values[1]) else quoted(values[1])
    return f"positive = {shown}{GUESS} (the other value is {quoted(values[0])})"


def covariate_lines(guess: GuessedRoles, mark: str) -> str:
    """One covariate per line, so that lines can be deleted."""
    if not guess.covariates:
        return '# covariates = ["...", "..."]'
    lines = [f"    {quoted(name)}," for name in guess.covariates]
    return "\n".join([f"covariates = [{mark}", *lines, "]"])


def drop_line(guess: GuessedRoles, mark: str) -> str:
    if not guess.drop:
        return '# drop = ["..."]         # columns to leave out'
    return f"# left out, they differ in every row: {quoted_list(guess.drop)}{mark}"


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
FEW = 10  # distinct values that a code or a scale may have; a guess, as all of this


@dataclass(frozen=True, slots=True)
class GuessedRoles:
    outcome: str | None = None
    prediction: str | None = None
    weights: str | None = None
    clusters: str | None = None
    baseline: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    outcome_values: tuple[str, ...] = ()


def guess_roles(source: Any, target: Any) -> GuessedRoles:
    opened, other = open_table(source, "source"), open_table(target, "target")
    names = [name for name in opened.names if name in set(other.names)]
    frame = opened.read(names)
    columns = {}
    for name in names:
        with contextlib.suppress(ColumnError):  # lists and the like get no role
            columns[name] = raw_column(frame.arrow(name), name, frame.label)
    return assign(columns)


def assign(columns: dict[str, RawColumn]) -> GuessedRoles:
    """One role per column, the most telling roles first."""
    left = dict(columns)

    def take(test: Callable[[str, RawColumn], bool]) -> str | None:
        for name, column in left.items():
            if test(name, column):
                del left[name]
                return name
        return None

    index = saved_index(tuple(left))
    drop = tuple(name for name, c in left.items() if name in index or differs_everywhere(c))
    for name in drop:
        del left[name]
    weights = take(lambda name, c: bool(WEIGHTS.search(name)) and c.kind == "number")
    clusters = take(lambda name, c: bool(CLUSTERS.search(name)) and repeats(c))
    scores = [name for name, column in left.items() if is_probability(column)]
    prediction = take(lambda name, _: name == surely_predicted(scores))
    outcome = take(lambda name, c: bool(OUTCOME.search(name)) and two_valued(c))
    if outcome is None:
        flags = [name for name, column in left.items() if two_valued(column)]
        outcome = flags[-1] if flags else None
        left.pop(outcome or "", None)
    baseline = tuple(name for name in left if BASELINE.search(name))
    rest = tuple(name for name in left if name not in set(baseline))
    values = () if outcome is None else shown_values(columns[outcome])
    return GuessedRoles(outcome, prediction, weights, clusters, baseline, rest, drop, values)


def surely_predicted(names: Iterable[str]) -> str | None:
    """The one name that says it is a prediction; None where none or several do."""
    for words in PREDICTION:
        fitting = [name for name in names if words.search(name)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


def two_valued(column: RawColumn) -> bool:
    values = np.unique(present(column.values))
    return len(values) == 2 and column.kind in ("number", "boolean", "text")


def shown_values(column: RawColumn) -> tuple[str, ...]:
    distinct = np.unique(present(column.values))
    if column.levels:
        return tuple(column.levels[int(i)] for i in distinct)
    return tuple(f"{value:g}" for value in distinct)


def is_probability(column: RawColumn) -> bool:
    values = present(column.values)
    if column.kind != "number" or not len(values):
        return False
    return bool(values.min() >= 0 and values.max() <= 1 and len(np.unique(values)) > FEW)


def repeats(column: RawColumn) -> bool:
    distinct = len(np.unique(present(column.values)))
    return max(FEW, len(column.values) / 50) < distinct < len(column.values)


def differs_everywhere(column: RawColumn) -> bool:
    if column.kind == "text" or (column.kind == "number" and column.whole):
        return len(column.values) > 2 * FEW and len(np.unique(column.values)) == len(column.values)
    return False
