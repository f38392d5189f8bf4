"""What it must say when there is nothing, or too little, to explain; and that it repeats."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from conftest import QUICK

import whygap as wg

SETTINGS = wg.Settings(learner="fast", folds=3, seed=5, progress=False)


def tables_of(shift: float, rows: int = 800, seed: int = 0) -> dict[str, pa.Table]:
    """Two tables that differ by `shift` in the mean of one covariate."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, mean in (("source", 0.0), ("target", shift)):
        a, b = rng.normal(mean, 1, rows), rng.normal(0, 1, rows)
        risk = 1 / (1 + np.exp(-np.tanh(a) - b))
        y = (rng.random(rows) < risk).astype(int)
        found[name] = pa.table({"a": a, "b": b, "y": y, "risk": risk})
    return found


def study_of(tables: dict[str, pa.Table]) -> wg.Study:
    return wg.Study(**tables, outcome="y", baseline=["b"], prediction="risk", metric="brier")


def test_one_domain_twice_has_no_shares():
    gap = wg.explain(study_of(tables_of(0.0)), settings=SETTINGS)
    low, high = gap.total.interval(0.99)
    assert low < 0 < high
    for detail in gap.shares.values():
        assert not detail.defined
        assert not detail.values
        assert "reaches 0" in detail.reason


def test_disjoint_tables_fail_the_check():
    page = wg.check(study_of(tables_of(40.0, rows=300)), SETTINGS)
    assert page.problems()
    assert "share too little to compare them" in str(page)


def test_one_seed_gives_one_result():
    study = study_of(tables_of(0.5, rows=400))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the caller's state is what is tested
    first, second = (wg.explain(study, detail=(), settings=SETTINGS) for _ in range(2))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert first.to_frame().equals(second.to_frame())


def test_the_order_of_columns_does_not_matter():
    tables = tables_of(0.5, rows=400)
    turned = {name: table.select(table.column_names[::-1]) for name, table in tables.items()}
    one, other = (wg.explain(study_of(t), detail=(), settings=SETTINGS) for t in (tables, turned))
    assert one.to_frame().equals(other.to_frame())


def test_the_command_line_and_python_agree(call, world):
    done = call("explain", world / "study.toml", "--detail", "none", "--json", *QUICK)
    values = json.loads(done.out)
    study = wg.Study(
        source=world / "source.parquet",
        target=world / "target.parquet",
        outcome="y",
        baseline=["W"],
        prediction="prediction",
    )
    settings = wg.Settings(learner="fast", folds=3, seed=1)
    gap = wg.explain(study, detail=(), settings=settings)
    assert values["parts"]["outcome"]["value"] == pytest.approx(gap.parts["outcome"].value)
