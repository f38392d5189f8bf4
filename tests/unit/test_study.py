"""The study: what it checks when it is made, what it hands on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whygap._metrics import METRICS
from whygap.errors import ColumnError, TableError
from whygap.study import Study
from whygap.tables import check_sizes


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(50, 10, rows),
            "sex": rng.choice(["f", "m"], rows),
            "hb": rng.normal(13, 2, rows),
            "na": rng.normal(140, 4, rows),
            "risk": rng.random(rows),
            "y": rng.integers(0, 2, rows),
            "site": rng.integers(0, 8, rows),
        }
    )


def study_of(**changes: Any) -> Study:
    given: dict[str, Any] = {
        "source": table(120, 1),
        "target": table(80, 2),
        "outcome": "y",
        "baseline": ["age", "sex"],
        "prediction": "risk",
        "clusters": "site",
    }
    return Study(**{**given, **changes})


def test_roles_and_defaults() -> None:
    roles = study_of().roles
    assert roles.outcome == "y"
    assert roles.baseline == ("age", "sex")
    assert roles.covariates == ("hb", "na")
    assert (roles.prediction, roles.clusters, roles.weights) == ("risk", "site", None)
    assert roles.features == ("age", "sex", "hb", "na")


def test_one_name_is_a_list_of_one() -> None:
    assert study_of(baseline="age").roles.baseline == ("age",)


def test_baseline_may_be_empty() -> None:
    design = study_of(baseline=[]).design
    assert design.baseline == ()
    assert [p.name for p in design.players] == ["age", "sex", "hb", "na"]


def test_groups_act_as_one_player() -> None:
    design = study_of(groups={"labs": ["hb", "na"]}).design
    assert [(p.name, p.columns) for p in design.players] == [("labs", (2, 3))]
    assert design.subset_columns((0,)) == (0, 1, 2, 3)


def test_the_design_is_made_once() -> None:
    study = study_of()
    assert study.design is study.design


def test_a_study_is_frozen() -> None:
    study = study_of()
    with pytest.raises(dataclasses.FrozenInstanceError):
        study.outcome = "z"  # type: ignore[misc]


def test_metric_and_loss() -> None:
    study = study_of(metric="brier")
    assert study.metric_ is METRICS["brier"]
    source = table(120, 1)
    np.testing.assert_allclose(study.design.loss.source, (source["risk"] - source["y"]) ** 2)


def test_a_callable_metric() -> None:
    study = study_of(metric=lambda prediction, outcome: np.abs(prediction - outcome))
    target = table(80, 2)
    np.testing.assert_allclose(study.design.loss.target, np.abs(target["risk"] - target["y"]))


def test_threshold_decides_labels() -> None:
    source = table(120, 1)
    right = (source["risk"] >= 0.9) == (source["y"] == 1)
    np.testing.assert_array_equal(study_of(threshold=0.9).design.loss.source, right)


def test_another_target_under_its_name() -> None:
    other = study_of().with_target(table(90, 3), "site B")
    assert other.target_name == "site B"
    assert other.design.rows.target == 90
    assert other.design.rows.source == 120


def test_names_are_checked_when_the_study_is_made() -> None:
    with pytest.raises(ColumnError) as caught:
        study_of(baseline=["age", "sexx"])
    assert str(caught.value) == "Column 'sexx' (baseline) is not in source. Did you mean 'sex'?"


def test_sizes_are_checked_against_the_folds() -> None:
    design = study_of().design
    check_sizes(design, 4)
    with pytest.raises(TableError) as caught:
        check_sizes(design, 10)
    assert str(caught.value) == (
        "The target table has too few rows for 10 folds. Got 80. "
        "At least 100 are needed; use fewer folds."
    )
    with pytest.raises(TableError) as caught:
        check_sizes(design, 5)
    assert str(caught.value) == (
        "The source table has too few clusters for 5 folds. Got 8. "
        "At least 10 are needed; use fewer folds."
    )


def test_each_fold_needs_both_outcomes() -> None:
    source = table(120, 1).assign(y=[1] * 6 + [0] * 114)
    with pytest.raises(TableError) as caught:
        check_sizes(study_of(source=source, clusters=None).design, 8)
    assert str(caught.value) == (
        "The outcome equals 1 in too few source rows. Got 6. "
        "At least 8 rows of each outcome value are needed in each domain."
    )
