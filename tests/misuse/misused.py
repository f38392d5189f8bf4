"""Two tables that are in order, the ways in which people spoil them, and what must be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from study_files import Change, write_study

Table = pd.DataFrame
Kind = Literal["refused", "not comparable", "problem", "warning", "fine"]


@dataclass(frozen=True)
class Case:
    """What is changed, and what must come of it.

    Attributes:
        kind: refused (exit code 2, nothing written); or answered with exit code 0 and without
            inner parts, with a problem, with a warning, or with nothing to say.
        said: the messages on stderr in full, numbers written as #; {folder} is the tables'.
        source: what is done to the source table, likewise `target`.
        study: lines of the study file other than the usual ones.
        write: writes a table in another way than usual.
    """

    kind: Kind
    said: tuple[str, ...] = ()
    source: Change = lambda table: table
    target: Change = lambda table: table
    study: dict[str, str] = field(default_factory=dict)
    write: Callable[[Table, Path], Any] = lambda table, path: table.to_csv(path, index=False)


def make_table(rows: int, seed: int) -> Table:
    """Measures, codes, levels; the model is a function of them, and it is a good one."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": np.round(rng.normal(50, 10, rows)),
            "weight": np.round(rng.normal(74, 12, rows), 1),
            "balance": np.round(rng.normal(0, 1, rows), 3),
            "flag": rng.integers(0, 2, rows),
            "smoker": rng.choice(["Yes", "No"], rows, p=[0.4, 0.6]),
            "grade": rng.choice(["1", "2", "3"], rows),
        }
    )
    score = (
        0.05 * (table["age"] - 50)
        + 0.05 * (table["weight"] - 74)
        + table["balance"]
        + (table["flag"] - 0.5)
        + 1.2 * ((table["smoker"] == "Yes") - 0.4)
        + 0.6 * (table["grade"].astype(int) - 2)
    )
    table["risk"] = 1 / (1 + np.exp(-1.5 * score))
    table["y"] = (rng.random(rows) < table["risk"]).astype(int)
    return table


def of(column: str, change: Callable[[pd.Series], Any]) -> Change:
    """One column changed."""
    return lambda table: table.assign(**{column: np.asarray(change(table[column]))})


def write_case(case: Case, folder: Path) -> Path:
    """Both tables and the study file; returns its path."""
    rows = {"source": (360, 1), "target": (300, 2)}
    for name, (count, seed) in rows.items():
        change = case.source if name == "source" else case.target
        case.write(change(make_table(count, seed)), folder / f"{name}.csv")
    return write_study(folder, case.study)
