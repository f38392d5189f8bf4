"""The shipped case: one published model, two groups of people, a gap in accuracy.

Who is employed in Massachusetts in 2018 (American Community Survey, ages 18 to 64), with the
predictions of the model published in the package nannyml 0.13.1. Source: US-born citizens. Target:
non-citizens. Origin, terms and limits are in docs/data_card_employment.md.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow.parquet

from whygap.errors import SettingsError, did_you_mean

if TYPE_CHECKING:
    from whygap.study import Study

TABLE_KINDS = ("pyarrow", "pandas", "polars")
_FOLDER = resources.files("whygap.datasets")


@dataclass(frozen=True, slots=True)
class Variable:
    """Describe a column: our name, the Census Bureau's name, and the text of each code.

    `labels` is in the order of the codes; `ordered` says whether that order means something.
    """

    name: str
    census_name: str
    meaning: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False


_CODEBOOK = tomllib.loads(_FOLDER.joinpath("employment.toml").read_text(encoding="utf-8"))
EMPLOYMENT = tuple(Variable(**values) for values in _CODEBOOK["variable"])
_DIFFICULTIES = tuple(v.name for v in EMPLOYMENT if v.name.endswith("_difficulty"))
_GROUPS = MappingProxyType({"disability": _DIFFICULTIES})
_LABELS = MappingProxyType({v.name: v.labels for v in EMPLOYMENT if v.labels})
_NAMES = MappingProxyType({v.name: v.census_name for v in EMPLOYMENT})


@dataclass(frozen=True, slots=True, eq=False)
class Employment:
    """Hold the two tables and what each column is for."""

    source: Any  # US-born citizens, 8,000 rows drawn by seed
    target: Any  # non-citizens, all 3,655 rows
    outcome: str = "employed"  # column that is 1 for people at work
    prediction: str = "probability"  # column of the published model's probabilities
    baseline: tuple[str, ...] = tuple(v.name for v in EMPLOYMENT[:3])  # the baseline variables W
    covariates: tuple[str, ...] = tuple(v.name for v in EMPLOYMENT[3:])  # the covariates Z
    # Covariates that are best read as one
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _GROUPS)
    # Column -> code of the Census Bureau -> text used in the tables
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _LABELS)
    # Column -> name of the Census Bureau
    names: Mapping[str, str] = field(default_factory=lambda: _NAMES)

    def study(self, **changes: Any) -> Study:
        """Make the study that `whygap demo` explains; any argument of `Study` can be changed."""
        from whygap.study import Study

        groups = {name: list(columns) for name, columns in self.groups.items()}
        columns = {"baseline": list(self.baseline), "covariates": list(self.covariates)}
        roles: dict[str, Any] = {"source": self.source, "target": self.target, **columns}
        roles |= {"outcome": self.outcome, "prediction": self.prediction, "groups": groups}
        names = {"source_name": "US-born citizens", "target_name": "non-citizens"}
        return Study(**({"metric": "accuracy", **roles, **names} | changes))


def load_employment(as_: str = "pyarrow") -> Employment:
    """Read the shipped employment tables as pyarrow, pandas or polars tables."""
    if as_ not in TABLE_KINDS:
        message = f"The tables can be had as {', '.join(map(repr, TABLE_KINDS))}"
        raise SettingsError(message, got=repr(as_), hint=did_you_mean(str(as_), TABLE_KINDS))
    if importlib.util.find_spec(as_) is None:
        raise SettingsError(f"The package {as_} is not installed", hint=f"pip install {as_}")
    return Employment(source=_read("source", as_), target=_read("target", as_))


def _read(domain: str, kind: str) -> Any:
    with resources.as_file(_FOLDER.joinpath(f"employment_{domain}.parquet")) as path:
        table = pyarrow.parquet.read_table(path)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "pyarrow":
        return table
    import polars

    # Categories become enumerations, which keep the order of the codes.
    kinds: Any = {v.name: polars.Enum(list(v.labels.values())) for v in EMPLOYMENT if v.labels}
    return polars.DataFrame(polars.from_arrow(table)).cast(kinds)
