"""Coverage where truth is known and the rows are real: worlds made from three tables.

The pools (`whygap.simulate.semisynthetic`) of the insurance and readmission tables need `--data`;
the one of the shipped employment tables needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.pools import is_current, load_pool, save_pool
from experiments.replicates import Config, Line

if TYPE_CHECKING:
    from experiments.summary import Row
    from whygap.simulate.atoms import Atoms
    from whygap.study import Study

__all__ = ["build_pools", "current_pools", "plan", "run"]

POOLS = Path("studies") / "artefacts" / "pools"


@dataclass(frozen=True, slots=True)
class Pool:
    """A world's sizes and the single variables whose values are followed.

    W and the variables followed have few levels: given a column with many, most rows of a pool are
    the only one of their kind, and its truth is that of these very rows.
    """

    name: str
    metric: str
    rows: tuple[int, int]
    singles: tuple[str, ...]
    words: str

    @property
    def file_name(self) -> str:
        """In the folder of pools."""
        return f"{self.name}_{self.metric}.npz"


INSURANCE = ("DIS", "ESP", "DREM", "divorced", "ESR_employed")
KNOWN = (
    Pool(
        "employment",
        "accuracy",
        (4000, 3600),
        ("marital_status", "disability", "mobility", "military", "ancestry"),
        "the shipped employment tables, W = sex and race (White or other)",
    ),
    Pool(
        "insurance",
        "accuracy",
        (3000, 6000),
        INSURANCE,
        "NE and WV rows of the 2018 public-coverage table, W = sex and race_white",
    ),
    Pool(
        "readmission",
        "accuracy",
        (3750, 3750),
        ("number_inpatient", "number_emergency", "dx_ckd", "dx_cad", "dx_htn"),
        "encounters without and with heart failure, W = demographics",
    ),
)


def build_pools(data: Path | None, folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Make the pools that are not there yet, or were made by other code."""
    found = []
    for pool in KNOWN:
        path = folder / pool.file_name
        if pool.name in names and not is_current(path, pool.words):
            found.append(save_pool(_world(pool, data), path, pool.words))
    return found


def current_pools(folder: Path = POOLS) -> list[Pool]:
    """Those whose files are there and up to date."""
    return [pool for pool in KNOWN if is_current(folder / pool.file_name, pool.words)]


def _world(pool: Pool, data: Path | None) -> Atoms:
    from experiments.cases import Move, insurance_study, readmission_study
    from whygap.simulate.semisynthetic import from_design

    if pool.name == "employment":
        return from_design(_employment_study(pool.metric).design)
    if pool.name == "insurance":
        study = insurance_study(
            data,
            Move("NE", "WV"),
            metric=pool.metric,
            baseline=("SEX", "race_white"),
            rows=(None, None),
        )
        return from_design(study.design)
    return from_design(readmission_study(data, metric=pool.metric, rows=16000).design)


def _employment_study(metric: str) -> Study:
    """The shipped tables with a W of four cells; age is one of the covariates."""
    from whygap.datasets import load_employment

    shipped = load_employment()
    two_groups = replace(
        shipped, source=_white_or_other(shipped.source), target=_white_or_other(shipped.target)
    )
    return two_groups.study(
        metric=metric, baseline=["sex", "race"], covariates=["age", *shipped.covariates]
    )


def _white_or_other(table: Any) -> Any:
    import pyarrow
    from pyarrow import compute

    white = compute.equal(compute.cast(table["race"], pyarrow.string()), "White")
    groups = compute.if_else(white, "White", "other").combine_chunks().dictionary_encode()
    return table.set_column(table.column_names.index("race"), "race", groups)


def plan(*, quick: bool, folder: Path = POOLS) -> list[tuple[Config, int]]:
    """Configurations for the pools that are there, and how many replicates each gets."""
    there = current_pools(folder)
    if quick:
        small = [pool for pool in there if pool.name == "employment"]
        return [(_config(p, folder, (1500, 1500), learner="fast"), 6) for p in small]
    default = [(_config(pool, folder, pool.rows), 200) for pool in there]
    plain = [
        (_config(pool, folder, pool.rows, twins=False, risk_uncertainty=False), 100)
        for pool in there
    ]
    return default + plain


def _config(pool: Pool, folder: Path, rows: tuple[int, int], **settings: Any) -> Config:
    path = folder / pool.file_name
    players = load_pool(path).players
    return Config(
        world="pool",
        rows=rows,
        metric=pool.metric,
        settings=settings,
        subsets=((), *((players.index(name),) for name in pool.singles)),
        options={"name": pool.name, "file": str(path)},
    )


