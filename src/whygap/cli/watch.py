"""`whygap watch`: a stream of targets against one source, with alarms."""

from pathlib import Path
from typing import Annotated, Any

import typer

from whygap.cli import options
from whygap.cli.options import option
from whygap.cli.output import check_writable, note, print_result

State = Annotated[Path, option("--state", "DIR", "The folder that keeps the results.")]
ByColumn = Annotated[str | None, option("--by", "COLUMN", "Column whose values name the targets.")]
FolderOf = Annotated[Path | None, option("--folder", "DIR", "A folder of files, each a target.")]
Rules = Annotated[Path | None, option("--rules", "FILE.toml", "When to raise an alarm.")]
Prometheus = Annotated[
    Path | None, option("--prometheus", "FILE.prom", "Metrics for the text file collector.")
]
EXAMPLES = (
    "whygap watch study.toml --state watched --by month --rules alerts.toml",
    "whygap watch study.toml --folder arrived --prometheus whygap.prom",
)


def command(
    study_file: options.StudyPath,
    state: State = Path("watch"),
    by: ByColumn = None,
    folder: FolderOf = None,
    rules: Rules = None,
    detail: options.Detail = None,
    level: options.Level = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    prometheus: Prometheus = None,
    redact: options.Redact = None,
    settings: options.Set = None,
    unsafe_pickle: options.UnsafePickle = False,
    as_json: options.AsJson = False,
) -> None:
    """Explain a stream of targets, each once; raise alarms."""
    from whygap._watch.run import files_in, watch
    from whygap.render import tables
    from whygap.results import files
    from whygap.results.redaction import ROWS
    from whygap.study_file import read_study_file

    check_writable(prometheus)
    targets: Any = None if folder is None else files_in(folder)
    file = read_study_file(
        study_file,
        unsafe_pickle=unsafe_pickle,
        target=next(iter(targets.values())) if targets else None,
        hidden=() if by is None else (by,),
    )
    run: dict[str, Any] = {"level": level, "seed": seed, "n_jobs": jobs}
    result = watch(
        file.study,
        options.targets_of(file) if targets is None and by is None else targets,
        by=by,
        state=state,
        detail=options.details_in(detail, file.detail or ("points", "affected")),
        settings=options.settings_with(file.settings, settings, **run),
        rules=rules,
        redact=redact,
    )
    values: dict[str, Any] = {"exit_code": result.exit_code, "targets": list(result.gaps)}
    values |= {"newly_explained": result.newly_explained, "unchanged": result.unchanged}
    values |= {"alarms": result.alarms, "failed": result.silent}
    print_result(result.summary(), values, as_json)
    if result.gaps:
        files.write_whole(state / "trend.csv", tables.render(result.gaps, "csv") + "\n")
        result.report(state / "trend.html", redact=ROWS if redact is None else redact)
        note(f"Wrote {state / 'trend.html'}")
    if prometheus is not None:
        result.to_prometheus(prometheus)
    raise typer.Exit(result.exit_code)
