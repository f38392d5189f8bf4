"""Coverage where truth is known and the rows are real: worlds made from three tables.

The pools (`worlds.semisynthetic`) of the insurance and readmission tables need `--data`;
the one of the shipped employment tables needs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.pools import is_current, load_pool, save_pool
from experiments.replicates import Config
from experiments.simulation import Lines, Order, Plan, Simulation, run_simulation
from experiments.summary import Row

if TYPE_CHECKING:
    from experiments.worlds.atoms import Atoms
    from whygap.study import Study

__all__ = ["POOLS", "Pool", "build_pools", "plan", "run", "section", "step", "white_or_other"]

POOLS = Path("evidence") / "artefacts" / "pools"
PARTS: tuple[str, ...] = ("covariate", "outcome")


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


def build_pools(folder: Path, pools: Iterable[Pool], world: Callable[[Pool], Atoms]) -> list[Path]:
    """Make the pools that are not there yet, or were made by other code."""
    missing = [(p, folder / p.file_name) for p in pools]
    return [
        save_pool(world(pool), path, pool.words)
        for pool, path in missing
        if not is_current(path, pool.words)
    ]


def _world(data: Path | None, pool: Pool) -> Atoms:
    from experiments.cases import Move, insurance_study, readmission_study
    from experiments.worlds.semisynthetic import from_design

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
        shipped, source=white_or_other(shipped.source), target=white_or_other(shipped.target)
    )
    return two_groups.study(
        metric=metric, baseline=["sex", "race"], covariates=["age", *shipped.covariates]
    )


def white_or_other(table: Any) -> Any:
    """The table with two groups of race."""
    import pyarrow
    from pyarrow import compute

    white = compute.equal(compute.cast(table["race"], pyarrow.string()), "White")
    groups = compute.if_else(white, "White", "other").combine_chunks().dictionary_encode()
    return table.set_column(table.column_names.index("race"), "race", groups)


def plan(*, quick: bool, folder: Path = POOLS) -> Plan:
    """Configurations and how many replicates each gets; none where the pool is not there."""
    if quick:
        return [step(KNOWN[0], folder, 6, (1500, 1500), learner="fast")]
    default = [step(pool, folder, 200, pool.rows) for pool in KNOWN]
    paper = next(pool for pool in KNOWN if pool.name == "insurance")
    kept = {"twins": False, "risk_uncertainty": False}  # of engine 9: shown, and not run again
    others = [step(paper, folder, 200, paper.rows, published="fast")]
    return [*default, *others, step(paper, folder, 0, paper.rows, **kept)]


def step(
    pool: Pool,
    folder: Path,
    count: int,
    rows: tuple[int, int],
    *,
    parts: tuple[str, ...] = PARTS,
    published: str = "",
    **settings: Any,
) -> tuple[Config, int]:
    """One configuration of a pool's world; no replicates where the pool is not there."""
    path = folder / pool.file_name
    there = is_current(path, pool.words)
    players = load_pool(path).players if there else ()
    config = Config(
        world="pool",
        rows=rows,
        metric=pool.metric,
        settings=settings,
        parts=parts,
        subsets=((), *((players.index(name),) for name in pool.singles if there)),
        options={"name": pool.name, "file": str(path)},
        published=published,
    )
    return config, count if there else 0


def run(order: Order) -> Path:
    """Build missing pools, run what is missing, write tables and the page."""
    pools = order.output / "artefacts" / "pools"
    wanted = KNOWN[:1] if order.quick or order.data is None else KNOWN
    for path in build_pools(pools, wanted, partial(_world, order.data)) if order.jobs else ():
        order.report(f"built {path}")
    steps = plan(quick=order.quick, folder=pools)
    return run_simulation(Simulation("semisynthetic", steps, partial(_view, order.quick)), order)


def _view(quick: bool, rows: list[Row], lines: Lines, folder: Path) -> dict[str, Any]:  # noqa: ARG001
    """Return what the page shows."""
    return {"worlds": [section(pool, rows) for pool in (KNOWN[:1] if quick else KNOWN)]}


def section(pool: Pool, rows: list[Row]) -> dict[str, Any]:
    """What the page says of one world."""
    here = [r for r in rows if r.config.startswith(f"pool_name-{pool.name}_")]
    counts = {r.config: max(x.replicates for x in here if x.config == r.config) for r in here}
    configs = dict.fromkeys((r.settings, r.config) for r in here)
    columns = [(f"{name} (R={counts[label]})", label) for name, label in configs]
    hidden = [{part: _hidden(here, label, part) for part in PARTS} for _, label in columns]
    return {
        "pool": pool,
        "rows": here,
        "quantities": [r.quantity for r in here],
        "columns": columns,
        "hidden": list(zip(columns, hidden, strict=True)),
    }


def _hidden(rows: list[Row], label: str, part: str) -> int:
    """In how many draws the values of a part were not shown."""
    values = [r for r in rows if r.config == label and r.quantity.startswith(f"{part} value")]
    return max((r.undefined for r in values), default=0)
