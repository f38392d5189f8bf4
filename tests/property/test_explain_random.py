"""Random tables, analysed: finite numbers that are explained, or one of our own errors."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_tables import ARGUMENTS, HEALTH, convert, table_pair, usual_pair

import whygap as wg
from whygap.errors import WhygapError
from whygap.estimate import Estimate
from whygap.results import Gap, Shares

RUNS = {
    **ARGUMENTS,
    "tables": st.one_of(usual_pair(), usual_pair(), usual_pair(), table_pair()),
    "detail": st.sampled_from([(), ("points",), ("shares",), ("points", "affected", "shares")]),
    "more": st.fixed_dictionaries(
        {"learner": st.just("fast"), "folds": st.sampled_from([3, 3, 5])},
        optional={
            "support": st.just("common"),
            "clip": st.just(5.0),
            "level": st.just(0.8),
        },
    ),
}


def assert_finite(estimate: Estimate) -> None:
    assert math.isfinite(estimate.value)
    assert math.isfinite(estimate.standard_error)
    assert estimate.standard_error >= 0
    low, high = estimate.interval(0.95)
    assert not math.isnan(low)
    assert not math.isnan(high)


def assert_explained(part: Shares) -> bool:
    """Shares for every player that add up, or the reason in words why there are none.

    True when they are so large that a reader must be told not to trust them.
    """
    assert_finite(part.denominator)
    if not part.defined:
        assert part.reason.endswith(".")
        assert not part.values
        return False
    assert set(part.values) == set(part.players)
    assert part.base is not None
    for estimate in (part.base, *part.values.values()):
        assert_finite(estimate)
    values = [part.base.value, *(share.value for share in part.values.values())]
    rounding = 1e-9 * max(1.0, *map(abs, values))
    assert sum(values) == pytest.approx(part.value(part.players).value, abs=rounding)
    return max(map(abs, values)) > 100


def assert_whole(gap: Gap) -> None:
    """Finite numbers, parts that add up or the reason why there are none, words, a file."""
    parts = gap.parts.values()
    for estimate in (gap.total, *parts, gap.source, gap.target):
        assert_finite(estimate)
    if gap.comparable:
        total = sum(part.value for part in parts)
        assert total == pytest.approx(gap.total.value, abs=1e-9)
    else:
        assert not parts
        assert gap.shares == {}
        assert gap.reason.endswith(".")
    wild = [assert_explained(detailed) for detailed in gap.shares.values()]
    assert not any(wild) or any(note.level != "info" for note in gap.notes)
    assert all(str(note).endswith((".", "?")) for note in gap.notes)
    assert "nan" not in gap.summary().split()
    with tempfile.TemporaryDirectory() as folder:
        assert wg.load(gap.save(Path(folder) / "gap.json")) == gap


def try_explain(
    tables: Any, kind: str, baseline: int, named: bool, metric: str, extra: str, **run: Any
) -> None:
    source, target = (convert(table, kind) for table in tables)
    names = [name for name in tables[0].columns if name not in ("y", "risk")]
    extras = {extra: names.pop()} if extra and names else {}
    refusal = None
    try:
        study = wg.Study(
            source=source,
            target=target,
            outcome="y",
            prediction="risk",
            baseline=names[:baseline],
            covariates=names[baseline:] if named else None,
            metric=metric,
            **extras,
        )
        chosen = wg.Settings(**run["more"], subsets=8, progress=False)
        gap = wg.explain(study, detail=run["detail"], settings=chosen)
    except WhygapError as err:
        refusal = err
    if refusal is None:
        event(f"explained, {len(run['detail'])} details")
        assert_whole(gap)
    else:
        event(type(refusal).__name__)
        assert not isinstance(refusal.__cause__, Warning), refusal


def test_numbers_of_all_sizes_in_one_column() -> None:
    """Spline knots that differ in the table and not after scaling, and a number beyond squaring."""
    rng = np.random.default_rng(0)
    sizes = [-1e88, -1e-193, -3e16, 3e-200, -1e-242, -3e-77, -1.9, 5e16, 2.1, 3e16, 1e95, 1e264]
    pair = []
    for _ in range(2):
        risk = rng.uniform(0.1, 0.9, 400)
        y = (rng.random(400) < risk).astype(int)
        pair.append(pd.DataFrame({"x": rng.choice(sizes, 400), "y": y, "risk": risk}))
    study = wg.Study(source=pair[0], target=pair[1], outcome="y", prediction="risk")
    quick = wg.Settings(learner="fast", folds=3, progress=False)
    assert_whole(wg.explain(study, detail=(), settings=quick))


@given(**RUNS)
@settings(max_examples=40, deadline=None, suppress_health_check=HEALTH, derandomize=True)
def test_random_tables_are_explained(**arguments: Any) -> None:
    try_explain(**arguments)


@pytest.mark.nightly
@given(**RUNS)
@settings(max_examples=2000, deadline=None, suppress_health_check=HEALTH)
def test_many_random_tables_are_explained(**arguments: Any) -> None:
    try_explain(**arguments)
