"""Random calls end in an answer or in one of our errors, and leave nothing half-written.

`WHYGAP_CALLS=2000` makes that many.
"""

from __future__ import annotations

import os

import matplotlib as mpl
import pytest
import random_calls

mpl.use("agg")
CALLS = int(os.environ.get("WHYGAP_CALLS", "150"))  # what fits into a minute
BATCH = 25  # calls per test, so that a failure names few


@pytest.mark.parametrize("first", range(0, CALLS, BATCH))
def test_random_calls_end_in_an_answer_or_in_our_words(first: int) -> None:
    numbers = range(first, min(first + BATCH, CALLS))
    failed = [found for found in map(random_calls.call, numbers) if found.failure]
    assert not failed, "\n".join(f"call({f.number}), {f.what}: {f.failure}" for f in failed)
    assert random_calls.half_written() == []


def test_the_calls_reach_everything_public_and_some_succeed() -> None:
    """Fuzzing that is refused at the first argument would prove nothing."""
    found = [random_calls.call(number) for number in range(40)]
    assert len({one.what for one in found}) > 8
    assert sum(one.ended == "done" for one in found) > 10
    assert sum(one.ended.endswith("Error") for one in found) > 10
