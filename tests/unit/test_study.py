"""The study: what it checks when it is made, what it hands on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from whygap._metrics import metric_named
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import ColumnError
from whygap.study import Study
from whygap.tables import native_table


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
    assert study.design.metric is metric_named("brier")
    source = table(120, 1)
    np.testing.assert_allclose(study.design.loss.source, (source["risk"] - source["y"]) ** 2)


def test_a_callable_metric() -> None:
    study = study_of(metric=lambda prediction, outcome: np.abs(prediction - outcome))
    target = table(80, 2)
    np.testing.assert_allclose(study.design.loss.target, np.abs(target["risk"] - target["y"]))


def test_threshold_decides_labels() -> None:
    source = table(120, 1)
    right = (source["risk"] >= 0.9) == (source["y"] == 1)
    design = study_of(threshold=0.9).design
    np.testing.assert_array_equal(design.loss.source, right)
    assert design.threshold == 0.9


def test_another_target_under_its_name() -> None:
    other = study_of().with_target(table(90, 3), "site B")
    assert other.target_name == "site B"
    assert other.design.rows.target == 90
    assert other.design.rows.source == 120


def test_names_are_checked_when_the_study_is_made() -> None:
    with pytest.raises(ColumnError) as caught:
        study_of(baseline=["age", "sexx"])
    assert str(caught.value) == "Column 'sexx' (baseline) is not in source. Did you mean 'sex'?"


def test_some_rows_of_a_design() -> None:
    source = table(120, 1).assign(weight=np.arange(1.0, 121))
    target = table(80, 2).assign(weight=np.arange(1.0, 81), known=0.5)
    given = {"source": source.assign(known=0.25), "target": target}
    design = study_of(**given, weights="weight", source_risk="known").design
    rows = ByDomain(np.array([3, 3, 0]), np.arange(80) % 2 == 1)
    taken = design.take(rows)
    assert taken.rows == ByDomain(3, 40)
    assert (taken.columns, taken.players, taken.notes) == (
        design.columns,
        design.players,
        design.notes,
    )
    for name in (
        "features",
        "outcome",
        "prediction",
        "intercept",
        "slope",
        "loss",
        "weights",
        "clusters",
        "source_risk",
    ):
        for domain in DOMAINS:
            whole, part = getattr(design, name)[domain], getattr(taken, name)[domain]
            np.testing.assert_array_equal(part, whole[rows[domain]], err_msg=name)


def test_rows_of_a_design_without_weights_or_clusters() -> None:
    taken = study_of(clusters=None).design.take(ByDomain(np.arange(5), np.arange(7)))
    assert (taken.weights, taken.clusters, taken.source_risk) == (None, None, None)
    assert taken.rows == ByDomain(5, 7)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_of_the_callers_kind(kind: str) -> None:
    made = native_table({"term": ["gap"], "estimate": [0.5]}, kind)
    assert type(made).__module__.split(".")[0] == kind
    assert list(made["term"]) in (["gap"], [pa.scalar("gap")])


def test_a_kind_that_is_not_installed_here_becomes_pyarrow() -> None:
    assert isinstance(native_table({"term": ["gap"]}, "no_such_library"), pa.Table)
