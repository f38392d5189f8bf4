"""The roles of a study as options of `whygap explain`, for work without a study file."""

from __future__ import annotations

from typing import Annotated

import typer

Source = Annotated[str | None, typer.Option("--source", metavar="FILE", help="Source table.")]
Target = Annotated[str | None, typer.Option("--target", metavar="FILE", help="Target table.")]
Outcome = Annotated[str | None, typer.Option("--outcome", metavar="COLUMN", help="Outcome (Y).")]
Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="A,B", help="Baseline variables (W).")
]
Covariates = Annotated[
    str | None,
    typer.Option("--covariates", metavar="A,B", help="Covariates (Z); default: all others."),
]
Prediction = Annotated[
    str | None, typer.Option("--prediction", metavar="COLUMN", help="Column of predictions.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="A .skops or .onnx file, or module:name."),
]
Metric = Annotated[
    str | None,
    typer.Option("--metric", metavar="NAME", help="accuracy, zero_one, brier or log_loss."),
]
Positive = Annotated[
    str | None, typer.Option("--positive", metavar="VALUE", help="Outcome that counts as 1.")
]
Weights = Annotated[str | None, typer.Option("--weights", metavar="COLUMN", help="Row weights.")]
Clusters = Annotated[
    str | None, typer.Option("--clusters", metavar="COLUMN", help="Rows that belong together.")
]

NAMES = (
    "source",
    "target",
    "outcome",
    "baseline",
    "covariates",
    "prediction",
    "model",
    "metric",
    "positive",
    "weights",
    "clusters",
)
