"""Calls as people make them by mistake: one of our errors, in full, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from misused import make_table
from result_factory import make_gap
from sklearn import metrics

import whygap as wg
from whygap.errors import WhygapError
from whygap.render import svg

ROLES: dict[str, Any] = {"outcome": "y", "prediction": "risk", "baseline": ["age"]}
SparkFrame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})


def study(**changes: Any) -> wg.Study:
    return wg.Study(make_table(200, 1), make_table(200, 2), **(ROLES | changes))


TABLES = (
    "The source table must be a pandas, polars or pyarrow table, an Arrow stream, a duckdb "
    "relation, or a path to "
    ".csv, .xlsx or .parquet. Got an object of type "
)
NEEDS = (
    "explain needs a Study, or two tables and the outcome's column. Got {}. "
    'wg.explain(source, target, outcome="readmitted", prediction="risk").'
)
CALLS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "detail=True": (
        lambda _: wg.explain(study(), detail=True),
        (
            "detail= names what is asked for. Got True. 'all', (), or of 'points', 'affected', "
            "'recoverable', 'shares'."
        ),
    ),
    "a detail misspelt": (
        lambda _: wg.explain(study(), detail="point"),
        "There is no detail 'point'. Did you mean 'points'?",
    ),
    "Settings(lerner=)": (
        lambda _: wg.Settings(lerner="fast"),
        "There is no setting 'lerner'. Did you mean 'learner'?",
    ),
    "a learner misspelt": (
        lambda _: wg.Settings(learner="fst"),
        (
            "The setting 'learner' must be one of 'auto', 'fast', 'boosted', or "
            "{'classifier': estimator, 'regressor': estimator}. Got 'fst'. Did you mean 'fast'?"
        ),
    ),
    "one fold": (
        lambda _: wg.Settings(folds=1),
        "The setting 'folds' must be greater than or equal to 3. Got 1.",
    ),
    "a metric of scikit-learn": (
        lambda _: study(metric=metrics.hamming_loss),
        (
            "The metric 'hamming_loss' of scikit-learn gives one number for all rows. Name one of "
            'ours (metric="accuracy"), or give a callable(prediction, outcome) with one value per '
            "row."
        ),
    ),
    "a Spark frame": (
        lambda _: wg.Study(SparkFrame(), make_table(200, 2), **ROLES),
        f"{TABLES}DataFrame. Use table.toPandas(), or write it as Parquet and give the path.",
    ),
    "one table": (
        lambda _: wg.explain(make_table(200, 1), outcome="y"),
        NEEDS.format("no target"),
    ),
    "a role misspelt": (
        lambda _: wg.Study(make_table(200, 1), make_table(200, 2), outcom="y"),  # type: ignore[call-arg]
        "There is no argument 'outcom'. Did you mean 'outcome'?",
    ),
    "a report as pdf": (
        lambda folder: make_gap().report(folder / "x.pdf"),
        (
            "A report is a page of HTML. Got 'x.pdf'. Write .html and print it from a browser; "
            "gap.plot().savefig(path) draws one figure."
        ),
    ),
    "a result as csv": (
        lambda folder: make_gap().save(folder / "x.csv"),
        (
            "A result is saved as JSON. Got 'x.csv'. The table of all estimates is gap.to_frame(), "
            "or: whygap show gap.json -o gap.csv."
        ),
    ),
    "a figure as docx": (
        lambda folder: svg.save(make_gap().plot(), folder / "x.docx"),
        "A figure is written as .svg, .png or .pdf. Got 'x.docx'. Try gap.svg.",
    ),
    "a figure that there is not": (
        lambda _: make_gap().plot(what="point"),
        "There is no figure 'point'. Did you mean 'points'?",
    ),
    "a detail that was not asked for": (
        lambda _: make_gap(outcome=None).shares["outcome"],
        "This result has no 'shares' of the part 'outcome'. It has: covariate.",
    ),
    "a result that is not there": (
        lambda folder: wg.load(folder / "gap.json"),
        "The result file '{folder}/gap.json' cannot be read. Got No such file or directory.",
    ),
    "a level in percent": (
        lambda folder: make_gap().report(folder / "x.html", level=95),
        "The level of an interval must lie between 0 and 1. Got 95. Try 0.95.",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_mistaken_call(name, tmp_path):
    call, message = CALLS[name]
    with pytest.raises(WhygapError) as caught:
        call(tmp_path)
    assert str(caught.value).replace(str(tmp_path), "{folder}") == message
    assert list(tmp_path.iterdir()) == []
