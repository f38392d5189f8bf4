"""`whygap explain`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whygap.cli import roles
from whygap.cli.delivery import Delivery
from whygap.cli.options import (
    Jobs,
    Json,
    Level,
    OutputFile,
    Quiet,
    Seed,
    Set,
    UnsafePickle,
    Verbose,
)
from whygap.cli.output import Speaker, check_writable
from whygap.errors import InputError, SettingsError, did_you_mean

if TYPE_CHECKING:
    from whygap.study_file import StudyFile

PARTS = ("covariate", "outcome")
MaybeStudy = Annotated[
    Path | None, typer.Argument(metavar="STUDY.toml", help="A study file, or use --source ...")
]
Page = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write the HTML report.")
]
Detail = Annotated[
    str | None,
    typer.Option(
        "--detail", metavar="PARTS", help="covariate, outcome, both joined by a comma, or none."
    ),
]
TimeBudget = Annotated[
    float | None,
    typer.Option("--time-budget", metavar="SECONDS", help="For the detailed shares."),
]
Learner = Annotated[
    str | None, typer.Option("--learner", metavar="NAME", help="auto, fast, boosted or paper.")
]
Influence = Annotated[
    bool, typer.Option("--influence", help="Keep influence values, so that contrasts survive.")
]
EXAMPLES = (
    "whygap explain study.toml -o gap.json --report gap.html",
    """whygap explain --source s.parquet --target t.parquet --outcome y \\
      --baseline age,sex --prediction risk -o gap.json""",
)


def command(
    study_file: MaybeStudy = None,
    source: roles.Source = None,
    target: roles.Target = None,
    outcome: roles.Outcome = None,
    baseline: roles.Baseline = None,
    covariates: roles.Covariates = None,
    prediction: roles.Prediction = None,
    model: roles.Model = None,
    metric: roles.Metric = None,
    positive: roles.Positive = None,
    weights: roles.Weights = None,
    clusters: roles.Clusters = None,
    output: OutputFile = None,
    report: Page = None,
    detail: Detail = None,
    level: Level = None,
    seed: Seed = None,
    jobs: Jobs = None,
    time_budget: TimeBudget = None,
    learner: Learner = None,
    settings: Set = None,
    influence: Influence = False,
    unsafe_pickle: UnsafePickle = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Explain why the metric differs between two tables."""
    options = dict(locals())  # a command's parameters are its options
    check_writable(output, report)
    wanted = _parts(detail)
    asked = _request(study_file, options)
    speaker = Speaker(as_json, quiet, verbose)
    delivery = Delivery(output, report or asked.report, influence, speaker)
    delivery.check()
    _run(asked, asked.detail or PARTS if wanted is None else wanted, delivery)


def _run(asked: StudyFile, parts: tuple[str, ...], delivery: Delivery) -> None:
    """One target, or all targets of the study file."""
    study, settings = asked.study, asked.settings
    if asked.targets:
        from whygap._many import explain_many

        targets = {study.target_name: study.target, **asked.targets}
        finished = delivery.many(explain_many(study, targets, parts, settings))
    else:
        from whygap._explain import explain

        finished = delivery.one(explain(study, parts, settings))
    if not finished:
        raise KeyboardInterrupt


def _parts(text: str | None) -> tuple[str, ...] | None:
    """The parts named by --detail; None when it was not given."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    known = (*PARTS, "none")
    for name in names:
        if name not in known:
            raise SettingsError(
                f"There is no detail '{name}'",
                hint=did_you_mean(name, known) or f"Details are: {', '.join(known)}.",
            )
    return tuple(name for name in names if name != "none")


def _request(study_file: Path | None, options: dict[str, Any]) -> StudyFile:
    """What is asked, from the study file or from the options."""
    from whygap.cli import inputs

    given = {name: options[name] for name in roles.NAMES if options[name] is not None}
    chosen = {
        "level": options["level"],
        "seed": options["seed"],
        "n_jobs": options["jobs"],
        "time_budget": options["time_budget"],
        "learner": options["learner"],
        "progress": False if options["quiet"] else None,
    }
    unsafe = options["unsafe_pickle"]
    if study_file is None:
        return inputs.inline_study(given, options["settings"], unsafe_pickle=unsafe, **chosen)
    if given:
        raise InputError(
            "Roles are named in the study file or as options, not in both",
            got=", ".join(f"--{name}" for name in given),
            hint="Leave these options out, or leave the study file out.",
        )
    return inputs.read_file(study_file, options["settings"], unsafe_pickle=unsafe, **chosen)
