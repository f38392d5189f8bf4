"""The options that commands share, each written once, and what they read.

A command takes options one by one, or a whole group of them as one parameter whose type is a
dataclass of options; `expanded` turns such a command into one that typer understands.
"""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from typer import Argument, Option

from whygap.errors import InputError, SettingsError, require_level

if TYPE_CHECKING:
    from whygap.results import Gap
    from whygap.settings import Settings
    from whygap.study_file import StudyFile

__all__ = [
    "ResultOptions",
    "RoleOptions",
    "StudyOptions",
    "expanded",
    "names_in",
    "settings_with",
    "targets_of",
]

Text = str | None


def option(flags: str, metavar: str | None, words: str) -> Any:
    """An option by its names, such as `--output -o` (else the parameter's), and its help."""
    return Option(*flags.split(), metavar=metavar, help=words)


OutputFile = Annotated[Path | None, option("--output -o", "FILE", "Write the result here.")]
GivenResult = Annotated[
    Path | None, option("--gap", "GAP.json", "A result of explain; else it is computed.")
]
Level = Annotated[float | None, option("--level", "LEVEL", "Confidence level, such as 0.9.")]
Seed = Annotated[int | None, option("--seed", "N", "Seed of all random numbers.")]
Learner = Annotated[str | None, option("--learner", "NAME", "auto, fast or boosted.")]
Jobs = Annotated[int | None, option("--jobs -j", "N", "Parallel workers.")]
Set = Annotated[
    list[str] | None, option("--set", "NAME=VALUE", "Any other setting; may be repeated.")
]
UnsafePickle = Annotated[
    bool, option("--unsafe-pickle", None, "Allow a pickled model, which can run any code.")
]
Redact = Annotated[
    int | None, option("--redact", "ROWS", "Name no level of fewer rows; round counts.")
]
StudyPath = Annotated[Path, Argument(metavar="STUDY.toml", help="A study file.")]
ResultPath = Annotated[Path, Argument(metavar="GAP.json", help="A result of explain.")]


@dataclasses.dataclass(frozen=True)
class StudyOptions:
    """A study file, and what is said about it on the command line."""

    study_file: StudyPath
    settings: Set = None
    unsafe_pickle: UnsafePickle = False
    learner: Learner = None

    def read(self, quiet: bool, **chosen: Any) -> StudyFile:
        """The study file, its settings overridden by the options that were given."""
        from whygap.study_file import read_study_file

        found = read_study_file(self.study_file, unsafe_pickle=self.unsafe_pickle)
        chosen |= {"learner": self.learner}
        settings = settings_with(found.settings, self.settings, quiet, **chosen)
        return dataclasses.replace(found, settings=settings)


@dataclasses.dataclass(frozen=True)
class ResultOptions:
    """A result file, the confidence level to show it at, and what not to show of it."""

    result: ResultPath
    level: Level = None
    redact: Redact = None

    def read(self) -> Gap:
        """The result, redacted where asked; a level that is none is refused first."""
        from whygap.results import files

        if self.level is not None:
            require_level(self.level, "The level")
        gap: Gap = files.load(self.result)
        return gap if self.redact is None else gap.redacted(self.redact)

    def level_of(self, gap: Gap) -> float:
        """The level asked for, or the one the result was made at."""
        return gap.level(self.level)


