"""Undefined shares: what they do not deny, and what would settle them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from result_factory import make_gap, with_parts

from whygap.estimate import Estimate
from whygap.render import words
from whygap.render.detail_sentences import rows_needed, what_would_settle


def test_undefined_details_say_what_would_settle_them() -> None:
    gap = make_gap(defined=("covariate",))
    size = Estimate(0.01, 0.01)
    outcome = replace(gap.shares["outcome"], denominator=size)
    gap = replace(gap, shares={**gap.shares, "outcome": outcome})
    text = " ".join(words.summary(gap, 0.95).split())
    assert (
        "The outcome part as a whole is clear (-4.9 points), but these rows are too few to follow "
        "its effect from row to row. That effect is what shares divide up, so they are undefined. "
        "- Their size, 0.001, has a 95% interval that reaches 0." in text
    )
    # (1.960 + 0.842)^2 = 7.85 times the rows, for 80% power.
    assert (
        "If the effect is as large as estimated, about 7.8 times the rows (13,000 source and 5,500 "
        "target rows) would settle it at the 95% level." in text
    )
    needed = rows_needed(gap, outcome, 0.95)
    assert needed.source == pytest.approx(7.849 * 1600, rel=1e-3)
    assert needed.target == pytest.approx(7.849 * 700, rel=1e-3)


@pytest.mark.parametrize(
    ("size", "words_"),
    [
        (-0.01, "The estimated size is not above 0, so no number of rows can be named"),
        (1e-6, "The estimated size is so near 0 that no number of rows can be named"),
    ],
)
def test_hopeless_sizes_name_no_number(size: float, words_: str) -> None:
    gap = make_gap(defined=())
    detail = replace(gap.shares["outcome"], denominator=Estimate(size, 0.01))
    assert what_would_settle(gap, detail, 0.95) == f"{words_}."
    none = with_parts(gap, outcome=Estimate(0.001, 0.01))
    text = what_would_settle(none, detail, 0.95)
    assert text == f"{words_}: most likely there is little to explain."


@pytest.mark.parametrize(
    ("baseline", "across"),
    [(("age", "sex"), "from stratum to stratum of age and sex"), ((), "precisely enough")],
)
def test_a_clear_part_with_undefined_shares_is_not_denied(
    baseline: tuple[str, ...], across: str
) -> None:
    gap = make_gap(defined=(), baseline=baseline, corners=(0.8, 0.8, 0.75, 0.75), noise=0.5)
    text = " ".join(words.summary(gap).split())
    assert (
        "The covariate part as a whole is clear (-5.0 points), but these rows are too few to "
        f"follow its effect {across}. That effect is what shares divide up, so they are undefined."
        in text
    )
    assert (
        "The shares of the outcome part are undefined, and the part as a whole is not "
        "distinguishable from 0 either: there may be nothing to explain." in text
    )
