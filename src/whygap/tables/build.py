"""The main path of the entrance: two tables that were read -> one `Design`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain, IntArray
from whygap.errors import ColumnError
from whygap.tables import extras, hints, validate
from whygap.tables.columns import RawColumn, raw_column
from whygap.tables.design import Design, Note, Player
from whygap.tables.encode import EncodedColumn
from whygap.tables.features import encode_features
from whygap.tables.frame import Frame, Mask
from whygap.tables.outcome import Labels, encode_labels, find_labels
from whygap.tables.prediction import as_predictions
from whygap.tables.roles import Roles
from whygap.tables.scoring import Scoring

__all__ = ["build_design"]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Outcome and prediction of the kept rows, and which rows were kept."""

    labels: Labels
    outcome: ByDomain[Array]
    prediction: ByDomain[Array]
    keep: ByDomain[Mask]
    notes: tuple[Note, ...]


def build_design(
    frames: ByDomain[Frame], roles: Roles, scoring: Scoring, positive: Any, names: ByDomain[str]
) -> Design:
    """Outcome and predictions first, then the rows they leave, then the columns.

    Args:
        frames: both tables, read.
        roles: which column is what.
        scoring: how predictions are made and scored.
        positive: the outcome value that counts as 1, or None for the obvious one.
        names: what the two domains are called in notes.
    """
    scored = score_rows(frames, roles, scoring, positive)
    features = encode_features(frames, roles, scored.keep)
    order = [c for c in features.columns if c.name in set(roles.baseline)]
    baseline = tuple(range(len(order)))
    order += [c for c in features.columns if c.name not in set(roles.baseline)]
    players = players_of(order, roles)
    weights, clusters, risk, extra_notes = read_extras(frames, roles, scored.keep)
    pairs = scored.prediction.map(scoring.coefficients)
    notes = (
        *scored.notes,
        *features.notes,
        *extra_notes,
        *hints.feature_hints(order, scored.outcome, names),
        *hints.spread_categories(order[len(baseline) :], grouped(roles)),
        *score_hints(scoring, scored, mean_loss(pairs, scored, weights), names),
    )
    return Design(
        features=ByDomain(stacked(order, "source"), stacked(order, "target")),
        columns=tuple(c.column for c in order),
        baseline=baseline,
        players=players,
        outcome=scored.outcome,
        prediction=scored.prediction,
        intercept=pairs.map(lambda pair: pair[0]),
        slope=pairs.map(lambda pair: pair[1]),
        weights=weights,
        clusters=clusters,
        source_risk=risk,
        notes=notes,
    )


def grouped(roles: Roles) -> set[str]:
    """Covariates that are in a group."""
    return {column for columns in roles.groups.values() for column in columns}


def score_hints(
    scoring: Scoring, scored: Scored, means: ByDomain[hints.Mean], names: ByDomain[str]
) -> tuple[Note, ...]:
    """What looks wrong about the predictions and their scores."""
    return (
        *hints.swap_hint(scoring.metric, scoring.higher_is_better, means, names),
        *hints.label_hint(scoring.metric, scoring.wants, scored.prediction),
    )


def score_rows(frames: ByDomain[Frame], roles: Roles, scoring: Scoring, positive: Any) -> Scored:
    """Outcomes and predictions; rows without one of them are left out and counted."""
    raw = frames.map(lambda frame: raw_of(frame, roles.outcome))
    labels = find_labels(roles.outcome, raw, positive)
    outcome = raw.map(lambda column: encode_labels(column, labels)[0])
    if scoring.model is not None:
        prediction, model_notes = scoring.model.predict(frames, labels)
    else:
        name = roles.prediction or ""
        given = frames.map(lambda frame: raw_of(frame, name))
        prediction, model_notes = as_predictions(f"The prediction '{name}'", given, labels), ()
    keep = outcome.zip(prediction, lambda y, p: ~(np.isnan(y) | np.isnan(p)))
    notes = (
        *model_notes,
        *left_out_notes(outcome, f"a missing outcome ('{roles.outcome}')"),
        *left_out_notes(prediction, f"a missing prediction ('{roles.prediction}')"),
    )
    outcome = outcome.zip(keep, lambda values, rows: values[rows])
    validate.require_rows(outcome.map(len))
    validate.require_both_outcomes(f"The outcome '{roles.outcome}'", outcome)
    return Scored(
        labels, outcome, prediction.zip(keep, lambda values, rows: values[rows]), keep, notes
    )


def raw_of(frame: Frame, name: str) -> RawColumn:
    """One whole column."""
    return raw_column(frame.arrow(name), name, frame.label)


def left_out_notes(values: ByDomain[Array], what: str) -> tuple[Note, ...]:
    """Rows that were left out, counted per domain."""
    notes = []
    for domain, column in (("source", values.source), ("target", values.target)):
        missing = int(np.isnan(column).sum())
        if missing:
            share = missing / len(column)
            text = f"{missing:,} of {len(column):,} {domain} rows ({share:.1%}) have {what}"
            notes.append(Note("info" if share < 0.01 else "warning", f"{text} and are left out."))
    return tuple(notes)


Extras = tuple[
    ByDomain[Array] | None, ByDomain[IntArray] | None, ByDomain[Array] | None, tuple[Note, ...]
]


def read_extras(frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]) -> Extras:
    """Weights, clusters and the known source risk, where named."""
    weights, clusters, risk = None, None, None
    notes: tuple[Note, ...] = ()
    if roles.weights is not None:
        raw = extras.read_kept(frames, roles.weights, keep)
        weights, more = extras.read_weights(roles.weights, raw)
        notes += more
    if roles.clusters is not None:
        clusters, more = extras.read_clusters(frames, roles.clusters, keep)
        notes += more
    if roles.source_risk is not None:
        raw = extras.read_kept(frames, roles.source_risk, keep)
        risk = extras.read_risk(roles.source_risk, raw)
    return weights, clusters, risk, notes


def stacked(columns: Sequence[EncodedColumn], domain: str) -> Array:
    """(rows, columns) of one domain."""
    return np.column_stack(
        [c.values.source if domain == "source" else c.values.target for c in columns]
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


def mean_loss(
    pairs: ByDomain[tuple[Array, Array]], scored: Scored, weights: ByDomain[Array] | None
) -> ByDomain[hints.Mean]:
    """The mean of the metric in both domains, rows taken as independent."""
    loss = pairs.zip(scored.outcome, lambda pair, y: pair[0] + pair[1] * y)
    return loss.zip(weights or loss.map(np.ones_like), hints.weighted_mean)
