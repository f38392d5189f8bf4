"""The main path of the entrance: two tables that were read -> one `Design`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from whygap.domains import DOMAINS, Array, ByDomain
from whygap.errors import ColumnError, TableError, listed
from whygap.tables import hints
from whygap.tables.columns import RawColumn, present, raw_column
from whygap.tables.design import OTHER, Design, Note, Player
from whygap.tables.encode import MANY_ROWS, EncodedColumn, encode_column
from whygap.tables.extras import read_extras, read_kept
from whygap.tables.open import Frame, Mask
from whygap.tables.outcome import as_predictions, encode, find_labels
from whygap.tables.roles import Roles
from whygap.tables.score import Answers, Scoring

__all__ = ["LEAST_ROWS", "build_design"]

LEAST_ROWS = 50  # five folds of ten rows: below this, standard errors mean nothing
LEAST_OF_EACH = 5  # one row of each outcome value in each of five folds
ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|row)$|^unnamed: \d+$|(?<=[a-z])(ID|Id)$")


def build_design(
    frames: ByDomain[Frame], roles: Roles, scoring: Scoring, positive: Any, names: ByDomain[str]
) -> Design:
    """Outcome and predictions first, then the rows they leave, then the columns.

    `positive` is the outcome value that counts as 1, None for the obvious one; `names` are what
    the two domains are called in notes.
    """
    scored = score_rows(frames, roles, scoring, positive)
    features = encode_features(frames, roles, scored.keep)
    extras = read_extras(frames, roles, scored.keep)
    order = sorted(features.columns, key=lambda c: c.name not in set(roles.baseline))
    baseline = tuple(i for i, c in enumerate(order) if c.name in set(roles.baseline))
    players = players_of(order, roles)
    metric = scoring.metric.given(threshold=scoring.threshold, classes=2)
    terms = scored.prediction.map(lambda p: metric.term_coefficients(p, scoring.threshold))
    design = Design(
        features=ByDomain(*(np.column_stack([c.values[d] for c in order]) for d in DOMAINS)),
        columns=tuple(c.column for c in order),
        baseline=baseline,
        players=players,
        outcome=scored.outcome,
        prediction=scored.prediction,
        metric=metric,
        term_intercept=terms.map(lambda pair: pair[0]),
        term_slope=terms.map(lambda pair: pair[1]),
        weights=extras.weights,
        clusters=extras.clusters,
        source_risk=extras.source_risk,
        threshold=float(scoring.threshold),
        notes=(*scored.notes, *features.notes, *extras.notes),
    )
    return hints.with_hints(design, order, roles, scoring, names)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    keep: ByDomain[Mask]
    notes: tuple[Note, ...]


def score_rows(frames: ByDomain[Frame], roles: Roles, scoring: Scoring, positive: Any) -> Scored:
    """Outcomes and predictions; rows without one of them are left out and counted."""
    raw = frames.map(lambda frame: raw_of(frame, roles.outcome))
    labels = find_labels(roles.outcome, raw, positive)
    outcome = raw.map(lambda column: encode(column, labels).values)
    if scoring.model is not None:
        answers = scoring.model.predict(frames, labels)
    else:
        name = roles.prediction or ""
        given = frames.map(lambda frame: raw_of(frame, name))
        answers = Answers(as_predictions(f"The prediction '{name}'", given, labels))
    keep = outcome.zip(answers.prediction, lambda y, p: ~(np.isnan(y) | np.isnan(p)))
    notes = (
        *answers.notes,
        *left_out_notes(outcome, f"a missing outcome ('{roles.outcome}')"),
        *left_out_notes(answers.prediction, f"a missing prediction ('{roles.prediction}')"),
    )
    outcome = outcome.zip(keep, lambda values, rows: values[rows])
    require_rows(f"The outcome '{roles.outcome}'", outcome)
    prediction = answers.prediction.zip(keep, lambda values, rows: values[rows])
    return Scored(outcome, prediction, keep, notes)


def raw_of(frame: Frame, name: str) -> RawColumn:
    return raw_column(frame.arrow(name), name, frame.label)


def left_out_notes(values: ByDomain[Array], what: str) -> tuple[Note, ...]:
    notes = []
    for domain, column in zip(DOMAINS, values, strict=True):
        missing, rows = int(np.isnan(column).sum()), len(column)
        if missing:
            share = missing / rows
            text = (
                f"{missing:,} of {rows:,} {domain} rows ({share:.1%}) have {what} and are left out."
            )
            notes.append(Note("info" if share < MANY_ROWS else "warning", text))
    return tuple(notes)


def require_rows(what: str, outcome: ByDomain[Array]) -> None:
    """The least any analysis needs: enough rows, of both outcome values, in both domains."""
    for domain, values in zip(DOMAINS, outcome, strict=True):
        if len(values) < LEAST_ROWS:
            raise TableError(
                f"The {domain} table has too few usable rows",
                got=f"{len(values)}",
                hint=f"At least {LEAST_ROWS} rows with outcome and prediction are needed.",
            )
    for domain, values in zip(DOMAINS, outcome, strict=True):
        for value in (0, 1):
            number = int(np.sum(values == value))
            if number < LEAST_OF_EACH:
                raise TableError(
                    f"{what} equals {value} in too few {domain} rows",
                    got=f"{number}",
                    hint=f"At least {LEAST_OF_EACH} rows of each outcome value are needed in each "
                    "domain.",
                )


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    columns: tuple[EncodedColumn, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Useless:
    """Why a column cannot be used: an error where it was named, a note where it was not."""

    error: str
    hint: str
    level: Literal["info", "warning"]
    note: str


ALL_MISSING = Useless(
    "is missing in every row of both tables",
    "Leave it out.",
    "warning",
    "missing in every row of both tables",
)
ALL_RARE = Useless(
    "has only rare levels",
    "Group its levels into larger ones, for example postcodes into regions.",
    "warning",
    "all levels are rare (group them into larger ones)",
)
CONSTANT = Useless(
    "has one single value in both tables",
    "Leave it out: it cannot explain a gap.",
    "info",
    "one single value in both tables",
)


def encode_features(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Features:
    """Encode every column of W and Z on the kept rows.

    Columns the caller did not name one by one are left out, with a note, when they hold a single
    value or nothing; a column that was named is an error then.
    """
    columns: list[EncodedColumn] = []
    notes: list[Note] = []
    left_out: dict[Useless, list[str]] = {}
    for name in roles.features:
        encoded = encode_column(name, read_kept(frames, name, keep))
        reason = useless(encoded)
        if reason and name in roles.named:
            raise ColumnError(f"Column '{name}' {reason.error}", hint=reason.hint)
        refuse_empty_side(encoded)
        looks_unique = identifier_notes(encoded, name in roles.named)
        if reason:
            left_out.setdefault(reason, []).append(name)
            continue
        columns.append(encoded)
        notes += [*encoded.notes, *looks_unique]
    said = [
        Note(reason.level, f"Left out, {reason.note}: {listed(names)}.")
        for reason, names in left_out.items()
    ]
    return Features(tuple(columns), (*said, *notes))


def useless(encoded: EncodedColumn) -> Useless | None:
    values = present(encoded.pooled)
    if not len(values):
        return ALL_MISSING
    if len(values) < len(encoded.pooled) or np.any(values != values[0]):
        return None
    levels = encoded.column.levels
    return ALL_RARE if levels and levels[-1].startswith(OTHER) else CONSTANT


def refuse_empty_side(encoded: EncodedColumn) -> None:
    empty = encoded.values.map(lambda values: bool(np.isnan(values).all()))
    if empty.source == empty.target:
        return
    where = "source" if empty.source else "target"
    raise ColumnError(
        f"Column '{encoded.name}' is missing in every row of {where}",
        hint="It cannot be compared: drop it, or list covariates=[...] without it.",
    )


def identifier_notes(encoded: EncodedColumn, named: bool) -> tuple[Note, ...]:
    """A column that differs in every row is refused; whole numbers that were named are used."""
    if not looks_like_identifier(encoded):
        return ()
    if named and encoded.raw_kind == "number":
        text = f"Column '{encoded.name}' differs in every row, like an identifier."
        return (Note("warning", text),)
    raise ColumnError(
        f"Column '{encoded.name}' looks like an identifier: it differs in every row",
        hint=f"Drop it, or, if it says which rows belong together, clusters='{encoded.name}'.",
    )


def looks_like_identifier(encoded: EncodedColumn) -> bool:
    """Unique per row in both tables, and text, or whole numbers that are not measurements."""
    if encoded.raw_kind == "text":
        return encoded.unique_text
    if encoded.raw_kind != "number" or not encoded.whole:
        return False
    if any(np.isnan(v).any() or len(np.unique(v)) < len(v) for v in encoded.values):
        return False
    return (
        ID_NAME.search(encoded.name) is not None
        or all(np.ptp(values) < 2 * len(values) for values in encoded.values)
        or min(map(len, encoded.values)) >= 1000  # so many measured numbers repeat themselves
    )


def players_of(columns: Sequence[EncodedColumn], roles: Roles) -> tuple[Player, ...]:
    """One player per covariate or group, in the order of their first column."""
    owner = {column: group for group, names in roles.groups.items() for column in names}
    members: dict[str, list[int]] = {}
    for position, column in enumerate(columns):
        if column.name not in set(roles.baseline):
            members.setdefault(owner.get(column.name, column.name), []).append(position)
    if not members:
        raise ColumnError(
            "No usable covariate is left",
            hint="Every covariate has one single value or is missing everywhere.",
        )
    return tuple(Player(name, tuple(positions)) for name, positions in members.items())
