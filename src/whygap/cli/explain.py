"""`whygap explain`: the main job."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from whygap.cli import options, output
from whygap.cli.options import names_in, option
from whygap.errors import InputError

if TYPE_CHECKING:
    from whygap.results import Gap, Gaps
    from whygap.study_file import StudyFile

StudyOrNone = Annotated[
    Path | None, Argument(metavar="STUDY.toml", help="A study file, or use --source ...")
]
Source = Annotated[str | None, option("--source", "FILE", "Source table.")]
Target = Annotated[str | None, option("--target", "FILE", "Target table.")]
Outcome = Annotated[str | None, option("--outcome", "COLUMN", "Outcome (Y).")]
Baseline = Annotated[str | None, option("--baseline", "A,B", "Baseline variables (W).")]
Covariates = Annotated[
    str | None, option("--covariates", "A,B", "Covariates (Z); default: the rest.")
]
Prediction = Annotated[
    str | None, option("--prediction", "COLUMN", "Predictions; of classes: A=COLUMN,B=COLUMN.")
]
Metric = Annotated[str | None, option("--metric", "NAME", "accuracy, auc, brier, f1, mse, ...")]
Page = Annotated[Path | None, option("--report", "FILE", "Also write the HTML report.")]
TimeBudget = Annotated[float | None, option("--time-budget", "SECONDS", "For the detailed shares.")]
EXAMPLES = (
    "whygap explain study.toml -o gap.json --report gap.html",
    """whygap explain --source s.parquet --target t.parquet --outcome y \\
      --baseline age,sex --prediction risk -o gap.json""",
)


def command(
    study_file: StudyOrNone = None,
    source: Source = None,
    target: Target = None,
    outcome: Outcome = None,
    baseline: Baseline = None,
    covariates: Covariates = None,
    prediction: Prediction = None,
    metric: Metric = None,
    output_file: options.OutputFile = None,
    report: Page = None,
    detail: options.Detail = None,
    level: options.Level = None,
    redact: options.Redact = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    time_budget: TimeBudget = None,
    settings: options.Set = None,
    unsafe_pickle: options.UnsafePickle = False,
    as_json: options.AsJson = False,
) -> None:
    """Explain why the metric differs between two tables.

    Further roles, such as weights or a model, are named in a study file. Several targets
    ([targets] there) give one result.
    """
    from whygap._explain import explain
    from whygap._explain_many import explain_many
    from whygap.results.redaction import ROWS, require_rows
    from whygap.study_file import read_study_file

    output.check_writable(output_file, ".json")
    output.check_writable(report, ".html")
    if redact is not None:
        require_rows(redact)
    roles = {"source": source, "target": target, "outcome": outcome, "baseline": baseline}
    roles |= {"covariates": covariates, "prediction": prediction}
    named_roles = {name: text for name, text in roles.items() if text is not None}
    values = {"level": level, "seed": seed, "n_jobs": jobs, "time_budget": time_budget}
    if study_file is None:
        file = _study_of(named_roles, metric)
    elif named_roles:
        actual = ", ".join(f"--{name}" for name in named_roles)
        hint = "Leave these options out, or leave the study file out."
        message = "Roles are named in the study file or as options, not in both"
        raise InputError(message, got=actual, hint=hint)
    else:
        file = read_study_file(study_file, unsafe_pickle=unsafe_pickle)
        file = file if metric is None else replace(file, study=replace(file.study, metric=metric))
    run = options.settings_with(file.settings, settings, **values)
    page = report or file.report
    output.check_writable(page)
    details = options.details_in(detail, ("all",) if file.detail is None else file.detail)
    result: Gap | Gaps
    if file.targets:
        targets = options.targets_of(file)
        result = explain_many(file.study, targets, detail=details, settings=run)
    else:
        result = explain(file.study, detail=details, settings=run)
    result = result if redact is None else result.redacted(redact)
    output.save(result, output_file)
    if page is not None:
        result.report(page, redact=ROWS if redact is None else None)
        output.note(f"Wrote {page}")
    _print(result, as_json)


def _study_of(roles: dict[str, str], metric: str | None) -> StudyFile:
    """Make a study of the roles that options name."""
    from whygap.settings import Settings
    from whygap.study import Study
    from whygap.study_file import StudyFile, metric_in

    for name in ("source", "target", "outcome"):
        if name not in roles:
            hint = f"Give a study file, or --{name}; see 'whygap explain --help'."
            raise InputError(f"The {name} is not named", hint=hint)
    values: dict[str, Any] = dict(roles)
    for name in values.keys() & {"baseline", "covariates"}:
        values[name] = list(names_in(values[name]))
    if "=" in roles.get("prediction", ""):
        pairs = [text.partition("=") for text in names_in(roles["prediction"])]
        values["prediction"] = {label.strip(): column.strip() for label, _, column in pairs}
    values["metric"] = metric_in(metric or "accuracy", Path.cwd())
    return StudyFile(Study(**values), Settings())


def _print(result: Gap | Gaps, as_json: bool) -> None:
    """Print a result and the warnings; end as Ctrl-C does where the run was interrupted."""
    from whygap._explain import was_interrupted
    from whygap.results import Gaps

    gaps = dict(result) if isinstance(result, Gaps) else {"": result}
    for name, gap in gaps.items():
        for note in (note for note in gap.notes if note.level != "info"):
            output.note(f"Warning: {name}: {note}" if name else f"Warning: {note}")
    output.print_result(result.summary(), result.to_dict(), as_json)
    if getattr(result, "unfinished", ()) or any(map(was_interrupted, gaps.values())):
        raise KeyboardInterrupt
