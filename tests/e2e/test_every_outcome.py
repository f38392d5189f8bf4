"""Every kind of outcome through the main paths: library, files, words, figures, command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import metrics as sk
from task_tables import BINARY, CLASSES, COLUMNS, LABELS, VALUES, tables

import whygap as wg

QUICK = wg.Settings(learner="fast", folds=3, progress=False)


def difference(score, outcome, prediction, **more):
    """Target minus source, as scikit-learn has it."""
    values = [
        score(t[outcome], t[prediction], sample_weight=t["weight"], **more)
        for t in tables().values()
    ]
    return values[1] - values[0]


STUDIES = {
    "auc": (BINARY, lambda: difference(sk.roc_auc_score, "high", "risk")),
    "macro_f1": (LABELS, lambda: difference(sk.f1_score, "way", "said", average="macro")),
    "log_loss": (
        CLASSES,
        lambda: difference(sk.log_loss, "way", list(COLUMNS.values()), labels=list(COLUMNS)),
    ),
    "r2": (VALUES, lambda: difference(sk.r2_score, "wage", "guess")),
    "rmse": (VALUES, lambda: difference(sk.root_mean_squared_error, "wage", "guess")),
}


@pytest.fixture(scope="module", params=STUDIES)
def explained(request):
    roles, expected = STUDIES[request.param]
    study = wg.Study(**tables(), **{**roles, "metric": request.param}, weights="weight")
    return wg.explain(study, settings=QUICK), expected()


def test_the_gap_is_scikit_learns_difference_and_the_parts_add_up_to_it(explained):
    gap, expected = explained
    assert gap.total.value == pytest.approx(expected, abs=1e-12)
    parts = gap.parts.values()
    assert sum(part.value for part in parts) == pytest.approx(expected, abs=1e-12)


def test_points_add_up_to_the_parts_and_groups_to_the_outcome_part(explained):
    gap, _ = explained
    for part, points in gap.points.items():
        total = sum(points[name].value for name in points)
        assert total == pytest.approx(gap.parts[part].value, abs=1e-10)
    by_variable: dict[str, float] = {}
    for group in gap.affected["outcome"].groups:
        by_variable[group.variable] = by_variable.get(group.variable, 0.0) + group.points.value
    for total in by_variable.values():
        assert total == pytest.approx(gap.parts["outcome"].value, abs=1e-10)


def test_a_result_is_saved_shown_and_reported(explained, tmp_path):
    gap, _ = explained
    gap.save(tmp_path / "gap.json")
    again = wg.load(tmp_path / "gap.json")
    assert again.summary() == gap.summary()
    assert np.isfinite(again.to_frame()["estimate"].to_numpy()).any()
    page = again.report(tmp_path / "gap.html").read_text(encoding="utf-8")
    assert "</html>" in page
    gap.plot()
    gap.plot(what="points")


NAMES = {
    "auc": "AUC",
    "macro_f1": "macro F1",
    "log_loss": "log loss",
    "r2": "R2",
    "rmse": "root mean squared error",
}


def test_words_call_the_metric_what_people_call_it(explained):
    gap, _ = explained
    name, summary = NAMES[gap.about.metric], " ".join(gap.summary().split())
    assert f"These data cannot tell whether {name} " in summary
    assert "points of" not in summary


def test_shares_that_do_not_exist_are_told_in_one_sentence():
    study = wg.Study(**tables(), **VALUES)
    gap = wg.explain(study, detail="shares", settings=QUICK)
    assert not gap.shares["outcome"].defined
    summary = " ".join(gap.summary().split())
    assert "Shares are defined for an outcome of two values" in summary
    assert "no number of rows can be named" not in summary


@pytest.mark.parametrize("roles", [{**BINARY, "metric": "f1"}, LABELS, VALUES])
def test_a_check_finds_nothing_in_the_way(roles):
    report = wg.check(wg.Study(**tables(), **roles), QUICK)
    assert report.problems() == ()
    assert report.cost is not None


def test_several_targets_of_a_regression():
    target = tables()["target"]
    study = wg.Study(**tables(), **VALUES)
    many = wg.explain_many(
        study, {"all": target, "few": target[:200]}, detail="points", settings=QUICK
    )
    assert list(many) == ["all", "few"]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    for name, table in tables().items():
        table.to_parquet(tmp_path / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FILES = ["--source", "source.parquet", "--target", "target.parquet"]
FAST = ["--set", "learner=fast", "--set", "folds=3", "-o", "gap.json"]


ROLES = {
    "threshold": 'outcome = "high"\nprediction = "risk"\nmetric = "net_benefit"\nthreshold = 0.4',
    "quantile": 'outcome = "wage"\nprediction = "guess"\nmetric = "pinball"\nquantile = 0.9',
    "task": 'outcome = "grade"\nprediction = "grade_said"\ntask = "multiclass"',
}


@pytest.mark.parametrize("roles", ROLES.values(), ids=ROLES)
def test_a_study_file_takes_any_outcome(call, desk, roles):
    (desk / "study.toml").write_text(
        'source = "source.parquet"\ntarget = "target.parquet"\nbaseline = ["age"]\n'
        f'covariates = ["distance"]\n{roles}\n'
    )
    done = call("--quiet", "explain", "study.toml", "--detail", "none", *FAST)
    assert (done.code, done.err) == (0, "")
    assert f'outcome = "{json.loads((desk / "gap.json").read_text())["about"]["outcome"]}"' in roles


def test_classes_on_the_command_line(call, desk):
    options = [
        "--outcome",
        "way",
        "--prediction",
        "bus=p_bus,car=p_car,foot=p_foot",
        "--metric",
        "brier",
    ]
    roles = ["--baseline", "age", "--covariates", "distance", "--detail", "none"]
    done = call("--quiet", "explain", *FILES, *options, *roles, *FAST)
    assert (done.code, done.err) == (0, "")
    assert json.loads((desk / "gap.json").read_text())["about"]["outcome"] == "way"


def test_a_study_file_maps_classes_to_columns(call, desk):
    (desk / "study.toml").write_text(
        'source = "source.parquet"\ntarget = "target.parquet"\noutcome = "way"\n'
        'prediction = { bus = "p_bus", car = "p_car", foot = "p_foot" }\n'
        'metric = "log_loss"\ntask = "multiclass"\nbaseline = ["age"]\ncovariates = ["distance"]\n'
    )
    done = call("--quiet", "explain", "study.toml", "--detail", "none", *FAST)
    assert (done.code, done.err) == (0, "")
    assert "og loss" in done.out
