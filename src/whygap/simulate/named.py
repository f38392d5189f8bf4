"""Worlds by name, as the command line asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pyarrow as pa

from whygap.errors import SettingsError, did_you_mean
from whygap.simulate import gaussian, untuned
from whygap.simulate.comparison import comparison_a, comparison_b

__all__ = ["WORLDS", "tables"]

Tables = Callable[[int, int], tuple[pa.Table, pa.Table]]

WORLDS: Mapping[str, Tables] = MappingProxyType(
    {
        "gaussian": gaussian.tables,
        "comparison_a": comparison_a.tables,
        "comparison_b": comparison_b.tables,
        "untuned": untuned.tables,
    }
)


def tables(world: str, rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Source and target tables of a named world; covariates are the columns named Z1, Z2, ..."""
    if world not in WORLDS:
        hint = did_you_mean(world, WORLDS) or f"Worlds are: {', '.join(WORLDS)}."
        raise SettingsError(f"There is no world '{world}'", hint=hint)
    return WORLDS[world](rows, seed)