def run(
    output: Path,
    data: Path | None = None,
    quick: bool = False,
    jobs: int = 1,
    report: Callable[[str], None] = lambda _: None,
) -> Path:
    """Build missing pools, run what is missing, write tables and the page."""
    from experiments.simulation import Simulation, run_simulation, study_folder

    pools = output / "artefacts" / "pools"
    wanted = ("employment",) if quick or data is None else tuple(pool.name for pool in KNOWN)
    for path in build_pools(data, pools, wanted) if jobs else ():
        report(f"built {path}")
    command = "whygap study semisynthetic" + (" --quick" if quick else " --data DIR")
    steps = plan(quick=quick, folder=pools)
    study = Simulation("semisynthetic", steps, partial(_words, quick=quick), command)
    return run_simulation(study, study_folder(output, "semisynthetic", quick), jobs, report)


def _words(rows: list[Row], lines: dict[str, list[Line]], folder: Path, quick: bool) -> str:  # noqa: ARG001
    parts = [_INTRODUCTION]
    for pool in KNOWN[: 1 if quick else None]:
        here = [r for r in rows if r.config.startswith(f"pool_name-{pool.name}_")]
        parts += [f"## {pool.name.capitalize()}", f"Made from {pool.words}."]
        parts += _pool_section(pool, here) if here else ["Not run."]
    if not quick:
        parts += _beside(folder)
    return "\n\n".join(parts)


def _pool_section(pool: Pool, rows: list[Row]) -> list[str]:
    from experiments.markdown import grid, plugin_cell

    counts = {r.config: max(x.replicates for x in rows if x.config == r.config) for r in rows}
    configs = dict.fromkeys((r.settings, r.config) for r in rows)
    columns = [(f"{name} (R={counts[label]})", label) for name, label in configs]
    names = list(dict.fromkeys(r.quantity for r in rows))
    first = rows[0]
    return [
        (
            f"{first.rows_source:,} source and {first.rows_target:,} target rows per replicate, "
            f"metric {pool.metric}. Cells: coverage of the 90% interval (bias in standard "
            "deviations); bold below the 99% band."
        ),
        _undefined(rows, columns),
        grid(rows, names, columns),
        "The plug-in beside it (with the debiased standard error around it):",
        grid(rows, names, columns, plugin_cell),
    ]


def _undefined(rows: list[Row], columns: list[tuple[str, str]]) -> str:
    """In how many draws the values of each part were not shown."""

    def hidden(label: str, part: str) -> int:
        values = [r for r in rows if r.config == label and r.quantity.startswith(f"{part} value")]
        return max((r.undefined for r in values), default=0)

    counts = "; ".join(
        f"{column}: covariate part in {hidden(label, 'covariate')}, outcome part in "
        f"{hidden(label, 'outcome')}"
        for column, label in columns
    )
    return (
        "Values are not shown in draws whose denominator cannot be told from 0, and their coverage "
        f"and bias are over the other draws. Not shown, {counts}."
    )


def _beside(folder: Path) -> list[str]:
    """The other worlds' coverage, and the null worlds' rates, from what is kept of them."""
    from experiments.beside_worlds import worlds_table
    from experiments.simulation import kept_lines
    from experiments.untuned import null_table

    studies = ("coverage", "semisynthetic", "untuned", "shares")
    found = worlds_table([folder.parent / name / "summary.csv" for name in studies])
    nulls = null_table(kept_lines(folder.parent / "untuned"))
    return [_BESIDE, found, "Worlds with nothing to find ([more](untuned.md)):", nulls]


_INTRODUCTION = """# Coverage on real rows with known truth

The Gaussian world is smooth and small. Here the rows of two real tables are pooled; a domain
probability and both risks are fitted once (LightGBM) and from then on *are* the truth. Rows are
drawn from the pool with these weights, outcomes from these risks, and every true value is an
exact weighted sum. W has few cells in each world: given a column with many values, most rows of a
pool are the only one of their kind, and the truth would be about these rows, not about what rows
like them have in common ([why](../intervals.md#a-truth-that-rows-can-show)).
`twins=False, risk_uncertainty=False` is the paper's way (with cross-fitting)."""

_BESIDE = """## Beside the other worlds

Mean coverage of the 90% intervals (defaults; single variables), and how many quantities fell short
of the 99% band: the paper's Gaussian world ([coverage](coverage.md)), a world nobody tuned to
([untuned](untuned.md)), the comparison worlds ([shares](shares.md)), and the real rows above."""
