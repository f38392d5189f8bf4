"""Results in MLflow: logged to a run, or made by `mlflow.models.evaluate(evaluators="whygap")`.

MLflow finds `GapEvaluator` by its entry point (group `mlflow.model_evaluator`), so importing this
file must stay cheap: what explains and renders is imported when it is first used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

try:
    import mlflow
    from mlflow.models.evaluation import EvaluationResult, ModelEvaluator
    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact, TextEvaluationArtifact
except ImportError as err:
    message = "whygap.mlflow needs MLflow. Install it: pip install 'whygap[mlflow]'."
    raise ImportError(message) from err

from whygap.errors import InputError

if TYPE_CHECKING:
    from whygap.results import Gap
    from whygap.study import Study

__all__ = ["GapEvaluator", "log_gap", "metrics_of"]

METRICS = {"classifier": "accuracy", "regressor": "mae"}  # by MLflow's type of model


def log_gap(
    gap: Gap,
    *,
    step: int | None = None,
    run_id: str | None = None,
    level: float | None = None,
    redact: int = 10,
) -> dict[str, float]:
    """Log a result to a run: metrics, `report.html`, `gap.json`, and every number as a table.

    Args:
        gap: what `wg.explain` returned.
        step: of the metrics, for a series over time; the files then lie in `whygap/STEP`.
        run_id: the run; the active one (or a new one) unless given.
        level: of the intervals; that of the result's settings unless given.
        redact: groups of fewer rows are suppressed in everything that is logged.
    """
    return _log(gap.redacted(redact), step, run_id, level)[0]


def _log(
    gap: Gap, step: int | None, run_id: str | None, level: float | None
) -> tuple[dict[str, float], str]:
    """Log a redacted result; return the metrics and the page."""
    from whygap.render import page, tables
    from whygap.results import files

    metrics = metrics_of(gap, level)
    folder = "whygap" if step is None else f"whygap/{step}"
    html = page.html(gap, level)
    lines = tables.rows(gap.findings(level))
    table = {name: [line[name] for line in lines] for name in tables.COLUMNS}
    mlflow.log_metrics(metrics, step=step, run_id=run_id)
    mlflow.log_text(html, f"{folder}/report.html", run_id=run_id)
    mlflow.log_text(files.to_text(gap), f"{folder}/gap.json", run_id=run_id)
    mlflow.log_table(table, f"{folder}/estimates.json", run_id=run_id)
    return metrics, html


def metrics_of(gap: Gap, level: float | None = None) -> dict[str, float]:
    """Return the numbers of a result under keys that MLflow takes.

    They are `whygap/source`, `whygap/target`, `whygap/total`, `whygap/PART` and
    `whygap/points/PART/VARIABLE`, with `..._low` and `..._high`; and the count `whygap/problems`.

    Args:
        gap: the result.
        level: of the confidence intervals; None takes the level of the settings.
    """
    ends = {"source": gap.source, "target": gap.target}
    numbers = {f"whygap/{name}": estimate.value for name, estimate in ends.items()}
    for finding in gap.findings(level):
        variable = re.sub(r"[^\w\- ]", "_", finding.variable)[:200]  # MLflow takes 250 letters
        keys = {
            "change": "whygap/total",
            "part": f"whygap/{finding.part}",
            "points": f"whygap/points/{finding.part}/{variable}",
        }
        if finding.kind not in keys or finding.interval is None:
            continue  # groups, rules, recoverable error and shares are in the table alone
        key = keys[finding.kind]
        key = f"{key}_{len(numbers)}" if key in numbers else key  # names that differ in signs alone
        low, high = finding.interval
        numbers |= {key: finding.value, f"{key}_low": low, f"{key}_high": high}
    finite = {key: float(value) for key, value in numbers.items() if math.isfinite(value)}
    return {**finite, "whygap/problems": float(len(gap.problems()))}


class GapEvaluator(ModelEvaluator):  # type: ignore[misc]  # MLflow's classes are not typed
    """Explain how the model does on MLflow's dataset compared with a source table.

    `evaluator_config={"whygap": {"source": table, ...}}`: the source holds the columns of the
    dataset, the outcome included; with it go the roles and names of a `wg.Study` (`baseline`,
    `metric`, ...), `detail`, `settings` (a `wg.Settings` or its fields) and `redact`.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Any, **_: Any) -> bool:
        """Return whether a source is configured: MLflow asks every evaluator.

        Args:
            model_type: "classifier" or "regressor" can be explained.
            evaluator_config: arguments of the study; None where there are none.
        """
        return model_type in METRICS and (evaluator_config or {}).get("source") is not None

    def evaluate(
        self, *, model_type: str, dataset: Any, run_id: str, evaluator_config: Any, **options: Any
    ) -> Any:
        """Explain, log to the run, and hand MLflow the metrics and files.

        Args:
            model_type: "classifier" or "regressor".
            dataset: MLflow's dataset: the target.
            run_id: of the run to log to.
            evaluator_config: arguments of the study, with `settings`, `detail` and `redact`.
            **options: `model`, and what else MLflow passes.
        """
        from whygap._explain import explain
        from whygap.settings import DETAILS, Settings

        roles = {"settings": None, "detail": DETAILS, "redact": 10, **evaluator_config}
        settings, detail, redact = (roles.pop(name) for name in ("settings", "detail", "redact"))
        settings = Settings(**settings) if isinstance(settings, Mapping) else settings
        study = _study_of(model_type, dataset, options.get("model"), roles)
        gap = explain(study, detail=detail, settings=settings).redacted(redact)
        metrics, page = _log(gap, None, run_id, None)
        uri = mlflow.get_artifact_uri
        artifacts = {
            "whygap_report": TextEvaluationArtifact(uri=uri("whygap/report.html"), content=page),
            "whygap_gap": JsonEvaluationArtifact(uri=uri("whygap/gap.json"), content=gap.to_dict()),
        }
        return EvaluationResult(metrics=metrics, artifacts=artifacts, run_id=run_id)


