"""Results in MLflow: logged to a run, or made by `mlflow.models.evaluate(evaluators="whygap")`.

MLflow finds `GapEvaluator` by its entry point (group `mlflow.model_evaluator`), so importing this
file must stay cheap: what explains and renders is imported when it is first used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

try:
    import mlflow
    from mlflow.models.evaluation import EvaluationResult, ModelEvaluator
    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact, TextEvaluationArtifact
except ImportError as err:
    raise ImportError(
        "whygap.mlflow needs MLflow. Install it: pip install 'whygap[mlflow]'."
    ) from err

from whygap.errors import InputError

if TYPE_CHECKING:
    from whygap.results import Finding, Gap
    from whygap.study import Study

__all__ = ["GapEvaluator", "log_gap", "metrics_of"]

NAME = "whygap"
LONGEST = 200  # letters of a name within a metric's key, of which MLflow takes 250
OURS = ("detail", "settings")  # what `evaluator_config` holds beside the roles of a Study
METRICS = {"classifier": "accuracy", "regressor": "mae"}  # by MLflow's type of model, if none given


def log_gap(
    gap: Gap, *, step: int | None = None, run_id: str | None = None, level: float | None = None
) -> dict[str, float]:
    """Log a result to a run: metrics, `report.html`, `gap.json`, and every number as a table.

    Args:
        gap: what `wg.explain` returned.
        step: of the metrics, for a series over time; the files then lie in `whygap/STEP`.
        run_id: the run; the active one (or a new one) unless given.
        level: of the intervals; that of the result's settings unless given.

    Returns:
        The metrics, as they were logged.
    """
    from whygap.render import report
    from whygap.results import files

    shown = gap.level(level)
    metrics, folder = metrics_of(gap, shown), NAME if step is None else f"{NAME}/{step}"
    mlflow.log_metrics(metrics, step=step, run_id=run_id)
    page = report.html({"": gap.redacted()}, shown)
    mlflow.log_text(page, f"{folder}/report.html", run_id=run_id)
    mlflow.log_text(files.to_text(gap), f"{folder}/gap.json", run_id=run_id)
    mlflow.log_table(table_of(gap, shown), f"{folder}/estimates.json", run_id=run_id)
    return metrics


def table_of(gap: Gap, level: float) -> dict[str, list[Any]]:
    """Every estimate by column, rules and groups included, which no key of a metric can hold."""
    from whygap.render import tables

    lines = tables.rows(gap.findings(level))
    return {name: [line[name] for line in lines] for name in lines[0]}


def metrics_of(gap: Gap, level: float | None = None) -> dict[str, float]:
    """The numbers of a result under keys that MLflow takes.

    `whygap/source`, `whygap/target`, `whygap/total`, `whygap/outcome` and the other parts,
    `whygap/points/covariate/age`; of each estimate also `..._low` and `..._high`; and
    `whygap/problems`, how many reasons there are not to rely on them.
    """
    found: dict[str, float] = {}
    for end, estimate in (("source", gap.source), ("target", gap.target)):
        found[f"{NAME}/{end}"] = estimate.value
    for finding in gap.findings(level):
        key = key_of(finding)
        if key is None or finding.interval is None:
            continue
        key = f"{key}_{len(found)}" if key in found else key  # names that differ in signs alone
        found[key] = finding.value
        found |= {f"{key}_low": finding.interval.low, f"{key}_high": finding.interval.high}
    finite = {key: float(value) for key, value in found.items() if math.isfinite(value)}
    return {**finite, f"{NAME}/problems": float(len(gap.problems()))}


def key_of(finding: Finding) -> str | None:
    """The key of a gap, a part or a variable's points; None for what is in the table alone."""
    name = re.sub(r"[^\w\- ]", "_", finding.variable)[:LONGEST]
    keys = {
        "change": f"{NAME}/total",
        "part": f"{NAME}/{finding.part}",
        "points": f"{NAME}/points/{finding.part}/{name}",
    }
    return keys.get(finding.kind)


