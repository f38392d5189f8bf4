"""The study file: a whole study in TOML, paths relative to the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whygap.errors import InputError, TableError, did_you_mean_file, require_known
from whygap.settings import Settings, details_named
from whygap.study import Study
from whygap.tables import TablePart, files, model_files, queries
from whygap.tables.draft import draft_study
from whygap.tables.open import open_table

__all__ = ["StudyFile", "draft_study", "hiding", "read_study_file"]

ROLES = ("outcome", "baseline", "covariates", "prediction", "weights", "clusters", "source_risk")
SCORE = ("order", "task", "threshold", "quantile", "positive")
PLAIN = (*ROLES, *SCORE, "groups", "source_name", "target_name", "sample")
KEYS = ("source", "target", "targets", "drop", "model", "metric", *PLAIN)
RUN_KEYS = ("detail", "report", "settings")


@dataclass(frozen=True, slots=True, eq=False)
class StudyFile:
    """Everything a study file says."""

    study: Study
    settings: Settings  # how to run it
    detail: tuple[str, ...] | None = None  # which parts to take apart; None: it does not say
    report: Path | None = None  # where to write a report; None when the file does not say
    targets: Mapping[str, Any] = field(default_factory=dict)  # more targets: name -> table


def read_study_file(
    path: str | Path,
    *,
    unsafe_pickle: bool = False,
    target: Any = None,
    hidden: Sequence[str] = (),
) -> StudyFile:
    """Everything a study file says; unknown keys are refused.

    A `target` stands in for the file's own; `hidden` columns are left out of both tables.
    """
    file = Path(path)
    values = parsed(file)
    if target is not None:
        values["target"] = "."
    check_keys(values, file)
    folder = file.parent
    settings = settings_in(checked_table(values.get("settings", {}), "settings", file), folder)
    drop = names_listed(values.get("drop", []), "drop", file)
    tables = {label: table_of(values[label], label, folder, drop) for label in ("source", "target")}
    tables |= {} if target is None else {"target": target}
    tables = {label: hiding(table, label, hidden) for label, table in tables.items()}
    study = Study(
        **tables,
        **{name: values[name] for name in PLAIN if name in values},
        model=model_of(values.get("model"), folder),
        metric=metric_in(values.get("metric", "accuracy"), folder),
        unsafe_pickle=unsafe_pickle,
    )
    more = checked_table(values.get("targets", {}), "targets", file)
    return StudyFile(
        study=study,
        settings=settings,
        detail=details_of(values.get("detail"), file),
        report=None if "report" not in values else folder / str(values["report"]),
        targets={name: table_of(table, "target", folder, drop) for name, table in more.items()},
    )


def parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as err:
        hint = did_you_mean_file(file)
        raise InputError(f"The study file '{file}' does not exist", hint=hint) from err
    except (OSError, UnicodeDecodeError) as err:
        raise InputError(f"The study file '{file}' cannot be read", got=type(err).__name__) from err
    except tomllib.TOMLDecodeError as err:
        raise InputError(
            f"The study file '{file}' is not valid TOML", got=str(err).rstrip(".")
        ) from err


def check_keys(values: Mapping[str, Any], file: Path) -> None:
    """Known keys only, and the three that every study needs."""
    known = (*KEYS, *RUN_KEYS)
    for key in values:
        if key == "unsafe_pickle":
            raise InputError(
                f"A study file ('{file.name}') cannot allow pickles",
                hint="Say it where you run it: --unsafe-pickle, or unsafe_pickle=True.",
            )
        what = f"There is no key '{key}' in a study file ('{file.name}')"
        require_known(key, known, what, "Keys")
    for key in ("source", "target", "outcome"):
        if key not in values:
            raise InputError(
                f"The study file '{file.name}' does not name the {key}",
                hint="A commented one is written by: whygap init.",
            )


def checked_table(value: Any, key: str, file: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"'{key}' in '{file.name}' must be a table", got=repr(value))
    return value


def settings_in(values: dict[str, Any], folder: Path) -> Settings:
    """How to run it; the folder of a checkpoint is relative to the file, as all paths are."""
    kept = values.get("checkpoint")
    if isinstance(kept, str):
        values = {**values, "checkpoint": str(folder / Path(kept).expanduser())}
    return Settings.from_mapping(values)


def names_listed(value: Any, key: str, file: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"'{key}' in '{file.name}' must be a list of names", got=repr(value))
    return tuple(value)


def table_of(value: Any, label: str, folder: Path, drop: tuple[str, ...]) -> Any:
    """A path, a query, {database, query}, or {path, where, drop}."""
    where: dict[str, Any] = {}
    if isinstance(value, dict) and set(value) == {"database", "query"}:
        found = queries.run_query(str(value["query"]), label, folder, str(value["database"]))
        return TablePart(found, {}, drop) if drop else found
    if isinstance(value, dict):
        unknown = [key for key in value if key not in ("path", "where", "drop")]
        if unknown or "path" not in value:
            raise TableError(
                f"The {label} table in a study file is a path, {{ path, where, drop }} or "
                "{ database, query }",
                got=f"'{unknown[0]}'" if unknown else "no path",
            )
        where, drop = value.get("where", {}), (*drop, *value.get("drop", ()))
        value = value["path"]
    if not isinstance(value, str):
        raise TableError(f"The {label} table in a study file must be a path", got=repr(value))
    files.refuse_remote(value, label)
    if queries.is_query(value):
        table = queries.run_query(value, label, folder)
    else:
        table = folder / Path(value).expanduser()
    return TablePart(table, where, drop) if where or drop else table


def hiding(table: Any, label: str, names: Sequence[str]) -> Any:
    """The table without those of these columns that it has."""
    there = tuple(name for name in names if name in open_table(table, label).names)
    return TablePart(table, {}, there) if there else table


def model_of(value: Any, folder: Path) -> Any:
    """A path relative to the file, or `module:name` importable from its folder."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError("The model in a study file must be a path or module:name", got=repr(value))
    if model_files.is_reference(value) and not (folder / value).exists():
        return model_files.import_model(value, folder)
    return folder / Path(value).expanduser()


def metric_in(value: Any, folder: Path) -> Any:
    """The name of a metric, or `module:name` of a callable(prediction, outcome)."""
    if isinstance(value, str) and model_files.is_reference(value):
        return model_files.import_model(value, folder, what="metric")
    return value


def details_of(value: Any, file: Path) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = (value,) if isinstance(value, str) else names_listed(value, "detail", file)
    details_named(names)
    return names