def _study_of(model_type: str, dataset: Any, model: Any, config: Mapping[str, Any]) -> Study:
    """Compare the configured source with MLflow's dataset."""
    import pandas as pd

    from whygap.study import Study

    outcome = dataset.targets_name or config.get("outcome")
    if outcome is None:
        hint = 'Give it: evaluator_config={"whygap": {"source": ..., "outcome": "readmitted"}}.'
        raise InputError("The source's column of outcomes has no name", hint=hint)
    roles = {"metric": METRICS[model_type], **config, "outcome": outcome}
    if model is None and not {"prediction", "model"} & {*config}:
        roles["prediction"] = dataset.predictions_name
    elif not {"prediction", "model"} & {*config}:
        roles["model"] = _estimator_of(model, dataset.feature_names)
    target = pd.DataFrame(dataset.features_data, copy=True)
    target.columns = pd.Index([str(name) for name in dataset.feature_names])
    target[outcome] = dataset.labels_data
    if roles.get("prediction") is not None and roles["prediction"] not in target:
        target[roles["prediction"]] = dataset.predictions_data
    return Study(target=target, **roles)


def _estimator_of(model: Any, columns: list[str]) -> Any:
    """Return MLflow's model with probabilities, or as a predictor from any kind of table."""
    with suppress(AttributeError, RuntimeError):  # not every kind of model has it
        raw = model.get_raw_model()
        if callable(getattr(raw, "predict_proba", None)):
            return raw
    return _Pyfunc(model, columns)


class _Pyfunc:
    """Predict with a model of MLflow, which reads pandas, from a table of any kind."""

    def __init__(self, model: Any, columns: list[str]) -> None:
        self.model = model
        self.feature_names_in_ = list(columns)

    def predict(self, table: Any) -> Any:
        """Return the predictions of a table.

        Args:
            table: of the columns that the model takes.
        """
        import narwhals as nw
        import numpy as np

        return np.asarray(self.model.predict(nw.from_native(table, eager_only=True).to_pandas()))
