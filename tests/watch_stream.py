"""A stream of small targets against one source, for tests of `watch`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
from small_study import fast, make_table

import whygap as wg
from whygap._watch import Watch

MONTHS = ("2025-01", "2025-02", "2025-03")
SHIFTED = "2025-03"  # its outcome is bent along a
ROLES: dict[str, Any] = {"outcome": "y", "baseline": ["w"], "prediction": "risk"}


def source() -> pd.DataFrame:
    return make_table(600, 0.0, 1)


def months() -> pd.DataFrame:
    """All targets in one table, the month in a column."""
    tables = [
        make_table(300, 1.0 if month == SHIFTED else 0.0, 10 + k).assign(month=month)
        for k, month in enumerate(MONTHS)
    ]
    return pd.concat(tables, ignore_index=True)


def month(name: str) -> pd.DataFrame:
    table = months()
    return table[table["month"] == name].drop(columns="month").reset_index(drop=True)


def stream_study(**changes: Any) -> wg.Study:
    return wg.Study(source(), month("2025-01"), **(ROLES | changes))


def watched(state: Any, targets: Any = None, **asked: Any) -> Watch:
    """Watch the parts alone, by the fast learner, unless said otherwise."""
    options = {"detail": (), "settings": fast()} | asked
    if targets is None:
        targets = {name: month(name) for name in MONTHS}
    return wg.watch(stream_study(), targets, state=state, **options)


def bytes_of(folder: Path) -> dict[str, str]:
    """Every file but the lock, by a digest of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }
