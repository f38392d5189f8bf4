"""Study files as tests write them, and tables changed on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Change = Callable[[pd.DataFrame], pd.DataFrame]
USUAL = {
    "source": '"source.csv"',
    "target": '"target.csv"',
    "outcome": '"y"',
    "baseline": '["age"]',
    "prediction": '"risk"',
}


def write_study(folder: Path, changes: Mapping[str, str], without: tuple[str, ...] = ()) -> Path:
    """The usual lines of `study.toml`, some of them changed, added or left out."""
    lines = {key: value for key, value in {**USUAL, **changes}.items() if key not in without}
    path = folder / "study.toml"
    path.write_text("\n".join(f"{key} = {value}" for key, value in lines.items()) + "\n")
    return path


def put(**columns: Any) -> Change:
    """Columns replaced or added; values are repeated as often as needed."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        rows = len(table)
        return table.assign(**{n: np.resize(np.array(v), rows) for n, v in columns.items()})

    return change
