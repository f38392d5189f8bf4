"""Two simple scores, asked about rows through `model = "scores:..."` in a study file.

They are rules of thumb, written to show how a model of your own is named; nobody should use them
to decide anything. Tables read from files arrive as pyarrow tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def insurance(table: Any) -> Any:
    """1 for public insurance: a disability, or very low income without work."""
    disabled = np.asarray(table["DIS"]) == 1
    poor = np.asarray(table["PINCP"]) < 5_000
    out_of_work = np.asarray(table["ESR_no"]) == 1
    grown = np.asarray(table["AGEP"]) >= 25
    return (disabled | (poor & out_of_work & grown)).astype(int)


def readmission(table: Any) -> Any:
    """1 for a readmission within 30 days: points for length of stay, urgency, visits, illness."""

    def column(name: str) -> Any:
        return np.asarray(table[name])

    stay = np.interp(column("time_in_hospital"), [1, 3, 4, 7, 14], [1, 3, 4, 5, 7])
    urgent = 3 * column("emergency_adm")
    visits = np.minimum(column("number_emergency") + column("number_inpatient"), 4)
    illness = 2 * (column("dx_ckd") + column("dx_copd") + column("dx_cancer"))
    return (stay + urgent + visits + illness >= 10).astype(int)
