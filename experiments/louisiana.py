"""The paper's own insurance comparison, NE to LA in 2018, fetched with folktables.

The Census Bureau's files are read by folktables (`pip install 'whygap[acs]'`) and brought into the
34 columns of the other insurance tables. Where this cannot be done, the reason is told in words and
the other comparisons go on without it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from whygap.errors import InputError
from whygap.results.files import write_bytes

__all__ = ["coverage_columns", "louisiana_table"]

STATES = ("NE", "LA")
CODES = {"31": "NE", "22": "LA"}
HOST = "www2.census.gov"
KEPT = "acs_public_coverage_2018_ne_la.parquet"
PLAIN = ("SEX", "AGEP", "DIS", "ESP", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM")
MARITAL = ("married", "widowed", "divorced", "separated", "never")
CITIZEN = ("CIT_us", "CIT_pr", "CIT_abroad", "CIT_citizen", "CIT_not")
WORK = (
    "ESR_employed",
    "ESR_partial_employed",
    "ESR_unemployed",
    "ESR_armed",
    "ESR_partial_armed",
    "ESR_no",
)


def louisiana_table(folder: Path) -> pa.Table:
    """Nebraska and Louisiana, 2018, from a file kept in the folder, or fetched once and kept."""
    kept = folder / KEPT
    if kept.exists():
        return pyarrow.parquet.read_table(kept)
    if importlib.util.find_spec("folktables") is None:
        raise InputError(
            "NE to LA in 2018 needs the package folktables",
            hint="Install it with pip install 'whygap[acs]'.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    table = coverage_columns(_microdata(folder))
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    write_bytes(kept, buffer.getvalue())
    return table


def _microdata(folder: Path) -> Any:
    """All persons of the two states, as folktables reads them (a pandas table)."""
    from folktables import ACSDataSource

    files = [folder / "2018" / "1-Year" / f"psam_p{code}.csv" for code in CODES]
    if not all(path.exists() for path in files):
        _reach_the_host(files)
    source = ACSDataSource(
        survey_year="2018", horizon="1-Year", survey="person", root_dir=str(folder)
    )
    said = io.StringIO()  # folktables prints what went wrong and goes on
    try:
        with contextlib.redirect_stdout(said):
            return source.get_data(states=list(STATES), download=True)
    except (OSError, ValueError) as error:
        words = " ".join(said.getvalue().split()) or str(error)
        raise InputError("NE to LA in 2018 could not be fetched", got=words) from error


def _reach_the_host(files: list[Path]) -> None:
    try:
        socket.create_connection((HOST, 443), timeout=10).close()
    except OSError as error:
        raise InputError(
            f"NE to LA in 2018 is fetched from {HOST}, which cannot be reached",
            got=str(error),
            hint=f"Run it where it can, or put {files[0].name} and {files[1].name} of the 2018 "
            f"1-year person files into '{files[0].parent}'.",
        ) from error


def coverage_columns(people: Any) -> pa.Table:
    """Folktables' ACSPublicCoverage (under 65, at most 30,000 dollars) in 34 columns."""
    chosen = people[(people["AGEP"] < 65) & (people["PINCP"] <= 30000)]
    raw = {
        name: np.nan_to_num(chosen[name].to_numpy(dtype=float), nan=0.0)
        for name in (*PLAIN, "PINCP", "FER", "MAR", "RAC1P", "SCHL", "CIT", "ESR", "PUBCOV")
    }
    columns: dict[str, Any] = {"state": [CODES[f"{int(code):02d}"] for code in chosen["ST"]]}
    columns |= {name: raw[name] for name in (*PLAIN, "PINCP", "FER")}
    columns |= _one_column_each(raw["MAR"], MARITAL)
    columns["race_white"] = raw["RAC1P"] == 1
    columns["SCHL"] = raw["SCHL"]
    columns["schl_at_least_bachelor"] = raw["SCHL"] >= 21
    columns["schl_at_least_high_school_or_ged"] = raw["SCHL"] >= 16
    columns["schl_postgrad"] = raw["SCHL"] >= 22
    columns |= _one_column_each(raw["CIT"], CITIZEN)
    columns |= _one_column_each(raw["ESR"], WORK)
    columns["public_coverage"] = raw["PUBCOV"] == 1
    state = columns.pop("state")
    numbers = {name: np.asarray(values).astype(np.int32) for name, values in columns.items()}
    return pa.table({"state": state, **numbers})


def _one_column_each(codes: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Codes 1, 2, ... as one 0/1 column per name."""
    return {name: codes == code for code, name in enumerate(names, start=1)}
