"""How an analysis is run: one frozen, validated value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from whygap.errors import SettingsError, did_you_mean, name_list, refusing_unknown

DetailName = Literal["points", "affected", "recoverable", "shares"]
DETAILS: tuple[DetailName, ...] = ("points", "affected", "recoverable", "shares")
"""What can be asked beyond the parts, in the order it is answered: the useful first."""

LEARNERS = ("auto", "fast", "boosted", "paper")
OUTCOME_FORMS = ("binned", "smooth")
SUPPORTS = ("auto", "all", "common")
BACKENDS = ("local", "ray", "dask")


@refusing_unknown("setting", "Settings", SettingsError)
@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides the numbers, except the data.

    Attributes:
        folds: cross-fitting folds in each domain.
        split: None, or the fraction held out by the paper's single split.
        repeats: independent cross-fittings, combined by the median rule.
        learner: "auto", "fast", "boosted", "paper", or a mapping {"classifier": estimator,
            "regressor": estimator} of your own scikit-learn estimators.
        outcome_form: "binned" (the paper's estimand) or "smooth".
        bins: B, the number of bins of the source risk.
        risk_uncertainty: count the error of the estimated source risk in the intervals.
        twins: fit nuisances of quadratic terms on disjoint halves (removes second-order bias).
        halvings: how many ways of halving are averaged; with five folds, three cost no more fits
            than one.
        subsets: "auto", "all", or a number of subsets for the Shapley shares.
        precision: "auto" stops when sampling widens no interval by more than a sampling error of
            this fraction of its standard error would (0.2: 2%), or by more than the same part of
            the largest share's interval; of a share that rows alone do not tell from 0, the error
            may be this fraction of the largest share's standard error. Errors below
            `precision_floor` are small enough.
        precision_floor: see `precision`.
        training_rows: models are trained on at most this many rows per domain, drawn at random;
            "auto" is 60,000, None is all. Averages use all rows, whatever is said here.
        influence_groups: beyond this many rows (or clusters) per domain, influence values are kept
            as sums over so many random groups; this bounds the memory, variances stay unbiased.
        time_budget: seconds from the start after which no new batch of subsets starts.
        clip: None, or the largest density ratio allowed; clipped rows are counted.
        support: "common" compares the tables where both have rows, with what is left behind and
            what is new ground as parts of their own; "all" compares the whole tables, whatever
            the overlap; "auto" is "all" unless many target rows have no counterpart.
        checkpoint: folder in which finished subsets are kept, or None.
        n_jobs: parallel workers.
        backend: "local", "ray" or "dask".
        address: of an existing Ray or Dask cluster; None starts a local one.
        level: confidence level used in words and for the "is there a shift at all" test.
        seed: one seed in, the same numbers out.
        progress: None (show when the terminal allows), True or False.
    """

    folds: int = 5
    split: float | None = None
    repeats: int = 1
    learner: Any = "auto"
    outcome_form: str = "binned"
    bins: int = 20
    risk_uncertainty: bool = True
    twins: bool = True
    halvings: int = 3
    subsets: int | str = "auto"
    precision: float = 0.2
    precision_floor: float = 0.005
    training_rows: int | str | None = "auto"
    influence_groups: int = 20_000
    time_budget: float | None = None
    clip: float | None = None
    support: str = "auto"
    checkpoint: str | None = None
    n_jobs: int = 1
    backend: str = "local"
    address: str | None = None
    level: float = 0.95
    seed: int = 0
    progress: bool | None = None

    def __post_init__(self) -> None:
        for name, rule in _RULES.items():
            rule(name, getattr(self, name))
        if self.twins and self.split is None and self.folds < 3:
            raise SettingsError(
                "The 'folds' setting must be at least 3 when twins=True",
                got=self.folds,
                hint="Use folds=5, or twins=False.",
            )
        if self.split is not None and self.support == "common":
            raise SettingsError(
                "The region of shared support needs cross-fitting: a single split has no rows to "
                "spare",
                got=f"support='common' with split={self.split:g}",
                hint="Use split=None.",
            )
        if self.split is not None and self.repeats > 1:
            raise SettingsError(
                "The 'repeats' setting needs cross-fitting: a single split measures other rows "
                "each time",
                got=f"repeats={self.repeats} with split={self.split:g}",
                hint="Use split=None.",
            )

    @property
    def most_training_rows(self) -> int | None:
        """Rows per domain that models may be trained on; None is all."""
        if isinstance(self.training_rows, str):
            return 60_000  # models hardly gain from more
        return self.training_rows

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Settings:
        """From a study file's [settings] table; unknown names are refused."""
        return cls(**values)

    @classmethod
    def given(cls, settings: Any) -> Settings:
        """The settings a caller gave; None stands for the usual ones."""
        if settings is None:
            return cls()
        if not isinstance(settings, cls):
            hint = "Write settings=wg.Settings(folds=5, seed=0)."
            got = f"an object of type {type(settings).__name__}"
            raise SettingsError("The settings must be a Settings", got=got, hint=hint)
        return settings

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for a result file; your own estimators become their text form."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        if not isinstance(self.learner, str):
            plain["learner"] = str(self.learner)
        return plain


