"""A world nobody tuned to, and three worlds with nothing to find."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.replicates import Config, Line

if TYPE_CHECKING:
    from experiments.summary import Row

__all__ = ["null_table", "plan", "run"]

NULLS = ("identical", "baseline_only", "recalibrated")
NEAR = 0.1


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """Configurations and how many replicates each gets."""
    if quick:
        nulls = [(_null(kind, 800, learner="fast"), 6) for kind in NULLS]
        return [(_untuned(1000, "accuracy", learner="fast"), 6), *nulls]
    return [(_untuned(2000, "accuracy"), 60), *((_null(kind, 2000), 200) for kind in NULLS)]


def _untuned(rows: int, metric: str, **settings: Any) -> Config:
    sizes = (rows, rows * 3 // 5)
    return Config(world="untuned", rows=sizes, metric=metric, settings=settings)


def _null(kind: str, rows: int, **settings: Any) -> Config:
    return Config(
        world="null",
        rows=(rows, rows * 3 // 5),
        settings=settings,
        subsets=((),),
        options={"kind": kind},
    )


def run(
    output: Path,
    data: Path | None = None,  # noqa: ARG001 - every study has the same signature
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Run what is missing, write tables and the page; returns the page's path."""
    from experiments.simulation import Simulation, run_simulation, study_folder

    command = "whygap study untuned" + (" --quick" if quick else "")
    study = Simulation("untuned", plan(quick=quick), partial(_words, quick=quick), command)
    return run_simulation(study, study_folder(output, "untuned", quick), jobs, report)


def _words(rows: list[Row], lines: dict[str, list[Line]], folder: Path, quick: bool) -> str:  # noqa: ARG001
    from experiments.markdown import grid, planned_columns

    parts = [_INTRODUCTION]
    planned = [item for item in plan(quick=quick) if item[0].world == "untuned"]
    for metric in dict.fromkeys(config.metric for config, _ in planned):
        ours = [item for item in planned if item[0].metric == metric]
        here = [r for r in rows if r.world == "untuned" and r.metric == metric]
        columns = planned_columns(ours, here, lambda c: f"n={c.rows[0]:,}+{c.rows[1]:,}")
        names = list(dict.fromkeys(r.quantity for r in here if "," not in r.quantity))
        parts += [f"## {metric.capitalize()}", grid(here, names, columns) if here else "Not run."]
    return "\n\n".join([*parts, _NULL_TEXT, null_table(lines, quick=quick)])


def null_table(lines: Mapping[str, list[Line]], *, quick: bool = False) -> str:
    """How often the null worlds were seen to be null."""
    from experiments.markdown import table

    body = []
    for config, _ in plan(quick=quick):
        if config.world != "null":
            continue
        kind, found = config.options["kind"], lines.get(config.label, [])
        sizes = f"{config.rows[0]:,}+{config.rows[1]:,}"
        cells = [_share(_undefined(found, part)) for part in ("covariate", "outcome")]
        near = _share(_recalibration(found)) if kind == "recalibrated" else "–"
        body.append([kind.replace("_", " "), sizes, *cells, near, str(len(found))])
    head = ["world", "rows", "covariate undefined", "outcome undefined", "v_Y(empty) near 1", "R"]
    return table(head, body)


def _undefined(lines: Sequence[Line], part: str) -> list[bool]:
    return [not line["defined"][part] for line in lines]


def _recalibration(lines: Sequence[Line]) -> list[bool]:
    """Shown, and within 0.1 of 1 or with 1 inside the interval."""
    found = []
    for line in lines:
        value, _, low, high, _ = line["estimates"].get("outcome value {}", [0, 0, 0, 0, 0])
        shown = line["defined"]["outcome"]
        found.append(shown and (abs(value - 1) < NEAR or low <= 1 <= high))
    return found


def _share(flags: list[bool]) -> str:
    if not flags:
        return "not run"
    return f"{sum(flags)} of {len(flags)} ({sum(flags) / len(flags):.0%})"


_INTRODUCTION = """# A world nobody tuned to, and worlds with nothing to find

The learners and defaults were chosen while looking at other worlds. This one has a binary W, a
category of four levels, two correlated covariates, a product in the risk, a slope that differs
by level, and fewer target than source rows. Cells: coverage of the 90% interval (bias in
standard deviations); bold below the 99% band."""

_NULL_TEXT = """## Worlds with nothing to find

`identical`: the domains are the same. `baseline only`: only W shifts. In both, there is no
covariate and no outcome shift to explain, and shares should be reported as undefined.
`recalibrated`: the target risk is a function of the source risk, so that v_Y(empty) is 1 up to
the width of a bin; counted are runs that show it within 0.1 of 1, or with 1 inside its 90%
interval."""
