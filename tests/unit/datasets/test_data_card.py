"""The data card says of the shipped rows what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import whygap as wg

CARD = Path(__file__).resolve().parents[3] / "docs" / "data_card_employment.md"


def test_rows_and_accuracies_of_the_card_are_those_of_the_tables():
    people = wg.datasets.load_employment()
    text = CARD.read_text(encoding="utf-8")
    right = []
    for table in (people.source, people.target):
        said = np.asarray(table["probability"]) >= 0.5
        right.append(np.mean(said == np.asarray(table["employed"])))
        row = next(line for line in text.splitlines() if f"{table.num_rows:,}" in line)
        assert row.endswith(f"| {right[-1]:.1%} |")
    assert f"{100 * (right[0] - right[1]):.1f} points less accurate" in text