def details_named(detail: Any) -> tuple[DetailName, ...]:
    """The details asked for, checked, in the order they are computed."""
    known = ", ".join(f"'{one}'" for one in DETAILS)
    if isinstance(detail, str) and detail == "all":
        return DETAILS
    if not (detail is None or isinstance(detail, str | Iterable)):
        raise SettingsError(
            "detail= names what is asked for", got=repr(detail), hint=f"'all', (), or of {known}."
        )
    names = name_list(() if detail is None else detail, "detail=", SettingsError)
    for name in names:
        if name not in DETAILS:
            raise SettingsError(
                f"There is no detail '{name}'",
                hint=did_you_mean(name, DETAILS) or f"Details are {known}.",
            )
    return tuple(one for one in DETAILS if one in names)


Rule = Callable[[str, Any], None]


def _integer(low: int, high: int | None = None) -> Rule:
    def check(name: str, value: Any) -> None:
        fits = isinstance(value, int) and not isinstance(value, bool)
        if not fits or value < low or (high is not None and value > high):
            bound = f"at least {low}" if high is None else f"from {low} to {high}"
            what = f"The '{name}' setting must be a whole number {bound}"
            raise SettingsError(what, got=repr(value))

    return check


def _number(low: float, high: float, *, optional: bool = False) -> Rule:
    def check(name: str, value: Any) -> None:
        if value is None and optional:
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            extra = " or None" if optional else ""
            bound = f"above {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
            what = f"The '{name}' setting must be a number {bound}{extra}"
            raise SettingsError(what, got=repr(value))

    return check


def _choice(options: tuple[str, ...]) -> Rule:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or value not in options:
            raise SettingsError(
                f"The '{name}' setting must be one of {', '.join(map(repr, options))}",
                got=repr(value),
                hint=did_you_mean(str(value), options),
            )

    return check


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise SettingsError(f"The '{name}' setting must be True or False", got=repr(value))


def _subsets(name: str, value: Any) -> None:
    rule = _choice(("auto", "all")) if isinstance(value, str) else _integer(2)
    rule(name, value)


def _training_rows(name: str, value: Any) -> None:
    if isinstance(value, str):
        _choice(("auto",))(name, value)
    elif value is not None:
        _integer(100)(name, value)


def _learner(name: str, value: Any) -> None:
    if isinstance(value, str):
        _choice(LEARNERS)(name, value)
    elif not isinstance(value, dict) or set(value) != {"classifier", "regressor"}:
        raise SettingsError(
            "Your own learner must be {'classifier': estimator, 'regressor': estimator}",
            got=type(value).__name__,
        )


_RULES: dict[str, Rule] = {
    "folds": _integer(2, 50),
    "split": _number(0, 1, optional=True),
    "repeats": _integer(1, 100),
    "learner": _learner,
    "outcome_form": _choice(OUTCOME_FORMS),
    "bins": _integer(2, 1000),
    "risk_uncertainty": _flag,
    "twins": _flag,
    "halvings": _integer(1, 3),
    "subsets": _subsets,
    "precision": _number(0, 10),
    "precision_floor": _number(0, 1),
    "training_rows": _training_rows,
    "influence_groups": _integer(100),
    "time_budget": _number(0, float("inf"), optional=True),
    "clip": _number(0, float("inf"), optional=True),
    "support": _choice(SUPPORTS),
    "n_jobs": _integer(1, 4096),
    "backend": _choice(BACKENDS),
    "level": _number(0, 1),
    "seed": _integer(0),
}
