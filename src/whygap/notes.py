"""Notes: what was done to the data or looks wrong, as data; sentences come from one table."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any, Literal

from whygap.errors import listed

__all__ = ["Fact", "Note", "NoteLevel"]

Fact = str | int | float | bool | tuple[str, ...]
NoteLevel = Literal["info", "warning", "problem"]

# Facts that name values of rows, and shares that give exact counts away: gone once redacted
REDACTED = frozenset({"value", "values", "share"})

# Kind -> its sentence; what stands in <> is left out where its fact is missing. A tuple of names is
# written quoted (":3" the first three) and sets {s} and {was}; a count is written with commas.
SENTENCES: dict[str, str] = {
    # Tables and columns
    "read_as": "Of the {table} table, {files:2} {was} read with {how}.",
    "saved_index": "Column '{column}' of {table} is left out: it looks like a saved row index.",
    "drawn": "Of {rows} {domain} rows, {drawn} were drawn at random; only these are analysed.",
    "left_out": "Left out, {reason}: {columns}.",
    "identifier": "Column '{column}' differs in every row, like an identifier.",
    "used_as": "Column '{column}' is used as {unit}.",
    "mixed_types": (
        "Column '{column}' holds numbers in {domain} and text in the other table: read as text."
    ),
    "ordered_in_one": "Column '{column}' is ordered in one table only: read as unordered.",
    "different_orders": (
        "Column '{column}' has different orders in the two tables: read as unordered."
    ),
    "infinite": (
        "Column '{column}': {rows} infinite values (or beyond 1e+100) are treated as missing."
    ),
    "nearly_numbers": (
        "Column '{column}' is text although nearly all its values are numbers; not so: {values:3}."
    ),
    "pooled": (
        "Column '{column}': {n_pooled} of {n_levels} levels with fewer than {limit:.0f} rows "
        "each< ({share:.1%} of the rows)> are pooled into '(other)'."
    ),
    "one_sided_levels": (
        "Column '{column}': level{s} {values:3} ({rows} of {of_rows} {domain} rows) not seen in "
        "{other}: no overlap there."
    ),
    "spread_category": (
        "Columns {columns} look like one category spread over {n_columns} columns; to give it "
        "one share: groups={{'{group}': [...]}}."
    ),
    "zero_weights": "{rows} {domain} rows have weight zero.",
    "shared_clusters": (
        "{clusters} clusters ('{column}') have rows in both tables: folds keep such rows "
        "together, and standard errors count that they are alike."
    ),
    "shared_rows": (
        "{shared} of {rows} rows of {target} are equal in every column to rows of {source}: if "
        "they are the same cases, leave them out of one table; intervals take the tables for "
        "independent."
    ),
    "repeated_rows": (
        "{repeated} of {rows} rows of {table} repeat another one in every column: if they are "
        "copies, leave them out; if several rows belong to one case, name it with clusters=. "
        "Intervals take rows for independent."
    ),
    # Outcome
    "classes": (
        "The outcome '{column}' was taken for classes: {n_classes} of them< ({values})>. If not: "
        "task=..."
    ),
    "amounts": (
        "The outcome '{column}' was taken for real values: {n_distinct} distinct ones. If not: "
        "task=..."
    ),
    "missing_outcome": (
        "{missing} of {rows} {domain} rows< ({share:.1%})> have a missing outcome ('{column}') and "
        "are left out."
    ),
    "missing_prediction": (
        "{missing} of {rows} {domain} rows< ({share:.1%})> have a missing prediction ('{column}') "
        "and are left out."
    ),
    "rare_outcome": (
        "The outcome '{column}' {value} in too few {domain} rows ({rows}): was it recorded, and "
        "were the rows chosen, as in the source? The gap has its parts all the same, but the "
        "target's outcomes teach a model too little."
    ),
    "constant_outcome": (
        "The outcome '{column}' has one single value in {domain}< ({value})>: was it recorded, and "
        "were the rows chosen, as in the source? The gap has its parts all the same, but the "
        "target's outcomes teach a model too little."
    ),
    "few_of_a_class": (
        "Only {rarer} of {rows} rows of {table} have the rarer value of '{column}'; at least "
        "{n_needed} are needed for models of the outcome."
    ),
    "gives_outcome": (
        "Column '{column}' alone gives the outcome in every row: it is the outcome itself, or "
        "recorded after it."
    ),
    "nearly_gives_outcome": (
        "Column '{column}' alone predicts the outcome almost perfectly: it may be the outcome "
        "itself, or recorded after it."
    ),
    # Predictions and models
    "pickle": "The model '{file}' was loaded from a pickle, which can run any code.",
    "model_warned": "The model warned: {value}",
    "matrix_order": (
        "The model {model} was shown a matrix of the columns {columns:999}, in this order."
    ),
    "model_uses_more": (
        "The model also uses {columns}, neither baseline nor covariate: differences that act "
        "through them are counted as outcome shift."
    ),
    "unseen_classes": "{who} also knows {values}, which no row of either table has.",
    "constant_prediction": (
        "The prediction is {value:g} in every row: it cannot tell any rows apart."
    ),
    "prediction_is_outcome": (
        "The prediction gives the outcome in every row of both tables: it is the outcome itself, "
        "or was made from it."
    ),
    "prediction_nearly_outcome": (
        "The prediction gives the outcome almost perfectly in {table} (AUC {auc:.4f}): it may be "
        "made from it."
    ),
    "reversed_scores": (
        "In {table} high scores go with outcome 0 (AUC {auc:.2f}): the scores may be 1 - p, or "
        "meant for the other outcome value (positive=)."
    ),
    "below_commonest": (
        "In {table} the model is right in {accuracy:.1%} of the rows; always saying {value} "
        "would be right in {commonest:.1%}."
    ),
    "below_mean": (
        "In {table} the predictions are further from the outcome than its mean ({mean:.4g}) is "
        "(R2 {r2:.2f}): they may be in other units, or for another outcome."
    ),
    "better_in_target": (
        "{metric} is better in {target} ({target_value:.3f}) than in {source} "
        "({source_value:.3f}): if the model was trained on {target}, swap the two tables."
    ),
    "labels_only": "All predictions are 0 or 1, but {metric} is meant for probabilities.",
    # Overlap and meaning of columns
    "common_support": (
        "The tables are compared where both have rows (probability of the target between "
        "{low:.0%} and {high:.0%}): {source_share:.1%} of the source rows and {target_share:.1%} "
        "of the target rows. The rest is outside the common support: source-only and target-only "
        "rows."
    ),
    "not_comparable": (
        "The tables share too little to compare them: only {source_share:.1%} of the source rows "
        "({source_rows}) and {target_share:.1%} of the target rows ({target_rows}) have a "
        "counterpart in the other table. {value}"
    ),
    "clipped": (
        "{clipped:.2%} of the source rows had their density ratio on {columns} cut at "
        "{limit:.3g}; this moves the estimates towards the source domain. Ratios on fewer "
        "columns are cut there as well, uncounted."
    ),
    "poor_overlap": "The domains overlap poorly on {columns}: {faults}.",
    "separator": (
        "Column '{column}' alone tells the tables apart (AUC {auc:.3f}; {looks_like}<: {value}>). "
        "If it defines the tables, leave it out."
    ),
    "recorded_differently": (
        "Column '{column}' looks recorded differently in the two tables ({looks_like}<: {value}>). "
        "Set that right first."
    ),
    "changed_meaning": (
        "Column '{column}' does not mean the same in both tables: rows alike in every column get "
        "other predictions, and far less so without '{column}'. Compare its units, its codes, "
        "and whether its values still belong to their rows; until then do not read the parts."
    ),
    "other_predictions": (
        "Rows alike in every column get other predictions in the two tables, and no single "
        "column explains it: the model sees something that is not among the columns, or it is "
        "not the same model. What the parts say of alike rows does not hold for what it sees "
        "besides."
    ),
    # The run
    "bin_edges": (
        "{rows} target rows have a source risk exactly on the edge of a bin; the outcome shares "
        "assume there are none. Another number of bins avoids this."
    ),
    "training_rows": (
        "Models were trained on {trained_source} of {source} source rows and {trained_target} of "
        "{target} target rows, drawn at random; all rows serve in the averages."
    ),
    "random_groups": (
        "Standard errors rest on sums over {n_groups} random groups of rows per domain, which "
        "makes them uncertain by about {uncertainty:.1%}."
    ),
    "outcome_first": (
        "Affected groups are sought where the covariates come first: with the outcome first, the "
        "outcome part is a different mix of outcomes, not another outcome of rows alike."
    ),
    "interrupted": "You interrupted the analysis: it has no {missing}.",
    "no_shares": "{reason}",
    "stopped": "{value}",
    "sign_of_loss": "{reason}",
}

# Kind -> another sentence where a fact is missing: most often because it was redacted
WITHOUT_VALUES: dict[str, str] = {
    "nearly_numbers": (
        "Column '{column}' is text although nearly all its values are numbers; not all."
    ),
    "one_sided_levels": (
        "Column '{column}': some levels ({rows} of {of_rows} {domain} rows) not seen in {other}: "
        "no overlap there."
    ),
    "rare_outcome": (
        "A value of the outcome '{column}' is in too few {domain} rows ({rows}): was it "
        "recorded, and were the rows chosen, as in the source? The gap has its parts all the "
        "same, but the target's outcomes teach a model too little."
    ),
    "model_warned": "The model gave a warning.",
    "stopped": "A trial of the analysis ended with an error, which may quote values of rows.",
    "unseen_classes": "{who} also knows classes which no row of either table has.",
    "constant_prediction": (
        "The prediction is the same in every row: it cannot tell any rows apart."
    ),
    "below_commonest": (
        "In {table} the model is right in {accuracy:.1%} of the rows; always saying the "
        "commonest class would be right in {commonest:.1%}."
    ),
    "not_comparable": (
        "The tables share too little to compare them: only {source_share:.1%} of the source rows "
        "({source_rows}) and {target_share:.1%} of the target rows ({target_rows}) have a "
        "counterpart in the other table. {separators}"
    ),
    "interrupted": (
        "You interrupted the analysis: the last answer rests on the subsets finished until then."
    ),
}


@dataclass(frozen=True)
class Note:
    """Something done to the data, or wrong with them, that the user must know of.

    Attributes:
        kind: a key of `SENTENCES`.
        level: "info", "warning" (may change the answer) or "problem" (do not trust the answer).
        facts: what the sentence names. An int counts rows (or clusters), unless its key starts with
            "n_"; the keys in `REDACTED` hold values of rows, or shares that give counts away.
    """

    kind: str
    level: NoteLevel
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Turn the lists of JSON into tuples."""
        facts: Mapping[str, Any] = self.facts
        facts = {k: tuple(v) if isinstance(v, list) else v for k, v in facts.items()}
        object.__setattr__(self, "facts", facts)

    def __str__(self) -> str:
        facts = _in_words(self.facts)
        template = re.sub("<(.*?)>", lambda m: m[1] * _all_in(m[1], facts), SENTENCES[self.kind])
        if not _all_in(template, facts):
            template = WITHOUT_VALUES[self.kind]
        return _Words().vformat(template, (), facts)

    def __hash__(self) -> int:
        return hash((self.kind, self.level, str(self)))

    def redacted(self, rows: int) -> Note:
        """Return the note without values of rows, counts rounded to multiples of `rows`.

        Args:
            rows: what counts are rounded to.
        """
        facts = {
            name: _rounded_count(fact, rows) if _counts_rows(name, fact) else fact
            for name, fact in self.facts.items()
            if name not in REDACTED
        }
        return replace(self, facts=facts | {"rounded": True})


def _rounded_count(count: Any, rows: int) -> int | str:
    """Return a count of rows as a multiple of `rows`, in words where the count is below `rows`."""
    return f"fewer than {rows}" if count < rows else rows * math.floor(count / rows + 0.5)


def _counts_rows(name: str, fact: Fact) -> bool:
    return isinstance(fact, int) and not isinstance(fact, bool) and not name.startswith("n_")


def _all_in(template: str, facts: Mapping[str, Fact]) -> bool:
    return all(name in facts for _, name, _, _ in Formatter().parse(template) if name)


def _in_words(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    is_plural = any(isinstance(fact, tuple) and len(fact) > 1 for fact in facts.values())
    if facts.get("rounded"):
        facts = {k: f"about {v:,}" if _counts_rows(k, v) else v for k, v in facts.items()}
    return {**facts, "s": "s" if is_plural else "", "was": "were" if is_plural else "was"}


class _Words(Formatter):
    """Format names as a quoted list and counts with commas."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return listed(value, int(format_spec or 5))
        if isinstance(value, int) and not format_spec:
            return f"{value:,}"
        return str(super().format_field(value, format_spec))