class GapEvaluator(ModelEvaluator):  # type: ignore[misc]  # MLflow's classes are not typed
    """Explains how the model does on MLflow's dataset compared with a source table.

    `evaluator_config={"whygap": {"source": table, ...}}`: the source holds the columns of the
    dataset, the outcome included; beside it stand the roles and names of a `wg.Study`
    (`baseline`, `metric`, ...), `detail` and `settings` (a `wg.Settings` or its fields).
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Any, **_: Any) -> bool:
        """Only where a source is configured: MLflow asks every evaluator there is."""
        known = model_type in METRICS
        return known and (evaluator_config or {}).get("source") is not None

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        model: Any = None,
        **_: Any,
    ) -> Any:
        """Explain, log to the run, and hand MLflow the metrics and files."""
        from whygap._explain import explain
        from whygap.settings import DETAILS, Settings

        given = evaluator_config.get("settings")
        settings = Settings.from_mapping(dict(given)) if isinstance(given, Mapping) else given
        study = study_of(model_type, dataset, model, evaluator_config)
        gap = explain(study, evaluator_config.get("detail", DETAILS), settings)
        metrics = log_gap(gap, run_id=run_id)
        return EvaluationResult(metrics=metrics, artifacts=artifacts_of(gap), run_id=run_id)


def artifacts_of(gap: Gap) -> dict[str, Any]:
    """The files of the active run, as MLflow hands them to the caller."""
    from whygap.render import report

    page, result = (
        mlflow.get_artifact_uri(f"{NAME}/{name}") for name in ("report.html", "gap.json")
    )
    html = report.html({"": gap.redacted()}, gap.level())
    return {
        "whygap_report": TextEvaluationArtifact(uri=page, content=html),
        "whygap_gap": JsonEvaluationArtifact(uri=result, content=gap.to_dict()),
    }


def study_of(model_type: str, dataset: Any, model: Any, config: Mapping[str, Any]) -> Study:
    """The configured source against MLflow's dataset."""
    from whygap.study import Study

    outcome = dataset.targets_name or config.get("outcome")
    if outcome is None:
        raise InputError(
            "The source's column of outcomes has no name",
            hint='Give it: evaluator_config={"whygap": {"source": ..., "outcome": "readmitted"}}.',
        )
    roles = {name: value for name, value in config.items() if name not in OURS}
    roles.setdefault("metric", METRICS[model_type])
    roles["outcome"] = outcome
    if "prediction" not in roles and "model" not in roles:
        roles |= asked(dataset, model)
    return Study(target=target_of(dataset, outcome, roles.get("prediction")), **roles)


def asked(dataset: Any, model: Any) -> dict[str, Any]:
    """Where predictions come from: MLflow's model, or a column of both tables."""
    if model is None:
        return {"prediction": dataset.predictions_name}
    try:
        raw = model.get_raw_model()
    except (AttributeError, RuntimeError):  # not every kind of model has one
        raw = None
    gives_probabilities = callable(getattr(raw, "predict_proba", None))
    return {"model": raw if gives_probabilities else Pyfunc(model, dataset.feature_names)}


class Pyfunc:
    """An MLflow model as an estimator that knows its columns."""

    def __init__(self, model: Any, columns: list[str]) -> None:
        self.model = model
        self.feature_names_in_ = list(columns)

    def predict(self, table: Any) -> Any:
        """Its answer to a table of any kind; MLflow's models read pandas."""
        import narwhals as nw
        import numpy as np

        return np.asarray(self.model.predict(nw.from_native(table, eager_only=True).to_pandas()))


def target_of(dataset: Any, outcome: str, prediction: str | None) -> Any:
    """MLflow's dataset as one table, outcome and predictions included."""
    import pandas as pd

    table = pd.DataFrame(dataset.features_data, copy=True)
    table.columns = pd.Index([str(name) for name in dataset.feature_names])
    table[outcome] = dataset.labels_data
    if prediction is not None and prediction not in table:
        table[prediction] = dataset.predictions_data
    return table
