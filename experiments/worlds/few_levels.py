"""Real rows with few levels: the shipped employment tables, coarse enough that rows tell truths.

A pool's truths are those of its very rows. Given ages in years, schooling and relationship nearly
every row is the only one of its kind, and what a column adds to the others is then a fact of these
rows that no draw of them can show. With age in four bands, three columns of few levels beside it
and a score in tenths, rows come in about a thousand kinds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from experiments.worlds.atoms import Atoms
from experiments.worlds.rounded import with_rounded_scores

__all__ = ["AGE_BANDS", "employment_of_few_levels"]

AGE_BANDS = (30, 40, 50)  # first years of the upper bands; the tables have people of 18 to 64
# Risks of main effects and interactions of two or three columns, that some thousand rows can show;
# the tables hardly overlap, and with domain probabilities of .1 to .9 a tenth of the rows counts.
SMOOTH: dict[str, Any] = {"leaves": 4, "risk_rounds": 60, "least_rows": 200, "clip": 0.1}
COVARIATES = ["age", "marital_status", "any_difficulty", "mobility"]


def employment_of_few_levels(metric: str = "accuracy") -> Atoms:
    """The world, one atom per kind of row."""
    from experiments.semisynthetic import white_or_other
    from experiments.worlds.semisynthetic import Fit, from_design
    from whygap.datasets import load_employment

    shipped = load_employment()
    coarse = replace(
        shipped,
        source=_in_bands(white_or_other(shipped.source)),
        target=_in_bands(white_or_other(shipped.target)),
    )
    study = coarse.study(metric=metric, baseline=["sex", "race"], covariates=COVARIATES, groups={})
    return _kinds(with_rounded_scores(from_design(study.design, fit=Fit(**SMOOTH)), metric))


def _in_bands(table: Any) -> Any:
    import pyarrow

    band = np.digitize(table["age"].to_numpy(), AGE_BANDS).astype(float)
    return table.set_column(table.column_names.index("age"), "age", pyarrow.array(band))


def _kinds(pool: Atoms) -> Atoms:
    """Rows that agree on every column and the score are one atom: their masses add up.

    The risks are functions of the columns, so they agree, too.
    """
    keys = np.column_stack([pool.features, pool.prediction])
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return replace(
        pool,
        features=pool.features[first],
        mass=pool.mass.map(lambda mass: np.bincount(kind.ravel(), weights=mass)),
        risk=pool.risk.map(lambda risk: risk[first]),
        prediction=pool.prediction[first],
        intercept=pool.intercept[first],
        slope=pool.slope[first],
    )
