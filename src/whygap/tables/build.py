"""The main path from two tables that were read to one `Design`."""

import re
from collections.abc import Sequence

import numpy as np

from whygap._metrics import tasks_of
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import ColumnError, TableError
from whygap.memmap import RARELY_READ, allocate
from whygap.notes import Note, NoteLevel
from whygap.tables.columns import present
from whygap.tables.design import POOLED_LEVEL, Design, Player
from whygap.tables.encode import EncodedColumn, encode_column
from whygap.tables.extras import read_extras, read_kept
from whygap.tables.frames import Frame, Mask
from whygap.tables.roles import Roles
from whygap.tables.score import ModelScoring
from whygap.tables.scoring import LEAST_ROWS, complete_rows, score_rows, terms_of
from whygap.tables.task import ScoringSpec

__all__ = ["LEAST_ROWS", "build_design"]

ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key|index|row)$|^unnamed: \d+$|(?<=[a-z])(ID|Id)$")
MANY_DISTINCT = 1000  # distinct whole numbers: so many measurements would repeat themselves


def build_design(
    frames: ByDomain[Frame], roles: Roles, spec: ScoringSpec, model: ModelScoring | None
) -> Design:
    """Build the design: outcome and predictions first, then the rows they leave, then the columns.

    Args:
        frames: both tables, read (or a sample of their rows).
        roles: which column is what.
        spec: how rows are scored.
        model: the model to ask; None where there are prediction columns.
    """
    every_row = score_rows(frames, roles, spec, model)
    scored, keep = complete_rows(roles.outcome, every_row, spec), every_row.keep
    columns, notes = _encode_features(frames, roles, keep)
    extras = read_extras(frames, roles, keep)
    order = sorted(columns, key=lambda c: c.name not in set(roles.baseline))
    players = _players_of(order, roles)  # refuses where no covariate is left
    samples = [
        Note("drawn", "info", {"rows": frame.total, "drawn": frame.rows, "domain": domain})
        for domain, frame in frames.items()
        if frame.rows < frame.total
    ]
    baseline = tuple(i for i, c in enumerate(order) if c.name in set(roles.baseline))
    # Trees look at the stacked columns, the fast learner does not: they may leave memory
    tables = scored.outcome.map(lambda y: allocate(len(y), len(order), ending=RARELY_READ))
    for domain, table in tables.items():
        np.stack([c.values[domain] for c in order], axis=1, out=table)
    design = Design(
        features=tables,
        columns=tuple(c.column for c in order),
        baseline=baseline,
        players=players,
        outcome=scored.outcome,
        prediction=scored.prediction,
        task=scored.task,
        classes=scored.classes,
        scores=scored.scores,
        weights=extras.weights,
        clusters=extras.clusters,
        source_risk=extras.source_risk,
        threshold=float(spec.threshold),
        notes=(*scored.notes, *notes, *extras.notes, *samples),
        **terms_of(scored, spec),
    )
    _require_defined(design)
    return design


def _require_defined(design: Design) -> None:
    """Refuse a metric that has no value, or no slope, in either table."""
    weights = design.weights or design.outcome.map(np.ones_like)
    metric = design.metric
    for domain in DOMAINS:
        value = metric.value(design.terms[domain], weights[domain])
        if not np.isfinite(value):
            hint = "of= gives no number at the means of its terms."
            if tasks_of(metric.name):
                shares = "no row of a class, or no row that the model puts into it"
                hint = f"It divides by a share of rows that is 0 there: {shares}."
            message = f"The metric '{metric.name}' is not defined in {domain}"
            raise TableError(message, got=f"{value:g}", hint=hint)
        slopes = metric.gradient(metric.means(design.terms[domain], weights[domain]))
        if not np.isfinite(slopes).all():
            message = f"The metric '{metric.name}' has no slope in {domain}"
            hint = "Predictions that are never wrong leave nothing to explain."
            raise TableError(message, got=f"{value:g}, at the edge of what it can be", hint=hint)


