"""The list of metrics, in the session and on its page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import whygap as wg
from whygap._metrics import METRICS, TASKS, names_for

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


def test_the_list_is_read_by_name_and_printed_by_task():
    listed = wg.metrics()
    assert listed["auc"].startswith("The chance that a row with outcome 1")
    assert set(listed) == {metric.name for metric in METRICS}
    assert list(wg.metrics("regression")) == list(names_for("regression"))
    text = str(listed)
    assert [line for line in text.splitlines() if not line.startswith(" ")] == list(TASKS)
    assert "  recall (sensitivity)  Of the rows that are 1, the share called so." in text
