"""Rules of alarm, from TOML or a mapping; and how the chance of a false alarm is spent.

level = 0.95                 # of all rules together, over all looks there will ever be
looks = 52                   # how many looks are expected before each matters less
acknowledged = ["2026-05"]   # targets whose alarms, or silence, are known about

[[rule]]
name = "the outcome slipped"
part = "outcome"
below = -0.02
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError, model_validator

from whygap.errors import InputError, listed, translated
from whygap.study_file import read_toml

__all__ = ["Rule", "Rules", "allowance", "read_rules"]

M = TypeVar("M", bound=BaseModel)
Level = Annotated[float, Field(gt=0, lt=1)]
Part = Literal["total", "source_only", "baseline", "covariate", "outcome", "target_only"]


class Rule(BaseModel, extra="forbid", frozen=True):
    """A limit on a part of the gap, or on a variable's points in a part.

    Attributes:
        name: what an alarm calls the rule.
        part: a part of the gap, or "total".
        variable: limit this variable's points instead of the part.
        below: alarm when the estimate is surely below; in the metric's units.
        above: alarm when the estimate is surely above.
        level: one less the chance of a false alarm by this rule, ever; None shares the common one.
    """

    name: str = ""
    part: Part = "total"
    variable: str = ""
    below: Annotated[FiniteFloat, Field(strict=True)] | None = None
    above: Annotated[FiniteFloat, Field(strict=True)] | None = None
    level: Level | None = None

    @model_validator(mode="after")
    def _complete(self) -> Rule:
        if (self.below is None) == (self.above is None):
            hint = "For example below = -0.02."
            raise InputError(f"{self} needs either below or above", hint=hint)
        if self.variable and self.part not in ("baseline", "covariate"):
            raise InputError(f"{self} needs part = 'baseline' or 'covariate'")
        return self

    def __str__(self) -> str:
        return f"The rule on the {self.part}{f' of {self.variable}' if self.variable else ''}"

    @property
    def title(self) -> str:
        """The name, or the limit in words."""
        limit = f"below {self.below:g}" if self.above is None else f"above {self.above:g}"
        return self.name or f"{self.variable or self.part} {limit}"


class Rules(BaseModel, extra="forbid", frozen=True):
    """All rules, and the number of looks that share most of the chance of a false alarm."""

    level: Level = 0.95
    looks: int = Field(default=52, ge=1, strict=True)  # a year of weeks
    acknowledged: tuple[str, ...] = ()
    rule: tuple[Rule, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Rules:
        titles = [rule.title for rule in self.rule]
        if len(set(titles)) < len(titles):
            raise InputError("Rules must have different names", got=listed(titles))
        return self

    def error(self, rule: Rule, look: int) -> float:
        """Return the chance of a false alarm that a rule may take at a look."""
        common = (1 - self.level) / len(self.rule)
        return allowance(look, common if rule.level is None else 1 - rule.level, self.looks)


def allowance(look: int, error: float, looks: int) -> float:
    """Return the chance of a false alarm that a look may take: equal for the first `looks` looks.

    The first so many looks share 6/pi^2 of the error, the next so many a quarter of that, then a
    ninth: over all looks, however many there will be, the sum is `error`. Looks share the source,
    so they are not independent; a sum of chances does not ask for that.
    """
    period = 1 + (look - 1) // looks
    return error * 6.0 / (math.pi * period) ** 2 / looks


def read_rules(rules: Any, details: Sequence[str] = ("points",)) -> Rules:
    """Return the rules of a TOML file or of a mapping of that form; None has no rule.

    Args:
        rules: a path, a mapping, or None.
        details: of the results; a rule on a variable is judged by points, which must be there.
    """
    if rules is None:
        return Rules.model_construct(rule=())
    place = "the rules"
    if isinstance(rules, str | Path):
        place = f"'{Path(rules).name}'"
        rules = read_toml(Path(rules), "rule")
    if isinstance(rules, Mapping) and isinstance(rules.get("rule"), list | tuple):
        numbered = enumerate(rules["rule"], start=1)
        checked = tuple(_validated(Rule, rule, f"rule {k} of {place}") for k, rule in numbered)
        rules = {**rules, "rule": checked}
    valid = _validated(Rules, rules, place)
    for rule in valid.rule:
        if rule.variable and "points" not in details:
            message = f"The rule '{rule.title}' is about points, which are not asked for"
            hint = "Add 'points' to the details."
            raise InputError(message, got=listed(details) or None, hint=hint)
    return valid


def _validated(model: type[M], values: Any, place: str) -> M:
    if not isinstance(values, Mapping):
        kind = type(values).__name__
        raise InputError(
            f"{place[0].upper()}{place[1:]} must map keys to values",
            got=f"an object of type {kind}",
        )
    try:
        return model.model_validate(values)
    except ValidationError as err:
        names = tuple(model.model_fields)
        raise translated(err, "key", names, InputError, f" in {place}") from None
