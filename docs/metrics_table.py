"""The table of all metrics, written from the code into the page that explains them.

python docs/metrics_table.py          writes it into docs/metrics.md
"""

from __future__ import annotations

import re
from pathlib import Path

from whygap._metrics import METRICS, TASKS, Metric

PAGE = Path(__file__).resolve().parent / "metrics.md"
BLOCK = re.compile(r"(?<=<!-- begin metrics -->\n).*?(?=<!-- end metrics -->)", re.DOTALL)
BETTER = {True: "higher", False: "lower", None: "nearer to 0"}
NEEDS = {
    "label": "labels, or probabilities cut at `threshold`",
    "probability": "probabilities",
    "classes": "a probability per class",
    "value": "predicted values",
}


def table() -> str:
    """One line per task and metric."""
    head = "| task | name | what it tells | better | predictions |\n|---|---|---|---|---|\n"
    shown = [(task, metric) for task in TASKS for metric in METRICS if task in metric.tasks]
    return head + "".join(f"{line(task, metric)}\n" for task, metric in shown)


def line(task: str, metric: Metric) -> str:
    """One metric of one task."""
    names = ", ".join(f"`{name}`" for name in (metric.name, *metric.aliases))
    predictions = NEEDS[metric.wants]
    if task == "multiclass" and metric.wants == "label":
        predictions = "labels, or the most probable class"
    if "quantile" in metric.needs:
        predictions += "; `quantile=`"
    better = BETTER[metric.higher_is_better]
    return f"| {task} | {names} | {metric.sentence} | {better} | {predictions} |"


def main() -> None:
    """Write the table into its page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: table(), text), encoding="utf-8")


if __name__ == "__main__":
    main()
