"""The study file: a whole study in TOML, paths relative to the file."""

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from whygap.errors import InputError, TableError, did_you_mean_file, require_known, translated
from whygap.settings import Settings, details_named
from whygap.study import Study
from whygap.tables import TablePart, files, model, queries
from whygap.tables.draft import draft_study
from whygap.tables.open import open_table

__all__ = ["StudyFile", "draft_study", "hiding", "read_study_file", "read_toml"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class StudyFile:
    """Everything a study file says."""

    study: Study
    settings: Settings  # how to run the study
    detail: tuple[str, ...] | None = None  # what to compute beyond the parts; None: not named
    report: Path | None = None  # where to write a report; None: not named
    targets: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # more targets by name


def _entry(value: Any) -> Any:
    """Return a table's entry in a study file as a mapping, and refuse unknown forms."""
    entry = {"path": value} if isinstance(value, str) else value
    names = set(entry) if isinstance(entry, dict) else set()
    of_file = "path" in names and names <= {"path", "where", "drop"}
    if not of_file and names != {"database", "query"}:
        raise TableError(
            "A table in a study file is a path, { path, where, drop } or { database, query }",
            got=repr(value),
        )
    return entry


_Table = Annotated[dict[str, Any], BeforeValidator(_entry)]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class _Keys:
    """The keys of a study file that are not arguments of `Study` as they stand."""

    source: _Table
    target: _Table
    targets: dict[str, _Table] = dataclasses.field(default_factory=dict)
    drop: list[str] = dataclasses.field(default_factory=list)
    model: str | None = None
    metric: str = "accuracy"
    detail: str | list[str] | None = None
    report: str | None = None
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)


_KEYS = TypeAdapter(_Keys)
_FILE_KEYS = tuple(field.name for field in dataclasses.fields(_Keys))
_ROLES = tuple(f.name for f in dataclasses.fields(Study) if f.name != "unsafe_pickle")
_NAMES = tuple(dict.fromkeys((*_ROLES, *_FILE_KEYS)))


def read_study_file(
    path: str | Path,
    *,
    unsafe_pickle: bool = False,
    target: Any = None,
    hidden: Sequence[str] = (),
) -> StudyFile:
    """Read everything a study file says; unknown keys are refused.

    Args:
        path: the file.
        unsafe_pickle: allow a model file that runs code when it is loaded.
        target: a table instead of the file's own target.
        hidden: columns that are left out of both tables.
    """
    file = Path(path)
    values = read_toml(file, "study")
    if target is not None:
        values["target"] = ""
    keys = _keys(values, file)
    folder = file.parent
    tables = {
        "source": _table(keys.source, "source", folder, keys.drop),
        "target": _table(keys.target, "target", folder, keys.drop) if target is None else target,
    }
    if isinstance(checkpoint := keys.settings.get("checkpoint"), str):
        keys.settings["checkpoint"] = str(folder / Path(checkpoint).expanduser())
    settings = Settings(**keys.settings)
    study = Study(
        **{label: hiding(table, label, hidden) for label, table in tables.items()},
        **{name: value for name, value in values.items() if name not in _FILE_KEYS},
        model=_model_of(keys.model, folder),
        metric=metric_in(keys.metric, folder),
        unsafe_pickle=unsafe_pickle,
    )
    return StudyFile(
        study=study,
        settings=settings,
        detail=None if keys.detail is None else details_named(keys.detail),
        report=None if keys.report is None else folder / keys.report,
        targets={
            name: _table(table, "target", folder, keys.drop) for name, table in keys.targets.items()
        },
    )


def read_toml(file: Path, noun: str) -> dict[str, Any]:
    """Return the values of a TOML file.

    Args:
        file: the path.
        noun: what messages call the file: "study" or "rule".
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as err:
        hint = did_you_mean_file(file)
        raise InputError(f"The {noun} file '{file}' does not exist", hint=hint) from err
    except tomllib.TOMLDecodeError as err:
        actual = str(err).rstrip(".")
        raise InputError(f"The {noun} file '{file}' is not valid TOML", got=actual) from err
    except (OSError, UnicodeDecodeError) as err:
        actual = type(err).__name__
        raise InputError(f"The {noun} file '{file}' cannot be read", got=actual) from err


def _keys(values: Mapping[str, Any], file: Path) -> _Keys:
    """Check the keys of a study file, and the values of keys that are not roles."""
    place = f" in the study file '{file.name}'"
    if "unsafe_pickle" in values:
        raise InputError(
            f"A study file ('{file.name}') cannot allow pickles",
            hint="Say it where you run it: --unsafe-pickle, or unsafe_pickle=True.",
        )
    for key in values:
        require_known(key, _NAMES, f"There is no key '{key}'{place}", "Keys")
    for key in ("source", "target", "outcome"):
        if key not in values:
            raise InputError(
                f"The study file '{file.name}' does not name the {key}",
                hint="A commented one is written by: whygap init.",
            )
    try:
        return _KEYS.validate_python({name: values[name] for name in _FILE_KEYS if name in values})
    except ValidationError as err:
        raise translated(err, "key", _NAMES, InputError, place) from None


def _table(entry: Mapping[str, Any], label: str, folder: Path, drop: Sequence[str]) -> Any:
    """Return the table that an entry of a study file describes."""
    path = entry.get("path", "")
    conditions = entry.get("where", {})
    files.refuse_remote(path, label)
    if "query" in entry:
        table = queries.run_query(str(entry["query"]), label, folder, str(entry["database"]))
    elif queries.is_query(path):
        table = queries.run_query(path, label, folder)
    else:
        table = folder / Path(path).expanduser()
    drop = (*drop, *entry.get("drop", ()))
    return TablePart(table, conditions, drop) if conditions or drop else table


def hiding(table: Any, label: str, names: Sequence[str]) -> Any:
    """Drop columns from a table, as far as the table has columns of that name.

    Args:
        table: anything that a Study takes as a table.
        label: "source" or "target", for errors.
        names: columns to leave out.
    """
    present = open_table(table, label).names if names else ()
    drop = tuple(name for name in names if name in present)
    return TablePart(table, {}, drop) if drop else table


def _model_of(value: str | None, folder: Path) -> Any:
    """Return a path relative to the folder, or what `module:name` imports from the folder."""
    if value is None:
        return None
    if model.is_reference(value) and not (folder / value).exists():
        return model.import_model(value, folder)
    return folder / Path(value).expanduser()


def metric_in(value: str, folder: Path) -> Any:
    """Return the name of a metric, or the callable(prediction, outcome) of `module:name`.

    Args:
        value: a metric's name, or `module:name`.
        folder: from which modules are imported.
    """
    if model.is_reference(value):
        return model.import_model(value, folder, noun="metric")
    return value
