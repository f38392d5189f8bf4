"""`whygap watch`: a stream of targets against one source, with alarms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whygap.cli import options
from whygap.cli.explain import Detail, details_in
from whygap.cli.options import option, settings_with, targets_of
from whygap.cli.output import Speaker, check_writable

if TYPE_CHECKING:
    from whygap._watch import Watch

State = Annotated[Path, option("--state", "DIR", "The folder that keeps the results.")]
By = Annotated[str | None, option("--by", "COLUMN", "Column whose values name the targets.")]
FolderOf = Annotated[Path | None, option("--folder", "DIR", "A folder of files, each a target.")]
Rules = Annotated[Path | None, option("--rules", "FILE.toml", "When to raise an alarm.")]
Prometheus = Annotated[
    Path | None, option("--prometheus", "FILE.prom", "Metrics for the text file collector.")
]
EXAMPLES = (
    "whygap watch study.toml --state watched --by month --rules alerts.toml",
    "whygap watch study.toml --state watched --folder arrived --prometheus whygap.prom",
)


def command(
    study: options.StudyOptions,
    state: State = Path("watch"),
    by: By = None,
    folder: FolderOf = None,
    rules: Rules = None,
    detail: Detail = None,
    level: options.Level = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    prometheus: Prometheus = None,
    redact: options.Redact = None,
    *,
    speaker: Speaker,
) -> None:
    """Explain a stream of targets, each once; raise alarms."""
    from whygap._watch import watch
    from whygap._watch.run import files_in
    from whygap.study_file import read_study_file

    check_writable(prometheus)
    targets: Any = None if folder is None else files_in(folder)
    file = read_study_file(
        study.study_file,
        unsafe_pickle=study.unsafe_pickle,
        target=next(iter(targets.values())) if targets else None,
        hidden=() if by is None else (by,),
    )
    changes: dict[str, Any] = {"learner": study.learner, "level": level, "seed": seed}
    settings = settings_with(file.settings, study.settings, speaker.quiet, n_jobs=jobs, **changes)
    wanted = details_in(detail)
    seen = watch(
        file.study,
        targets_of(file) if targets is None and by is None else targets,
        by=by,
        state=state,
        detail=wanted if wanted is not None else file.detail or ("points", "affected"),
        settings=settings,
        rules=rules,
        redact=redact,
    )
    _deliver(seen, state, redact, speaker)
    if prometheus is not None:
        seen.to_prometheus(prometheus)
    raise typer.Exit(seen.exit_code)


def _deliver(seen: Watch, state: Path, redact: int | None, speaker: Speaker) -> None:
    """Print the result; write the trend over all targets, as a table and as a page."""
    values: dict[str, Any] = {"exit_code": seen.exit_code, "targets": list(seen.gaps)}
    values |= {"newly_explained": seen.newly_explained, "unchanged": seen.unchanged}
    speaker.result(seen.summary(), values | {"alarms": seen.alarms, "failed": seen.silent})
    if seen.gaps:
        speaker.write_csv(state / "trend.csv", seen.to_frame())
        seen.report(state / "trend.html", redact=redact or 10)
        speaker.note(f"Wrote {state / 'trend.html'}")
