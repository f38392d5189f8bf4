"""MLflow itself, with a tracking store in SQLite: evaluator, log, gate."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from small_study import FAST, make_study, make_table, tables

import whygap as wg
from whygap.results import files

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of MLflow and what it imports, about each other
    import mlflow
    from mlflow.models import MetricThreshold
    from mlflow.models.evaluation.validation import ModelValidationFailedException

    from whygap.mlflow import GapEvaluator, log_gap, metrics_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:_ImportHookChainedLoader:ImportWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of sqlalchemy and alembic
    pytest.mark.filterwarnings("ignore::UserWarning:mlflow"),  # on type hints and whole numbers
]

FEATURES = ["w", "a", "b"]
QUICK = {"learner": "fast", "folds": 3, "progress": False}


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    """A tracking store in a database and a folder."""
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    experiment = mlflow.create_experiment("gaps", artifact_location=(folder / "files").as_uri())
    mlflow.set_experiment(experiment_id=experiment)
    yield mlflow.MlflowClient()
    mlflow.set_tracking_uri(None)


@pytest.fixture(autouse=True)
def no_run_is_left_open():
    yield
    while mlflow.active_run():
        mlflow.end_run()


@pytest.fixture(scope="module")
def gap():
    return wg.explain(make_study(), detail=("points", "affected"), settings=FAST)


@pytest.fixture(scope="module")
def both():
    source, target = tables(600, 500)
    columns = [*FEATURES, "y"]
    return source[columns], target[columns]


@pytest.fixture(scope="module")
def classifier(both):
    return LogisticRegression().fit(both[0][FEATURES], both[0]["y"])


@pytest.fixture(scope="module")
def uri(classifier, both, store):
    signature = mlflow.models.infer_signature(both[0][FEATURES], both[0]["y"])
    said = {"signature": signature, "pip_requirements": []}  # looking them up takes a minute
    return mlflow.sklearn.log_model(classifier, name="model", **said).model_uri


def evaluate(model, target, evaluators=None, config=None, **more):
    known = {"targets": "y", "model_type": "classifier"}
    return mlflow.models.evaluate(
        model, target, evaluators=evaluators, evaluator_config=config, **(known | more)
    )


def configured(source, **more):
    return {"whygap": {"source": source, "detail": "points", "settings": QUICK, **more}}


def test_mlflow_finds_the_evaluator_by_its_entry_point():
    assert "whygap" in mlflow.models.list_evaluators()


@pytest.mark.parametrize(
    ("model_type", "config", "can"),
    [
        ("classifier", {"source": "a.csv"}, True),
        ("regressor", {"source": "a.csv"}, True),
        ("text", {"source": "a.csv"}, False),
        ("classifier", {}, False),
        ("classifier", None, False),
    ],
)
def test_it_stays_out_of_the_way_unless_a_source_is_configured(model_type, config, can):
    assert GapEvaluator.can_evaluate(model_type=model_type, evaluator_config=config) is can


def test_a_plain_evaluation_is_as_if_whygap_were_not_there(uri, both, store):
    result = evaluate(uri, both[1])
    assert "accuracy_score" in result.metrics
    assert not [key for key in result.metrics if key.startswith("whygap")]
    assert "whygap" not in {one.path for one in store.list_artifacts(result.run_id)}


def test_the_evaluator_explains_the_models_own_probabilities(uri, classifier, both, store):
    config = configured(both[0], baseline=["w"], metric="brier")
    result = evaluate(uri, both[1], ["default", "whygap"], config)
    study = wg.Study(*both, outcome="y", baseline=["w"], model=classifier, metric="brier")
    direct = wg.explain(study, detail="points", settings=FAST)
    assert result.metrics["whygap/total"] == pytest.approx(direct.total.value, abs=1e-12)
    assert result.metrics["whygap/outcome"] == pytest.approx(direct.parts["outcome"].value)
    assert result.metrics["accuracy_score"] == pytest.approx(
        classifier.score(both[1][FEATURES], both[1]["y"])
    )
    logged = store.get_run(result.run_id).data.metrics
    assert logged["whygap/points/covariate/a"] == result.metrics["whygap/points/covariate/a"]
    assert result.artifacts["whygap_report"].content.startswith("<!doctype html>")


def test_what_is_logged_can_be_loaded_again(gap, store, tmp_path):
    with mlflow.start_run() as run:
        log_gap(gap)
    names = sorted(one.path for one in store.list_artifacts(run.info.run_id, "whygap"))
    assert names == ["whygap/estimates.json", "whygap/gap.json", "whygap/report.html"]
    fetched = store.download_artifacts(run.info.run_id, "whygap/gap.json", str(tmp_path))
    assert wg.load(fetched) == gap.redacted()
    table = mlflow.load_table("whygap/estimates.json", run_ids=[run.info.run_id])
    assert {"change", "part", "points", "group"} <= set(table["kind"])


def test_nothing_that_is_logged_names_a_level_of_few_rows(store, tmp_path):
    source, target = (
        table.assign(town=np.where(np.arange(len(table)) < 4, "Tiny", "Big")) for table in tables()
    )
    gap = wg.explain(make_study(source, target), detail=("points", "affected"), settings=FAST)
    assert "Tiny" in files.to_text(gap)
    with mlflow.start_run() as run:
        log_gap(gap)
    folder = store.download_artifacts(run.info.run_id, "whygap", str(tmp_path))
    texts = [file.read_text(encoding="utf-8") for file in Path(folder).iterdir()]
    assert len(texts) == 3
    assert not [text for text in texts if "Tiny" in text]
    with mlflow.start_run() as run:
        log_gap(gap, redact=1)
    fetched = store.download_artifacts(run.info.run_id, "whygap/gap.json", str(tmp_path))
    assert "Tiny" in Path(fetched).read_text(encoding="utf-8")


def test_metrics_over_time_have_steps_and_files_of_their_own(gap, store):
    with mlflow.start_run() as run:
        for month in (1, 2):
            log_gap(gap, step=month)
    series = store.get_metric_history(run.info.run_id, "whygap/total")
    assert [(one.step, one.value) for one in series] == [
        (1, gap.total.value),
        (2, gap.total.value),
    ]
    assert [one.path for one in store.list_artifacts(run.info.run_id, "whygap")] == [
        "whygap/1",
        "whygap/2",
    ]


def test_a_gate_refuses_a_model_that_lost_too_much(uri, both):
    result = evaluate(uri, both[1], ["whygap"], configured(both[0], baseline=["w"]))
    lost = result.metrics["whygap/outcome"]
    assert lost < -0.05
    strict = {"whygap/outcome": MetricThreshold(threshold=-0.02, greater_is_better=True)}
    with pytest.raises(ModelValidationFailedException, match="whygap/outcome"):
        mlflow.validate_evaluation_results(strict, result)
    lenient = {"whygap/outcome": MetricThreshold(threshold=lost - 0.01, greater_is_better=True)}
    mlflow.validate_evaluation_results(lenient, result)


def test_names_that_mlflow_refuses_become_names_it_takes(store):
    odd = {"a": "age >= 50/..", "b": "age <= 50/..", "c": "größe, €"}
    source, target = (table.rename(columns=odd) for table in tables())
    gap = wg.explain(make_study(source, target), detail="points", settings=FAST)
    with mlflow.start_run() as run:
        metrics = log_gap(gap)
    assert store.get_run(run.info.run_id).data.metrics.keys() == metrics.keys()
    ours = [key for key in metrics if "points/covariate" in key and "50" in key]
    assert len(ours) == 6
    assert {metrics[key] for key in ours} >= {
        gap.points["covariate"][name].value for name in (odd["a"], odd["b"])
    }


def test_a_column_of_predictions_serves_without_a_model(both, classifier, gap):
    scored = [table.assign(label=classifier.predict(table[FEATURES]).astype(int)) for table in both]
    config = configured(scored[0], baseline=["w"])
    result = evaluate(None, scored[1], ["whygap"], config, predictions="label")
    right = [(table["label"] == table["y"]).mean() for table in scored]
    assert result.metrics["whygap/total"] == pytest.approx(right[1] - right[0])


def test_a_function_and_a_table_of_another_kind(both, classifier, tmp_path):
    both[0].to_parquet(tmp_path / "source.parquet")
    config = configured(str(tmp_path / "source.parquet"), baseline=["w"])

    def model(frame):
        return classifier.predict(frame[FEATURES])

    result = evaluate(model, both[1], ["whygap"], config)
    right = [classifier.score(table[FEATURES], table["y"]) for table in both]
    assert result.metrics["whygap/total"] == pytest.approx(right[1] - right[0])


def test_a_regressor_and_features_without_names(both):
    rng = np.random.default_rng(0)
    table = [make_table(400, shift, seed) for shift, seed in ((0.0, 1), (1.0, 2))]
    x = [one[FEATURES].to_numpy() for one in table]
    y = [one @ np.array([1.0, 2.0, 0.5]) + rng.normal(size=400) for one in x]
    model = HistGradientBoostingRegressor(max_iter=20).fit(x[0], y[0])
    source = pd.DataFrame(x[0], columns=["feature_1", "feature_2", "feature_3"]).assign(y=y[0])
    result = mlflow.models.evaluate(
        lambda frame: model.predict(np.asarray(frame)),
        x[1],
        targets=y[1],
        model_type="regressor",
        evaluators=["whygap"],
        evaluator_config=configured(source, outcome="y"),
    )
    errors = [np.abs(model.predict(x[i]) - y[i]).mean() for i in (0, 1)]
    assert result.metrics["whygap/total"] == pytest.approx(errors[1] - errors[0])


def test_an_outcome_without_a_name_is_asked_for(both):
    x, y = both[1][FEATURES].to_numpy(), both[1]["y"].to_numpy()
    with pytest.raises(wg.errors.InputError) as raised:
        evaluate(lambda frame: frame[:, 0], x, ["whygap"], configured(both[0]), targets=y)
    assert str(raised.value) == (
        "The source's column of outcomes has no name. "
        'Give it: evaluator_config={"whygap": {"source": ..., "outcome": "readmitted"}}.'
    )


def test_levels_and_problems(gap):
    wide, narrow = metrics_of(gap, 0.99), metrics_of(gap, 0.8)
    assert wide["whygap/total_low"] < narrow["whygap/total_low"] < narrow["whygap/total"]
    assert narrow["whygap/problems"] == len(gap.problems())
