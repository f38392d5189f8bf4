"""A plan for labels: how many more target rows would make an interval this narrow?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.errors import ResultError, SettingsError
from whygap.estimate import Estimate
from whygap.estimate.student import as_student, normal_quantile
from whygap.render.units import level_name


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What it takes to reach a width."""

    level: float  # of the interval
    width: float  # the wanted width
    width_now: float  # the width at the present rows (of Student's interval)
    target_units: int  # present target units: rows, or clusters of rows
    # Further target units needed; 0 when the width is reached already, None when no number of
    # target units alone can do it
    more_target: int | None
    floor: float  # the width that remains with target units without end
    more_each: ByDomain[int]  # further units needed when both domains grow in proportion, by domain

    def __str__(self) -> str:
        now = f"The {level_name(self.level)} interval is {self.width_now:.3g} wide"
        if self.more_target == 0:
            return f"{now}, which is no more than {self.width:.3g}: no more rows are needed."
        if self.more_target is not None:
            return (
                f"{now} with {self.target_units} target rows; {self.more_target} more would make "
                f"it {self.width:.3g}."
            )
        return (
            f"{now}; target rows alone cannot make it {self.width:.3g} (the source keeps it above "
            f"{self.floor:.3g}). {self.more_each.source} more source rows and "
            f"{self.more_each.target} more target rows would."
        )


def plan_labels(estimate: Estimate, width: float, level: float = 0.95) -> LabelPlan:
    """Rows needed for an interval of the wanted width, from the influence values.

    The variance is `source / n_0 + target / n_1` plus what sampled subsets add; new rows are taken
    to be like the present ones, and degrees of freedom to stay. Sampling error of subsets is
    counted as it is: more subsets, not more rows, would shrink it.

    Raises:
        ResultError: the estimate was saved without influence values, or clusters have rows in both
            tables.
        SettingsError: the width is not positive.
    """
    if estimate.influence is None:
        raise ResultError(
            "A plan for labels needs the estimate's influence values",
            hint="Save the result with gap.save(path, influence=True), or plan before saving.",
        )
    if not len(estimate.influence.target):
        raise ResultError(
            "A plan for labels needs tables that share no clusters",
            hint="Here new target rows may come from people who are in the source as well.",
        )
    if not width > 0:
        raise SettingsError("The wanted width must be above 0", got=width)
    influence = estimate.influence
    t = as_student(normal_quantile(level), estimate.degrees_of_freedom)
    wanted = (width / (2 * t)) ** 2
    fixed = influence.sampling_variance()
    source, target = _spread(influence.source), _spread(influence.target)
    n_source, n_target = len(influence.source), len(influence.target)
    now = source / n_source + target / n_target + fixed
    floor = source / n_source + fixed
    more = math.ceil(target / (wanted - floor) - n_target) if wanted > floor else None
    return LabelPlan(
        level=level,
        width=width,
        width_now=2 * t * math.sqrt(now),
        target_units=n_target,
        more_target=0 if now <= wanted else more,
        floor=2 * t * math.sqrt(floor),
        more_each=_more_each(now - fixed, wanted - fixed, ByDomain(n_source, n_target)),
    )


def _spread(influence: Array) -> float:
    return float(np.var(influence, ddof=1)) if len(influence) > 1 else 0.0


def _more_each(now: float, wanted: float, present: ByDomain[int]) -> ByDomain[int]:
    """Both domains times the same factor; 0 when nothing (or nothing possible) is needed."""
    factor = max(now / wanted, 1.0) if wanted > 0 else 1.0
    return present.map(lambda units: math.ceil(units * (factor - 1)))
