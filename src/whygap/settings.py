"""How an analysis is run: a frozen value, validated by pydantic."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from whygap.errors import SettingsError, did_you_mean, in_our_words, name_list

DetailName = Literal["points", "affected", "recoverable", "shares"]
DETAILS: tuple[DetailName, ...] = ("points", "affected", "recoverable", "shares")
"""What can be asked beyond the parts, in the order of computation: the useful first."""

LEARNERS = ("auto", "fast", "boosted")

_Folder = BeforeValidator(lambda value: os.fspath(value) if hasattr(value, "__fspath__") else value)


def _learner(value: Any) -> Any:
    estimators = isinstance(value, dict) and set(value) == {"classifier", "regressor"}
    if not estimators and value not in LEARNERS:
        raise SettingsError(
            f"The setting 'learner' must be one of {', '.join(map(repr, LEARNERS))}, or "
            "{'classifier': estimator, 'regressor': estimator}",
            got=repr(value) if isinstance(value, str) else type(value).__name__,
            hint=did_you_mean(str(value), LEARNERS),
        )
    return value


@in_our_words("setting", SettingsError)
@dataclass(
    frozen=True,
    kw_only=True,
    config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False),
)
class Settings:
    """Everything that decides the numbers, except the data.

    Attributes:
        learner: "auto", "fast" (ridge members only), "boosted", or a mapping
            {"classifier": estimator, "regressor": estimator} of scikit-learn estimators.
        folds: cross-fitting folds in each domain; at least 3, since quadratic terms take models of
            two disjoint halves of the other folds.
        repeats: independent cross-fittings, combined by the median rule.
        subsets: "auto", "all", or a number of subsets for Shapley values.
        sampling_error: subsets are drawn until sampling them adds an error of at most this many
            standard errors to every value. None is 0.2, which widens an interval by 2%.
        time_budget: seconds from the start after which no new batch of subsets starts.
        support: "common" compares the tables where both have rows; source-only and target-only
            rows are parts of their own. "all" compares the whole tables. "auto" is "all" unless
            many target rows have no counterpart.
        clip: None, or the largest density ratio allowed; clipped rows are counted.
        level: confidence level of every interval and of every statement.
        checkpoint: folder in which finished subsets are kept, or None.
        n_jobs: parallel workers.
        backend: "local", "ray" or "dask".
        address: of an existing Ray or Dask cluster; None starts a local cluster.
        seed: equal seeds give equal numbers.
        progress: None (show progress where somebody can watch), True or False.
    """

    learner: Annotated[Any, AfterValidator(_learner)] = "auto"
    folds: Annotated[int, Field(ge=3, le=50)] = 5
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    subsets: Annotated[int, Field(ge=2)] | Literal["auto", "all"] = "auto"
    sampling_error: Annotated[float | None, Field(gt=0, lt=10)] = None
    time_budget: Annotated[float | None, Field(gt=0)] = None
    support: Literal["auto", "all", "common"] = "auto"
    clip: Annotated[float | None, Field(gt=0)] = None
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    checkpoint: Annotated[str | None, _Folder] = None
    n_jobs: Annotated[int, Field(ge=1, le=4096)] = 1
    backend: Literal["local", "ray", "dask"] = "local"
    address: str | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    progress: bool | None = None

    @classmethod
    def resolve(cls, settings: Any) -> Settings:
        """Return the settings that a caller passed; None stands for the defaults.

        Args:
            settings: what the user passed.
        """
        if settings is None:
            return cls()
        if not isinstance(settings, cls):
            actual = f"an object of type {type(settings).__name__}"
            hint = "Write settings=wg.Settings(folds=5, seed=0)."
            raise SettingsError("The settings must be a Settings", got=actual, hint=hint)
        return settings

    def to_mapping(self) -> dict[str, Any]:
        """Return plain values for a result file; estimators become text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        if not isinstance(self.learner, str):
            plain["learner"] = str(self.learner)
        return plain


def details_named(detail: Any) -> tuple[DetailName, ...]:
    """Return the requested details, checked, in the order of computation.

    Args:
        detail: "all", a name, names, or None for none.
    """
    names_of_details = ", ".join(f"'{name}'" for name in DETAILS)
    if isinstance(detail, str) and detail == "all":
        return DETAILS
    if not (detail is None or isinstance(detail, str | Iterable)):
        hint = f"'all', (), or of {names_of_details}."
        raise SettingsError("detail= names what is asked for", got=repr(detail), hint=hint)
    names = name_list(() if detail is None else detail, "detail=", SettingsError)
    for name in names:
        if name not in DETAILS:
            hint = did_you_mean(name, DETAILS) or f"Details are {names_of_details}."
            raise SettingsError(f"There is no detail '{name}'", hint=hint)
    return tuple(name for name in DETAILS if name in names)
