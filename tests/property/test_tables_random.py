"""Random tables: every study either gives a finite design or one of our own errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings
from random_tables import ARGUMENTS, HEALTH, convert

from whygap.errors import InputError
from whygap.study import Study
from whygap.tables.design import Design


def assert_valid(design: Design) -> None:
    assert design.players
    positions = sorted((*design.baseline, *design.covariates))
    assert positions == list(range(len(design.columns)))
    for domain in ("source", "target"):
        rows = design.rows[domain]
        assert design.features[domain].shape == (rows, len(design.columns))
        assert not np.isinf(design.features[domain]).any()
        assert set(np.unique(design.outcome[domain])) == {0.0, 1.0}
        for values in (design.prediction, design.intercept, design.slope):
            assert values[domain].shape == (rows,)
            assert np.isfinite(values[domain]).all()
        for extra in (design.weights, design.clusters, design.source_risk):
            assert extra is None or extra[domain].shape == (rows,)
    for i, one in enumerate(design.columns):
        if one.kind != "numeric":
            both = np.concatenate([design.features.source[:, i], design.features.target[:, i]])
            codes = both[~np.isnan(both)]
            assert set(codes) <= set(range(len(one.levels)))
    assert all(str(note).endswith((".", "?")) for note in design.notes)


def try_study(
    tables: tuple[pd.DataFrame, pd.DataFrame],
    kind: str,
    baseline: int,
    named: bool,
    metric: str,
    extra: str,
) -> None:
    source, target = (convert(table, kind) for table in tables)
    names = [name for name in tables[0].columns if name not in ("y", "risk")]
    extras = {extra: names.pop()} if extra and names else {}
    try:
        design = Study(
            source=source,
            target=target,
            outcome="y",
            prediction="risk",
            baseline=names[:baseline],
            covariates=names[baseline:] if named else None,
            metric=metric,
            **extras,
        ).design
    except InputError as err:
        event(type(err).__name__)
        return
    event("a design")
    assert_valid(design)


@given(**ARGUMENTS)
@settings(max_examples=100, deadline=None, suppress_health_check=HEALTH, derandomize=True)
def test_random_tables(**arguments: Any) -> None:
    try_study(**arguments)


@pytest.mark.nightly
@given(**ARGUMENTS)
@settings(max_examples=2000, deadline=None, suppress_health_check=HEALTH)
def test_many_random_tables(**arguments: Any) -> None:
    try_study(**arguments)
