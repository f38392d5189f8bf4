"""`whygap watch`: a stream of targets against one source, with alarms."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whygap.cli import options
from whygap.cli.explain import Detail, details_in
from whygap.cli.options import names_in, option, settings_with, targets_of
from whygap.cli.output import Speaker
from whygap.errors import InputError

if TYPE_CHECKING:
    from whygap._watch import Watch

Into = Annotated[Path, option("--into", "DIR", "Where everything is kept.")]
By = Annotated[str | None, option("--by", "A,B", "Columns whose values name the targets.")]
FolderOf = Annotated[
    str | None, option("--folder", "GLOB", "Files, one a target: 'targets/*.parquet'.")
]
Query = Annotated[str | None, option("--query", "SQL", "DuckDB query of all targets; with --by.")]
Rules = Annotated[Path | None, option("--rules", "FILE.toml", "When to raise an alarm.")]
Push = Annotated[str | None, option("--push", "URL", "A Prometheus push gateway.")]
GitHub = Annotated[
    bool, option("--github", None, "Append to the step summary; emit warnings for GitHub.")
]
EXAMPLES = (
    "whygap watch study.toml --by month --rules alerts.toml --jobs 2",
    "whygap watch study.toml --folder 'targets/*.parquet' --into watched --github",
)


def command(
    study: options.StudyOptions,
    into: Into = Path("watch"),
    by: By = None,
    folder: FolderOf = None,
    query: Query = None,
    rules: Rules = None,
    detail: Detail = None,
    level: options.Level = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    push: Push = None,
    github: GitHub = False,
    redact: options.Redact = None,
    *,
    speaker: Speaker,
) -> None:
    """Explain a stream of targets, each once; raise alarms."""
    from whygap._watch import watch
    from whygap.study_file import read_study_file

    columns, wanted = tuple(names_in(by) or ()), details_in(detail)
    given = _targets(folder, query, columns)
    first = next(iter(given.values())) if isinstance(given, dict) else given
    found = read_study_file(
        study.study_file, unsafe_pickle=study.unsafe_pickle, target=first, hidden=columns
    )
    chosen: dict[str, Any] = {"learner": study.learner, "level": level, "seed": seed}
    settings = settings_with(found.settings, study.settings, speaker.quiet, **chosen)
    targets = given if given is not None or columns else targets_of(found)
    seen = watch(
        found.study,
        targets,
        by=columns or None,
        into=into,
        detail=wanted if wanted is not None else found.detail or ("points", "where"),
        settings=settings,
        rules=rules,
        jobs=jobs or settings.n_jobs,
        push=push,
        redact=redact,
    )
    _deliver(seen, speaker, github=github)
    raise typer.Exit(seen.code)


def _targets(folder: str | None, query: str | None, by: tuple[str, ...]) -> Any:
    """Files by name, or the table of a query; None: the study file says it."""
    from whygap._watch.plan import files_named
    from whygap.tables import queries

    ways = {"--folder": folder, "--query": query, "--by": by}
    if folder is not None and (query is not None or by):
        named = " and ".join(way for way, value in ways.items() if value)
        raise InputError("Targets are named in one way", got=named, hint="Leave one out.")
    if folder is not None:
        return files_named(folder)
    if query is None:
        return None
    if not by:
        raise InputError(
            "A query of targets needs the column that names them", hint="Add --by month."
        )
    return queries.run_query(query, "target", Path.cwd())


def _deliver(seen: Watch, speaker: Speaker, *, github: bool) -> None:
    values = {"code": seen.code, "folder": str(seen.folder), "targets": list(seen.gaps)}
    values |= {"explained_now": seen.fresh, "alarms": seen.alarms, "cannot_say": seen.silences}
    speaker.result(seen.summary(), values)
    speaker.note(f"Wrote {seen.folder / 'trend.html'}")
    if not github:
        return
    from whygap._watch.github import append_summary, markdown, warning_lines

    for line in warning_lines(seen):
        typer.echo(line, err=speaker.as_json)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_summary(path, markdown(seen))
