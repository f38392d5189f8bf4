"""The table of revisions, read from kept analyses."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from experiments import revisions
from experiments.case_kept import Beside, Difference, Ranked
from experiments.pages import Measured
from whygap.estimate import Estimate


def difference(k, low, high):
    return Difference(k, Measured((low + high) / 2, low, high))


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ([(-0.1, 0.1), (-0.2, 0.1)], "At no k can the two rankings be told apart."),
        (
            [(-0.2, -0.1), (-0.1, 0.1)],
            ("Ours is measurably *worse* at k = 1; elsewhere the two cannot be told apart."),
        ),
        (
            [(0.1, 0.2), (-0.2, -0.1)],
            "Ours is measurably better at k = 1 and ours is measurably *worse* at k = 2.",
        ),
    ],
)
def test_the_table_is_put_into_words(ends, words):
    found = [difference(k, *pair) for k, pair in enumerate(ends, start=1)]
    assert revisions.in_words(found) == words


def outcome(**shares):
    """What the section reads of a `Shares`."""
    estimates = {name: Estimate(value, 0.01) for name, value in shares.items()}
    return SimpleNamespace(
        defined=True, players=tuple(estimates), values=estimates, base=Estimate(0.5, 0.1), reason=""
    )


def test_a_section_names_what_each_ranking_adds():
    beside = Beside(
        (Ranked("random_forest_acc", "outcome", ("b", "a"), None),),
        (),
        (difference(1, -0.02, -0.01), difference(2, 0.0, 0.0)),
    )
    text = revisions.section(SimpleNamespace(shares={"outcome": outcome(a=0.2, b=0.001)}), beside)
    assert "| 1 | -.0150 (-.0200 to -.0100) | a / b |" in text
    assert "| 2 | .0000 (.0000 to .0000) | b / a |" in text
    assert text.endswith("1 of 2 shares can be told from 0 from above (a).")


def test_undefined_shares_rank_nothing():
    silent = SimpleNamespace(defined=False, reason="No shift is told from 0.")
    found = revisions.section(SimpleNamespace(shares={"outcome": silent}), Beside((), (), ()))
    assert found == (
        "Our outcome shares are undefined, so there is no order to revise by. "
        "No shift is told from 0."
    )


def test_the_comparisons_named_exist():
    known = [comparison.name for comparison in revisions.CASES["insurance"]]
    assert set(revisions.MOVES) <= set(known)