@dataclasses.dataclass(frozen=True)
class RoleOptions:
    """The roles of a study, for work without a study file."""

    source: Annotated[Text, option("", "FILE", "Source table.")] = None
    target: Annotated[Text, option("", "FILE", "Target table.")] = None
    outcome: Annotated[Text, option("", "COLUMN", "Outcome (Y).")] = None
    baseline: Annotated[Text, option("", "A,B", "Baseline variables (W).")] = None
    covariates: Annotated[Text, option("", "A,B", "Covariates (Z); default: all others.")] = None
    prediction: Annotated[
        Text, option("", "COLUMN", "Column of predictions; of classes: A=COLUMN,B=COLUMN.")
    ] = None
    model: Annotated[Text, option("", "MODEL", "A .skops or .onnx file, or module:name.")] = None
    metric: Annotated[Text, option("", "NAME", "accuracy, auc, brier, f1, mse, ...")] = None
    order: Annotated[Text, option("", "ORDER", "'outcome first' for label shift.")] = None
    task: Annotated[Text, option("", "TASK", "binary, multiclass or regression.")] = None
    threshold: Annotated[float | None, option("", "P", "Labels are 1 from here on.")] = None
    quantile: Annotated[float | None, option("", "Q", "Of the pinball loss.")] = None
    positive: Annotated[Text, option("", "VALUE", "Outcome that counts as 1.")] = None
    weights: Annotated[Text, option("", "COLUMN", "Row weights.")] = None
    clusters: Annotated[Text, option("", "COLUMN", "Rows that belong together.")] = None
    drop: Annotated[Text, option("", "A,B", "Columns to leave out.")] = None
    source_name: Annotated[Text, option("", "NAME", "What the source is called.")] = None
    target_name: Annotated[Text, option("", "NAME", "What the target is called.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The roles that were named."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def refuse_beside_a_file(self) -> None:
        """A study file names the roles itself."""
        if self.given:
            raise InputError(
                "Roles are named in the study file or as options, not in both",
                got=", ".join(f"--{name.replace('_', '-')}" for name in self.given),
                hint="Leave these options out, or leave the study file out.",
            )

    def read(self, settings: Settings, unsafe_pickle: bool) -> StudyFile:
        """A study from the options of the command line."""
        from whygap.study import Study
        from whygap.study_file import StudyFile, metric_in, model_of
        from whygap.tables import TablePart

        values: dict[str, Any] = self.given
        drop = names_in(values.pop("drop", None)) or ()
        for name in ("source", "target", "outcome"):
            if name not in values:
                raise InputError(
                    f"The {name} is not named",
                    hint=f"Give a study file, or --{name}; see 'whygap explain --help'.",
                )
        for name in ("source", "target"):
            values[name] = TablePart(values[name], drop=drop) if drop else values[name]
        for name in values.keys() & {"baseline", "covariates"}:
            values[name] = names_in(values[name])
        if self.prediction is not None and "=" in self.prediction:
            pairs = [part.partition("=") for part in names_in(self.prediction) or ()]
            values["prediction"] = {label.strip(): name.strip() for label, _, name in pairs}
        if self.positive is not None:
            values["positive"] = value_of(self.positive)
        values["model"] = model_of(self.model, Path.cwd())
        values["metric"] = metric_in(self.metric or "accuracy", Path.cwd())
        return StudyFile(Study(**values, unsafe_pickle=unsafe_pickle), settings)


def targets_of(asked: StudyFile) -> dict[str, Any]:
    """Every target by its name: the study's own first, then those of [targets]."""
    own = asked.study.target_name
    if own in asked.targets:
        raise InputError(
            "Two targets have the same name",
            got=f"'{own}' as the study's own target and in [targets]",
            hint="Give one of them another name: target_name is the one of the study's own.",
        )
    return {own: asked.study.target, **asked.targets}


def settings_with(
    settings: Settings, given: Iterable[str] | None, quiet: bool, **chosen: Any
) -> Settings:
    """Settings with those options that were given (not None) and `--set NAME=VALUE` put in."""
    chosen["progress"] = False if quiet else None
    changes = {name: value for name, value in chosen.items() if value is not None}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise SettingsError(
                "A setting is given as NAME=VALUE",
                got=repr(text),
                hint="For example --set folds=3.",
            )
        changes[name.strip()] = value_of(value.strip())
    fields = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return type(settings)(**fields | changes)


def names_in(text: str | None) -> list[str] | None:
    """`age,sex` becomes the two names; None stays None."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def value_of(text: str) -> Any:
    """A number, true or false as TOML reads them; anything else is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every group of options replaced by the options in it."""
    types = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        n: kind for n, kind in types.items() if dataclasses.is_dataclass(kind)
    }

    def run(**given: Any) -> None:
        for name, group in groups.items():
            fields = [field.name for field in dataclasses.fields(group)]
            given[name] = group(**{field: given.pop(field) for field in fields})
        command(**given)

    run.__signature__ = inspect.Signature(list(_parameters(command, types, groups)))  # type: ignore[attr-defined]
    return run


def _parameters(
    command: Callable[..., None], types: dict[str, Any], groups: dict[str, Any]
) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        inner = inspect.signature(groups[name]).parameters if name in groups else {name: parameter}
        hints = get_type_hints(groups[name], include_extras=True) if name in groups else types
        for option in inner.values():
            yield option.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[option.name])
