"""A commented study file to start from; roles guessed from the data are marked as guesses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whygap.errors import InputError
from whygap.tables.guess import GuessedRoles, guess_roles

__all__ = ["draft_study"]

GUESS = "  # guess: please check"
UNKNOWN = "  # nothing fits: please fill in"

HEAD = """\
# A whygap study: why does a model score differently in two tables?
# Paths are relative to this file. Lines that begin with # are comments.

# .csv, .csv.gz or .parquet; a folder or a pattern such as "part-*.parquet" works too.
# One file for both domains: source = {{ path = "all.parquet", where = {{ site = "A" }} }}
source = {source}
target = {target}
source_name = "source"   # what they are called in words
target_name = "target"

# The column that is predicted: two distinct values.
outcome = {outcome}
{positive}

# What the model said: a column of probabilities or labels ...
prediction = {prediction}
# ... or the model itself: .onnx, .skops, or "module:name" (delete the line above then).
# model = "model.onnx"

# Whom the rows describe: differences in these are the baseline part of the gap. May be empty.
baseline = {baseline}

# What may explain the rest. Without this line: every column not otherwise named.
{covariates}
{drop}

metric = "accuracy"      # or "zero_one", "brier", "log_loss"
threshold = 0.5          # a probability at or above it is the label 1
{weights}
{clusters}
# source_risk = "known_risk"   # a known chance of the outcome in the source

detail = ["covariate", "outcome"]   # which parts to take apart by covariate
# report = "gap.html"

# Covariates that are best read as one:
# [groups]
# labs = ["haemoglobin", "sodium"]

# [targets]              # more targets against the same source
# "site B" = "site_b.parquet"

[settings]
seed = 0
# folds = 5
# learner = "auto"       # "fast" is quicker, "paper" follows the paper
# time_budget = 600      # seconds
"""


def draft_study(source: Any = None, target: Any = None) -> str:
    """The text of a commented study file.

    Args:
        source: path of the source table, or None for a generic template.
        target: path of the target table, or None.
    """
    if (source is None) != (target is None):
        raise InputError(
            "To guess roles, both tables are needed",
            got="only the source" if target is None else "only the target",
            hint="Name both, or neither for a generic template.",
        )
    if source is None:
        return filled("source.parquet", "target.parquet", None)
    return filled(shown_path(source), shown_path(target), guess_roles(source, target))


def shown_path(path: Any) -> str:
    """A path as it is written in the file."""
    if not isinstance(path, str | Path):
        raise InputError("A study file names tables by their path", got=type(path).__name__)
    return str(path)


def filled(source: str, target: str, guess: GuessedRoles | None) -> str:
    """The template with values put in."""
    if guess is None:
        example = GuessedRoles("readmitted", "risk", None, None, ("age", "sex"))
        return fill(source, target, example, mark="")
    return fill(source, target, guess, mark=GUESS)


def fill(source: str, target: str, guess: GuessedRoles, mark: str) -> str:
    """Values and marks."""
    return HEAD.format(
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
    )


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def quoted_list(names: tuple[str, ...]) -> str:
    """A TOML list on one line."""
    return "[" + ", ".join(quoted(name) for name in names) + "]"


def required(name: str | None, role: str, mark: str) -> str:
    """A role every study has."""
    return quoted(role) + UNKNOWN if name is None else quoted(name) + mark


def optional_line(role: str, name: str | None, mark: str, meaning: str) -> str:
    """A role that may be absent."""
    if name is None:
        return f'# {role} = "..."   # {meaning}'
    return f"{role} = {quoted(name)}{mark}"


def positive_line(guess: GuessedRoles) -> str:
    """Which value counts as 1; needed when the two values do not say it themselves."""
    values = guess.outcome_values
    note = "   # the value that counts as 1, where it is not obvious (1, true, yes)"
    if len(values) != 2 or set(values) in ({"0", "1"}, {"-1", "1"}):
        return "# positive = 1" + note
    shown = values[1] if is_plain_number(values[1]) else quoted(values[1])
    return f"positive = {shown}{GUESS} (the other value is {quoted(values[0])})"


def is_plain_number(text: str) -> bool:
    """Whether TOML reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def covariate_lines(guess: GuessedRoles, mark: str) -> str:
    """One covariate per line, so that lines can be deleted."""
    if not guess.covariates:
        return '# covariates = ["...", "..."]'
    lines = [f"    {quoted(name)}," for name in guess.covariates]
    return "\n".join([f"covariates = [{mark}", *lines, "]"])


def drop_line(guess: GuessedRoles, mark: str) -> str:
    """Columns to leave out."""
    if not guess.drop:
        return '# drop = ["..."]         # columns to leave out'
    return f"# left out, they differ in every row: {quoted_list(guess.drop)}{mark}"
