"""Profiles of columns that lost their values."""

from __future__ import annotations

import numpy as np

from whygap.domains import ByDomain
from whygap.nuisances import profiles
from whygap.tables.design import Column


def test_a_column_without_any_value_left_has_one_bin() -> None:
    empty = ByDomain(np.full(3, np.nan), np.full(2, np.nan))
    for kind in ("numeric", "category"):
        labels, codes = profiles._bins(Column("x", kind), empty)
        assert labels == ["missing"]
        np.testing.assert_array_equal(codes.source, np.zeros(3))
        np.testing.assert_array_equal(codes.target, np.zeros(2))
