"""Notes are data: sentences come from one table, files and redaction read the facts."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from whygap.notes import SENTENCES, WITHOUT_VALUES, Note

LEVELS = Note(
    "one_sided_levels",
    "warning",
    {"column": "c", "values": ("x", "y"), "rows": 1204, "of_rows": 30_000}
    | {"domain": "source", "other": "target"},
)


def test_a_sentence_names_the_facts():
    assert str(LEVELS) == (
        "Column 'c': levels 'x', 'y' (1,204 of 30,000 source rows) not seen in target: no overlap "
        "there."
    )


def test_a_redacted_note_names_no_value_and_rounds_counts():
    redacted = LEVELS.redacted(10)
    assert redacted.facts["rows"] == 1200
    assert "values" not in redacted.facts
    assert str(redacted) == (
        "Column 'c': some levels (about 1,200 of about 30,000 source rows) not seen in target: no "
        "overlap there."
    )
    assert redacted.redacted(10) == redacted


def test_few_rows_are_said_once():
    few = Note("zero_weights", "info", {"rows": 4, "domain": "source"})
    assert str(few.redacted(20).redacted(20)) == "fewer than 20 source rows have weight zero."


def test_notes_are_written_and_read_by_pydantic():
    adapter = TypeAdapter(Note)
    assert adapter.validate_json(adapter.dump_json(LEVELS)) == LEVELS
    assert hash(adapter.validate_json(adapter.dump_json(LEVELS))) == hash(LEVELS)


@pytest.mark.parametrize("kind", WITHOUT_VALUES)
def test_every_shorter_sentence_has_a_full_one(kind):
    assert kind in SENTENCES
