"""Coverage, bias and width of 90% intervals in the paper's own world (Fig. 3 and its appendix)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.replicates import Config, Line

if TYPE_CHECKING:
    from experiments.summary import Row

__all__ = ["plan", "run"]

METRICS = ("accuracy", "brier")
SIZES = {500: 50, 1000: 50, 2000: 200, 4000: 50, 8000: 200, 16000: 100}
VARIANT_SIZE = 2000
LEARNERS = ("fast", "boosted")
VARIANTS: dict[str, dict[str, Any]] = {
    "no source-risk term": {"risk_uncertainty": False},
    "no twins": {"twins": False},
    "neither (as in the paper)": {"twins": False, "risk_uncertainty": False},
}
AGGREGATE = tuple(f"aggregate {name}" for name in ("gap", "baseline", "covariate", "outcome"))
SINGLES = ("{Z1}", "{Z2}", "{Z3}")
PANELS = {
    "Aggregate": AGGREGATE,
    "Covariate values": tuple(f"covariate value {s}" for s in SINGLES),
    "Outcome values": tuple(f"outcome value {s}" for s in SINGLES),
    "Outcome shares": tuple(f"outcome share Z{k}" for k in (1, 2, 3)),
}


def plan(*, quick: bool) -> list[tuple[Config, int]]:
    """Configurations and how many replicates each gets."""
    if quick:
        fast = {"learner": "fast"}
        return [(_config(rows, "accuracy", **fast), 12) for rows in (500, 2000)]
    default = [(_config(rows, metric), SIZES[rows]) for metric in METRICS for rows in SIZES]
    others = [*VARIANTS.values(), *({"learner": name} for name in LEARNERS)]
    return default + [(_config(VARIANT_SIZE, "accuracy", **settings), 50) for settings in others]


def _config(rows: int, metric: str, **settings: Any) -> Config:
    return Config(rows=(rows, rows), metric=metric, settings=settings)


def run(
    output: Path,
    data: Path | None = None,  # noqa: ARG001 - every study has the same signature
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Run what is missing, write tables, figures and the page; returns the page's path."""
    from experiments.simulation import Simulation, run_simulation, study_folder

    command = "whygap study coverage" + (" --quick" if quick else "")
    study = Simulation("coverage", plan(quick=quick), partial(_words, quick=quick), command)
    return run_simulation(study, study_folder(output, "coverage", quick), jobs, report)


def _words(rows: list[Row], lines: dict[str, list[Line]], folder: Path, quick: bool) -> str:  # noqa: ARG001
    planned = plan(quick=quick)
    main = {"learner": "fast"} if quick else {}
    parts = [_INTRODUCTION]
    for metric in METRICS:
        ours = [item for item in planned if item[0].metric == metric and item[0].settings == main]
        parts += [_metric_section(metric, ours, rows, folder)] if ours else []
    if not quick:
        parts.append(_variant_section(planned, rows))
    return "\n\n".join([*parts, _undefined_section(rows)])


def _metric_section(
    metric: str, planned: list[tuple[Config, int]], rows: list[Row], folder: Path
) -> str:
    from experiments.figures import coverage_figure
    from experiments.markdown import grid, planned_columns, plugin_cell, width_cell
    from whygap.render.plot import save_figure

    title = f"## {metric.capitalize()}"
    here = [r for r in rows if r.config in {config.label for config, _ in planned}]
    if not here:
        return f"{title}\n\nNot run."
    columns = planned_columns(planned, here, lambda config: f"n={config.rows[0]:,}")
    save_figure(coverage_figure(here, PANELS), folder / f"coverage_{metric}.svg")
    kinds = ("denominator", "numerator {Z", "value {Z", "share")
    chosen = [
        r.quantity
        for r in here
        if r.quantity in AGGREGATE
        or (any(f" {kind}" in r.quantity for kind in kinds) and "," not in r.quantity)
    ]
    names = list(dict.fromkeys(chosen))
    picture = f"![Coverage against sample size, {metric}](coverage_{metric}.svg)"
    parts = [title, picture, _LEGEND, "### Debiased", grid(here, names, columns)]
    parts += ["### Plug-in", _PLUGIN_TEXT, grid(here, names, columns, plugin_cell)]
    return "\n\n".join([*parts, "### Width", _WIDTH, grid(here, names, columns, width_cell)])


def _variant_section(planned: list[tuple[Config, int]], rows: list[Row]) -> str:
    """With and without what we add to the paper, and other learners."""
    from experiments.markdown import grid, planned_columns

    wanted = [
        f"{part} {kind} {s}"
        for part in ("covariate", "outcome")
        for kind in ("numerator", "value")
        for s in SINGLES
    ]
    wanted += [f"{part} share Z{k}" for part in ("covariate", "outcome") for k in (1, 2, 3)]
    same = [i for i in planned if i[0].metric == "accuracy" and i[0].rows[0] == VARIANT_SIZE]
    here = [r for r in rows if r.config in {config.label for config, _ in same}]
    columns = planned_columns(same, here, _variant_name)
    body = grid(here, wanted, columns) if here else "Not run."
    title = f"## Other settings and learners: accuracy, n = {VARIANT_SIZE:,}"
    return "\n\n".join([title, _VARIANTS_TEXT, body])


def _variant_name(config: Config) -> str:
    known = {str(settings): name for name, settings in VARIANTS.items()}
    if not config.settings:
        return "as above"
    return known.get(str(dict(config.settings)), f"learner {config.settings.get('learner')}")


def _undefined_section(rows: list[Row]) -> str:
    from experiments.markdown import table

    found = dict.fromkeys(
        (r.metric, r.rows_source, r.settings, r.quantity.split()[0], r.undefined, r.replicates)
        for r in rows
        if " value {Z1}" in r.quantity
    )
    lines = [
        [f"{metric}, n = {n:,}, {settings}", part, str(undefined), str(count)]
        for metric, n, settings, part, undefined, count in found
    ]
    return "\n\n".join(
        [
            "## How often shares were not shown",
            _UNDEFINED_TEXT,
            table(["setting", "part", "undefined", "replicates"], lines),
        ]
    )


_INTRODUCTION = """# Coverage in the paper's world

How often does a 90% interval contain the truth? The world is the paper's (section 5.1): W, Z1,
Z2, Z3 independent normals with standard deviation 2, a logistic outcome whose coefficients
differ between the domains, and a model that has the source's. It is hard on purpose: the
density ratio of (W, Z) has variance 28, so that n source rows count as n/29. Truths are
integrals, computed without sampling."""

_VARIANTS_TEXT = """`risk_uncertainty=False` leaves out the error of the estimated source risk,
`twins=False` fits every model once instead of on disjoint halves; without both, intervals are
built as in the paper (with cross-fitting and variances centred within each domain). The `paper`
learner is too slow for this."""

_LEGEND = """Solid: debiased, with our intervals. Dotted: the plug-in value with the same
standard error. Grey: where 99 of 100 right 90% intervals fall with so many replicates. Cells:
coverage of the 90% interval (bias in standard deviations). Bold: below the 99% band. R: number
of replicates that are kept; *not run*: none yet."""

_PLUGIN_TEXT = """The value without debiasing, with the debiased standard error around it (it has
none of its own)."""

_WIDTH = """Median width of the 90% intervals."""

_UNDEFINED_TEXT = """Where the denominator's 95% interval reaches 0 no values and no shares are
shown; coverage of values and shares above is over the replicates in which they were
(`coverage_all` in `summary.csv` counts every replicate)."""
