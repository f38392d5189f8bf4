"""The list of metrics, in the session and on its page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import jaccard_score
from small_study import FAST, make_study

import whygap as wg
from whygap._metrics import METRICS, TASKS, entries, registry

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_table_on_the_page_is_the_codes_own():
    spec = importlib.util.spec_from_file_location("metrics_table", DOCS / "metrics_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.BLOCK.search(module.PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group(0) == module.table(), "run python docs/metrics_table.py"


def test_every_metric_says_what_it_tells():
    for metric in METRICS:
        assert metric.sentence.endswith("."), metric.name
        assert set(metric.tasks) <= set(TASKS)


def test_names_are_unique_within_a_task():
    for task in TASKS:
        metrics = [metric for metric in METRICS if task in metric.tasks]
        names = [name for metric in metrics for name in (metric.name, *metric.aliases)]
        assert len(names) == len(set(names))


def test_the_list_gives_a_sentence_for_every_name():
    listed = wg.metrics()
    assert listed["auc"].startswith("The chance that a row with outcome 1")
    assert set(listed) == {metric.name for metric in METRICS}
    regression = [metric.name for metric in METRICS if "regression" in metric.tasks]
    assert list(wg.metrics("regression")) == regression


def test_a_new_smooth_metric_is_one_entry(monkeypatch):
    monkeypatch.setattr(entries, "METRICS", entries.METRICS[:])
    monkeypatch.setattr(registry, "METRICS", entries.METRICS)

    @entries.entry(of=lambda means: means[0] / means[1:].sum(), tasks=("binary",), wants="label")
    def jaccard(label, outcome):
        """Of the rows called 1 or being 1, the share of which both is true."""
        return np.stack(
            [label * outcome, label * outcome, label * (1 - outcome) + (1 - label) * outcome]
        )

    study = make_study(metric="Jaccard")
    gap = wg.explain(study, detail=("points",), settings=FAST)
    label = {name: getattr(study, name)["risk"] >= 0.5 for name in ("source", "target")}
    scores = [
        jaccard_score(getattr(study, name)["y"], label[name]) for name in ("source", "target")
    ]
    assert gap.total.value == pytest.approx(scores[1] - scores[0], abs=1e-12)
    points = sum(one.value for one in gap.points["covariate"].values())
    assert points == pytest.approx(gap.parts["covariate"].value, abs=1e-9)
    assert gap.total.standard_error > 0
    assert wg.metrics("binary")["jaccard"].startswith("Of the rows called 1 or being 1")
    with pytest.raises(wg.errors.SettingsError, match="not for a regression outcome"):
        registry.metric_named("jaccard", "regression")
