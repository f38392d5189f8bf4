"""Words and tables of whole results, kept as files a person can read."""

from __future__ import annotations

import re

import pytest
from golden_file import check
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.render import table, words
from whygap.results import Gap

CASES: dict[str, dict[str, object]] = {
    "story": {},
    "undefined": {"defined": ()},
    "cannot_tell": {"corners": (0.8, 0.81, 0.80, 0.795)},
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
    check(f"summary_{case}.txt", words.summary(gap_of(case), 0.9) + "\n")


@pytest.mark.parametrize("format_", table.FORMATS)
@pytest.mark.parametrize("case", ["story", "undefined", "nasty"])
def test_table(case: str, format_: str) -> None:
    text = table.render(gap_of(case), format_, 0.9) + "\n"
    if format_ == "csv":
        text = re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda n: f"{round(float(n[0]), 8):g}", text)
    check(f"table_{case}.{format_}", text)
