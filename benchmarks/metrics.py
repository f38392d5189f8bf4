"""What AUC costs beside accuracy, from the command line, on the paper's two cases.

    python benchmarks/metrics.py --data DIR [--learner NAME]

Each case is written to two files and explained by `whygap explain` in a process of its own, once by
accuracy and once by AUC, one after the other on the same machine: points, who is hit, what can be
won back. Checks that the parts add up to the difference of scikit-learn's scores on the same files,
and that AUC costs at most 1.5 times as much CPU time. Writes benchmarks/results/metrics.csv and the
table of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import pyarrow.parquet as pq
from sklearn.metrics import accuracy_score, roc_auc_score

from experiments.cases import Move, insurance_study, readmission_study
from whygap.study import Study

CSV = measure.RESULTS / "metrics.csv"
PAGE = Path(__file__).parent / "README.md"
AT_MOST = 1.5  # times accuracy's CPU seconds
EXACT = 1e-9  # between sums of differences of floating-point means
DETAIL = "points,affected,recoverable"
CASES = {
    "NE to WV": lambda data: insurance_study(data, Move("NE", "WV")),
    "readmission": readmission_study,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("WHYGAP_DATA"))
    parser.add_argument("--learner", default="auto")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give the folder of the data with --data DIR or in WHYGAP_DATA")
    kept = [row for row in measure.read_csv(CSV) if row["learner"] != options.learner]
    failures: list[str] = []
    for name, study_of in CASES.items():
        row = _both(name, study_of(Path(options.data)), options.learner)
        kept.append(row)
        measure.write_csv(CSV, kept)
        print(row, flush=True)
        if row["ratio"] > AT_MOST:
            failures.append(f"{name}: AUC costs {row['ratio']} times as much as accuracy")
        if max(row["auc_off"], row["accuracy_off"]) > EXACT:
            failures.append(f"{name}: the parts do not add up to scikit-learn's difference")
    measure.replace_section(PAGE, "metrics", _table(measure.read_csv(CSV)))
    sys.exit("\n".join(failures) or 0)


def _both(name: str, study: Study, learner: str) -> dict[str, Any]:
    """Accuracy's and AUC's seconds and sums, and their ratio."""
    load = round(os.getloadavg()[0], 1)
    row: dict[str, Any] = {"name": name, "learner": learner, "load": load}
    with tempfile.TemporaryDirectory() as folder:
        pair = {"source": study.source, "target": study.target}
        for domain, table in pair.items():
            pq.write_table(table, f"{folder}/{domain}.parquet")
        for metric, score in (("accuracy", _accuracy), ("auc", _auc)):
            before = measure.cpu_seconds()
            parts = _explain(Path(folder), study, metric, learner)
            row[metric] = round(measure.cpu_seconds() - before, 1)
            expected = score(study, study.target) - score(study, study.source)
            row[f"{metric}_off"] = abs(sum(parts) - expected)
    return {**row, "ratio": round(row["auc"] / row["accuracy"], 2)}


def _explain(folder: Path, study: Study, metric: str, learner: str) -> list[float]:
    """The parts that the command line finds."""
    covariates = ",".join(study.covariates or ())
    roles = {"outcome": study.outcome, "prediction": str(study.prediction), "metric": metric}
    roles |= {"baseline": ",".join(study.baseline), "covariates": covariates}
    roles |= {"clusters": study.clusters} if study.clusters else {}
    roles |= {"source": str(folder / "source.parquet"), "target": str(folder / "target.parquet")}
    words = [word for role, value in roles.items() for word in (f"--{role}", str(value))]
    output = folder / f"{metric}.json"
    how = ["--detail", DETAIL, "--learner", learner, "-o", str(output), "-q"]
    command = [sys.executable, "-m", "whygap", "explain", *words, *how]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads(output.read_text(encoding="utf-8"))["parts"]
    return [found[part]["value"] for part in ("baseline", "covariate", "outcome")]


def _accuracy(study: Study, table: Any) -> float:
    labels = table[str(study.prediction)].to_numpy() >= study.threshold
    return float(accuracy_score(table[study.outcome].to_numpy(), labels))


def _auc(study: Study, table: Any) -> float:
    scores = table[str(study.prediction)].to_numpy()
    return float(roc_auc_score(table[study.outcome].to_numpy(), scores))


def _table(rows: list[dict[str, str]]) -> str:
    head = ["case", "learner", "accuracy, CPU s", "AUC, CPU s", "ratio"]
    names = ("name", "learner", "accuracy", "auc", "ratio")
    return measure.markdown(head, [[row[name] for name in names] for row in rows])


if __name__ == "__main__":
    main()
