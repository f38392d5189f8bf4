"""Words and tables of whole results, kept as files a person can read: the one place for wording."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from golden_file import check
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.notes import Note
from whygap.render import tables
from whygap.results import Gap, Gaps

LEAK = Note("gives_outcome", "problem", {"column": "months at work"})
NOTHING_TO_WIN = {"won_back": (0.0001, 0.0001, 0.0001), "rules": 0}
PLAIN = {"outcome": None, "covariate": None, "names": ("2024", "2025")}
CASES: dict[str, dict[str, object]] = {
    "story": {},
    "undefined": {"defined": ()},
    "cannot_tell": {"corners": (0.8, 0.81, 0.80, 0.795)},
    "no_gap": {"corners": (0.8, 0.8, 0.8, 0.799), **NOTHING_TO_WIN, **PLAIN},
    "improvement": {"corners": (0.70, 0.71, 0.72, 0.80), **PLAIN},
    "harder_rows": {"corners": (0.804, 0.80, 0.733, 0.732), **NOTHING_TO_WIN, **PLAIN},
    "label_shift": {"corners": (0.80, 0.80, 0.799, 0.70), "recalibration": 0.8, **PLAIN},
    "tiny": {"rows": (60, 40), "rules": 0, **PLAIN},
    "regression": {"metric": "mae", "corners": (3.1, 3.2, 3.5, 4.4), "noise": 0.5, **PLAIN},
    "auc": {"metric": "auc", "corners": (0.81, 0.80, 0.78, 0.72), "noise": 0.5, **PLAIN},
    "perfect": {"corners": (1.0, 1.0, 1.0, 1.0), "noise": 0.0, **NOTHING_TO_WIN, **PLAIN},
    "leak": {"notes": (LEAK,), **PLAIN},
    "opposite": {"corners": (0.8, 0.83, 0.78, 0.70), "noise": 0.5},
    "log_loss": {"metric": "log_loss", "corners": (0.513, 0.52, 0.53, 0.555), "noise": 0.2},
    "unknown_direction": {
        "metric": "cost",
        "corners": (1200.0, 1210.0, 1300.0, 1530.0),
        "names": ("source", "target"),
    },
    "no_baseline": {"baseline": (), "corners": (0.8, 0.8, 0.75, 0.7)},
    "near_tie": {"corners": (0.804, 0.80, 0.768, 0.732), "names": ("source", "target")},
    "sixty": {"outcome": many_players(60), "covariate": None},
    "one": {"outcome": {"x": 0.3}, "covariate": {"x": 1.0}},
    "nasty": {"outcome": dict.fromkeys(NASTY_NAMES, 0.1), "covariate": None},
}


def gap_of(case: str) -> Gap:
    return make_gap(**CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_summary(case: str) -> None:
    text = gap_of(case).summary(0.9)
    assert all(len(line) <= 80 for line in text.splitlines())
    check(f"summary_{case}.txt", text + "\n")


def test_short_form() -> None:
    check("short_story.txt", str(gap_of("story")) + "\n")


def test_summary_of_several_targets() -> None:
    worse = {"March": (0.80, 0.80, 0.79, 0.78), "April": (0.80, 0.79, 0.77, 0.70)}
    gaps = {
        name: make_gap(corners=corners, **(PLAIN | {"names": ("February", name)}))
        for name, corners in worse.items()
    }
    check("summary_several.txt", Gaps(gaps, ("May",)).summary(0.9) + "\n")


def test_summary_of_tables_that_share_nothing() -> None:
    reason = (
        "The tables share too little to compare them: only 2% of the source rows (32) and 1% "
        "of the target rows (7) have a counterpart in the other table. What separates them: "
        "'income' (in the target about 1,000 times the source)."
    )
    gap = replace(make_gap(culprits=("recoverable",), **PLAIN), parts={}, reason=reason)
    check("summary_no_overlap.txt", gap.summary(0.9) + "\n")
    check("table_no_overlap.text", tables.render(gap, "text", 0.9) + "\n")


@pytest.mark.parametrize("format_", ["text", "md", "csv"])
@pytest.mark.parametrize("case", ["story", "undefined", "nasty"])
def test_table(case: str, format_: str) -> None:
    text = tables.render(gap_of(case), format_, 0.9) + "\n"
    if format_ == "csv":
        text = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda n: f"{round(float(n[0]), 8):g}", text)
    check(f"table_{case}.{format_}", text)
