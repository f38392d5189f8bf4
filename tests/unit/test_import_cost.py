"""What an import brings along: of the package nothing, of `explain` nothing it can do without."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "narwhals", "lightgbm", "pydantic"}
OPTIONAL = {
    "catboost",
    "duckdb",
    "jinja2",
    "matplotlib",
    "mlflow",
    "openpyxl",
    "pandas",
    "polars",
    "prometheus_client",
    "ray",
    "typer",
    "xgboost",
}


def modules_after(statement: str) -> set[str]:
    script = f"{statement}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def libraries_after(statement: str) -> set[str]:
    return {name.partition(".")[0] for name in modules_after(statement)}


@pytest.mark.parametrize("statement", ["import whygap", "from whygap import errors"])
def test_the_package_itself_loads_no_library(statement):
    assert libraries_after(statement) & (HEAVY | OPTIONAL) == set()


@pytest.mark.parametrize("name", ["explain", "explain_many"])
def test_explain_loads_no_library_it_can_do_without(name):
    statement = f"from whygap import {name}"
    slow = {"scipy.optimize", "scipy.stats", "sklearn.linear_model", "matplotlib.pyplot"}
    assert libraries_after(statement) & OPTIONAL == set()
    assert modules_after(statement) & slow == set()
