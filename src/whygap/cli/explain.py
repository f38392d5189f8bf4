"""`whygap explain`: the main job."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from whygap.cli import options
from whygap.cli.options import names_in, option, settings_with, targets_of
from whygap.cli.output import Speaker, check_ending, check_writable
from whygap.errors import InputError, SettingsError

if TYPE_CHECKING:
    from whygap.results import Gap, Gaps
    from whygap.study_file import StudyFile

MaybeStudy = Annotated[
    Path | None, Argument(metavar="STUDY.toml", help="A study file, or use --source ...")
]
Page = Annotated[Path | None, option("--report", "FILE", "Also write the HTML report.")]
Detail = Annotated[
    str | None,
    option(
        "--detail",
        "NAMES",
        "points, affected, recoverable, shares, joined by commas; all, or none.",
    ),
]
TimeBudget = Annotated[float | None, option("--time-budget", "SECONDS", "For the detailed shares.")]
Influence = Annotated[
    bool, option("--influence", None, "Keep influence values, so that contrasts survive.")
]
EXAMPLES = (
    "whygap explain study.toml -o gap.json --report gap.html",
    """whygap explain --source s.parquet --target t.parquet --outcome y \\
      --baseline age,sex --prediction risk -o gap.json""",
)


def command(
    study_file: MaybeStudy = None,
    *,
    roles: options.RoleOptions,
    output: options.OutputFile = None,
    report: Page = None,
    detail: Detail = None,
    level: options.Level = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    time_budget: TimeBudget = None,
    learner: options.Learner = None,
    settings: options.Set = None,
    influence: Influence = False,
    redact: options.Redact = None,
    unsafe_pickle: options.UnsafePickle = False,
    speaker: Speaker,
) -> None:
    """Explain why the metric differs between two tables."""
    from whygap.settings import DETAILS, Settings

    for path, ending in ((output, ".json"), (report, ".html")):
        check_ending(path, ending)
    check_writable(output, report)
    check_redaction(redact, influence)
    wanted = details_in(detail)
    chosen: dict[str, Any] = {"level": level, "seed": seed, "n_jobs": jobs}
    chosen |= {"time_budget": time_budget}
    if study_file is None:
        run = settings_with(Settings(), settings, speaker.quiet, learner=learner, **chosen)
        asked = roles.read(run, unsafe_pickle)
    else:
        roles.refuse_beside_a_file()
        file = options.StudyOptions(study_file, settings, unsafe_pickle, learner)
        asked = file.read(speaker.quiet, **chosen)
    delivery = Delivery(output, report or asked.report, influence, redact, speaker)
    check_writable(delivery.page)
    _run(asked, asked.detail or DETAILS if wanted is None else wanted, delivery)


def details_in(text: str | None) -> tuple[str, ...] | None:
    """The details named by --detail; None when it was not given."""
    from whygap.settings import details_named

    names = names_in(text)
    if names is None or list(names) == ["all"]:
        return None
    return details_named(tuple(name for name in names if name != "none"))


def check_redaction(redact: int | None, influence: bool) -> None:
    """Refuse what cannot be done, before any work is done."""
    from whygap.results.redaction import require_rows

    if redact is None:
        return
    require_rows(redact)
    if influence:
        raise SettingsError(
            "--influence keeps a number for every row, and --redact is for results to be shared",
            hint="Leave one of them out.",
        )


def _run(asked: StudyFile, parts: tuple[str, ...], delivery: Delivery) -> None:
    study, settings = asked.study, asked.settings
    if asked.targets:
        from whygap._explain_many import explain_many

        targets = targets_of(asked)
        check_files(delivery.output, targets)
        finished = delivery.many(explain_many(study, targets, detail=parts, settings=settings))
    else:
        from whygap._explain import explain

        finished = delivery.one(explain(study, detail=parts, settings=settings))
    if not finished:
        raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the result goes: files first, then the words; for one target or several."""

    output: Path | None
    page: Path | None
    influence: bool
    redact: int | None
    speaker: Speaker

    def one(self, gap: Gap) -> bool:
        """Deliver one result; False when Ctrl-C ended the run early."""
        from whygap._explain import was_interrupted
        from whygap.results import files

        gap = gap if self.redact is None else gap.redacted(self.redact)
        self._save(gap, self.output)
        self._report(gap)
        self.speaker.warn(warnings_of(gap))
        self.speaker.result(gap.summary(), files.to_dict(gap))
        return not was_interrupted(gap)

    def many(self, many: Gaps) -> bool:
        """Deliver several: one file each, one report for all; False when ended early."""
        from whygap._explain import was_interrupted
        from whygap.results import files

        many = many if self.redact is None else many.redacted(self.redact)
        for name, gap in many.gaps.items():
            self._save(gap, named_for(self.output, name))
            self.speaker.warn(f"{name}: {text}" for text in warnings_of(gap))
        self._report(many)
        values = {name: files.to_dict(gap) for name, gap in many.gaps.items()}
        self.speaker.result(many.summary(), values)
        return not many.unfinished and not any(map(was_interrupted, many.gaps.values()))

    def _save(self, gap: Gap, path: Path | None) -> None:
        if path is not None:
            gap.save(path, influence=self.influence)
            self.speaker.note(f"Wrote {path}")

    def _report(self, result: Gap | Gaps) -> None:
        from whygap.results.redaction import ROWS

        if self.page is not None:
            result.report(self.page, redact=ROWS if self.redact is None else None)
            self.speaker.note(f"Wrote {self.page}")


def warnings_of(gap: Gap) -> list[str]:
    """Texts of the notes that are more than information."""
    return [str(note) for note in gap.notes if note.level != "info"]


def check_files(path: Path | None, targets: Iterable[str]) -> None:
    """Refuse targets whose results would go to one file, before any work is done."""
    seen: dict[Path, str] = {}
    for name in targets:
        file = named_for(path, name)
        if file is not None and seen.setdefault(file, name) != name:
            raise InputError(
                f"Two targets would be written to one file, '{file}'",
                got=f"'{seen[file]}' and '{name}'",
                hint="Give them names that differ in more than signs and capitals.",
            )


def named_for(path: Path | None, target: str) -> Path | None:
    """`gap.json` becomes `gap-site-b.json` for the target 'site B'."""
    if path is None:
        return None
    slug = re.sub(r"[^\w]+", "-", target.lower()).strip("-") or "target"
    return path.with_name(f"{path.stem}-{slug}{path.suffix}")
