"""Rules of alarm, from TOML; and how the chance of a false one is spent over all looks.

level = 0.95                 # of all rules together, over all looks there will ever be
looks = 52                   # how many you expect before it matters less
acknowledged = ["2026-05"]   # targets whose alarms, or silence, you know about

[[rule]]
name = "the outcome slipped"
part = "outcome"
below = "-2 points"
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whygap.errors import InputError, did_you_mean_file, require_known, require_level

__all__ = ["AlertRule", "Alerts", "allowance", "read_alerts"]

PARTS = ("gap", "baseline", "covariate", "outcome", "source_only", "target_only")
KEYS = ("name", "part", "variable", "below", "above", "level")
FILE_KEYS = ("level", "looks", "acknowledged", "rule")
LEVEL = 0.95  # as everywhere
LOOKS = 52  # a year of weeks
POINTS = re.compile(r"\s*([+-]?\d*\.?\d+)\s*points?\s*")


@dataclass(frozen=True, slots=True)
class AlertRule:
    """One thing that must not happen unnoticed.

    Attributes:
        name: what the alarm calls it.
        part: of the gap, or "gap".
        below: alarm when the part is surely below; in the metric's units.
        above: alarm when it is surely above.
        error: chance of a false alarm by this rule, ever.
        variable: its points in a part, instead of the whole part.
        in_points: whether the limit was said in points, which only shares have.
    """

    name: str
    part: str
    below: float | None
    above: float | None
    error: float
    variable: str = ""
    in_points: bool = False


@dataclass(frozen=True, slots=True)
class Alerts:
    """All rules, and over how many looks their errors are spread."""

    rules: tuple[AlertRule, ...] = ()
    looks: int = LOOKS
    acknowledged: tuple[str, ...] = field(default=())


def allowance(look: int, error: float, looks: int) -> float:
    """The chance of a false alarm that one look may take: the same for each of the first `looks`.

    The first so many looks share 6/pi^2 of it, the next so many a quarter of that, then a ninth:
    over all looks, however many there will be, it adds up to `error`. Looks share the source, so
    they are not independent; a sum of chances does not ask for that.
    """
    period = 1 + (look - 1) // looks
    return error * 6.0 / (math.pi * period) ** 2 / looks


def read_alerts(given: Any) -> Alerts:
    """Rules from a file, from a mapping of the same form, or none."""
    if given is None:
        return Alerts()
    if isinstance(given, Alerts):
        return given
    where = "The rules"
    if isinstance(given, str | Path):
        where, given = f"The rule file '{Path(given).name}'", _parsed(Path(given))
    if not isinstance(given, Mapping):
        got = f"an object of type {type(given).__name__}"
        raise InputError("rules= must be a file or a mapping", got=got)
    for key in given:
        require_known(key, FILE_KEYS, f"{where}: there is no key '{key}'", "Keys")
    level, looks = given.get("level", LEVEL), given.get("looks", LOOKS)
    require_level(level, f"{where}: level")
    if isinstance(looks, bool) or not isinstance(looks, int) or looks < 1:
        raise InputError(f"{where}: looks must be a whole number from 1", got=repr(looks))
    listed = given.get("rule", [])
    if not isinstance(listed, list | tuple) or not listed:
        raise InputError(f"{where}: there is no rule", hint="Begin one with [[rule]].")
    rules = tuple(_rule(one, level, len(listed), where) for one in listed)
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two rules have one name", got=", ".join(names))
    return Alerts(rules, looks, _names(given.get("acknowledged", []), where))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as err:
        hint = did_you_mean_file(path)
        raise InputError(f"The rule file '{path}' does not exist", hint=hint) from err
    except (OSError, ValueError) as err:
        got = str(err).rstrip(".")
        raise InputError(f"The rule file '{path}' is not valid TOML", got=got) from err


def _rule(values: Any, level: float, count: int, where: str) -> AlertRule:
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: a rule must be a table", got=repr(values))
    for key in values:
        require_known(key, KEYS, f"{where}: a rule has no key '{key}'", "Keys")
    part = values.get("part", "gap")
    require_known(part, PARTS, f"{where}: there is no part '{part}'", "Parts")
    sides = [side for side in ("below", "above") if side in values]
    if len(sides) != 1:
        raise InputError(
            f"{where}: a rule says either below or above",
            got=" and ".join(sides) or "neither",
            hint='For example below = "-2 points".',
        )
    variable = values.get("variable", "")
    if variable and part not in ("baseline", "covariate"):
        raise InputError(
            f"{where}: only the baseline and the covariate part have points of variables",
            got=f"'{variable}' of the part '{part}'",
        )
    own = values.get("level")
    if own is not None:
        require_level(own, f"{where}: level")
    side = sides[0]
    limit, in_points = _limit(values[side], side, where)
    name = values.get("name") or f"{variable or part} {side} {values[side]}"
    error = (1 - level) / count if own is None else 1 - own
    ends = {"below": None, "above": None} | {side: limit}
    return AlertRule(str(name), part, **ends, error=error, variable=variable, in_points=in_points)


def _limit(value: Any, side: str, where: str) -> tuple[float, bool]:
    said = POINTS.fullmatch(value) if isinstance(value, str) else None
    limit = float(said[1]) / 100 if said else value
    if isinstance(limit, bool | str) or not _is_finite(limit):
        raise InputError(
            f"{where}: {side} must be a number in the metric's units, or points",
            got=repr(value),
            hint='For example -0.02, or "-2 points".',
        )
    return float(limit), said is not None


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{where}: acknowledged must be a list of targets", got=repr(value))
    return tuple(value)