# Why a column cannot be used -> level of the note; the error and its hint where it was named
UNUSABLE: dict[str, tuple[NoteLevel, str, str]] = {
    "missing in every row of both tables": ("warning", "is", "Leave it out."),
    "all levels are rare (group them into larger ones)": ("warning", "cannot be used:", ""),
    "one single value in both tables": ("info", "has", "Leave it out: it cannot explain a gap."),
}


def _encode_features(
    frames: ByDomain[Frame], roles: Roles, keep: ByDomain[Mask]
) -> tuple[list[EncodedColumn], list[Note]]:
    """Encode every column of W and Z on the kept rows.

    Columns the caller did not name one by one are left out, with a note, when they hold a single
    value or nothing; a column that was named is an error then.
    """
    columns: list[EncodedColumn] = []
    notes: list[Note] = []
    left_out: dict[str, list[str]] = {}
    for name in roles.features:
        encoded = encode_column(name, read_kept(frames, name, keep))
        reason = _unusable(encoded)
        if reason and name in roles.explicit:
            _, verb, hint = UNUSABLE[reason]
            raise ColumnError(f"Column '{name}' {verb} {reason}", hint=hint)
        empty = encoded.values.map(lambda values: bool(np.isnan(values).all()))
        if empty.source != empty.target:
            message = f"Column '{name}' is missing in every row of {DOMAINS[empty.target]}"
            hint = "It cannot be compared: drop it, or list covariates=[...] without it."
            raise ColumnError(message, hint=hint)
        if _looks_like_identifier(encoded):  # whole numbers that were named are used
            if name not in roles.explicit or encoded.raw_kind != "number":
                message = f"Column '{name}' looks like an identifier: it differs in every row"
                hint = f"Drop it, or, if it says which rows belong together, clusters='{name}'."
                raise ColumnError(message, hint=hint)
            notes.append(Note("identifier", "warning", {"column": name}))
        if reason:
            left_out.setdefault(reason, []).append(name)
        else:
            columns.append(encoded)
            notes += encoded.notes
    useless = [
        Note("left_out", UNUSABLE[reason][0], {"reason": reason, "columns": tuple(names)})
        for reason, names in left_out.items()
    ]
    return columns, useless + notes


def _unusable(encoded: EncodedColumn) -> str:
    values = present(encoded.pooled)
    if not len(values):
        return "missing in every row of both tables"
    if len(values) < len(encoded.pooled) or np.any(values != values[0]):
        return ""
    levels = encoded.column.levels
    if levels and levels[-1].startswith(POOLED_LEVEL):
        return "all levels are rare (group them into larger ones)"
    return "one single value in both tables"


def _looks_like_identifier(encoded: EncodedColumn) -> bool:
    """Tell columns that are unique per row in each table and no measurements."""
    if encoded.raw_kind == "text":
        return encoded.unique_text
    if encoded.raw_kind != "number" or not encoded.is_whole:
        return False
    if any(np.isnan(v).any() or len(np.unique(v)) < len(v) for v in encoded.values):
        return False
    return (
        ID_NAME.search(encoded.name) is not None
        or all(np.ptp(values) < 2 * len(values) for values in encoded.values)
        or min(map(len, encoded.values)) >= MANY_DISTINCT
    )


def _players_of(columns: Sequence[EncodedColumn], roles: Roles) -> tuple[Player, ...]:
    """Make a player per covariate or group, in the order of the first columns."""
    owner = {column: group for group, names in roles.groups.items() for column in names}
    members: dict[str, list[int]] = {}
    for position, column in enumerate(columns):
        if column.name not in set(roles.baseline):
            members.setdefault(owner.get(column.name, column.name), []).append(position)
    if not members:
        hint = "Every covariate has one single value or is missing everywhere."
        raise ColumnError("No usable covariate is left", hint=hint)
    return tuple(Player(name, tuple(positions)) for name, positions in members.items())
