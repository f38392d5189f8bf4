"""The main path of watching: plan, lock, what is missing, what it all says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import joblib

from whygap._version import ENGINE
from whygap._watch.alarms import Silence, judge
from whygap._watch.folder import Folder, digest_of
from whygap._watch.learners import Learners
from whygap._watch.lock import locked
from whygap._watch.outcome import Watch
from whygap._watch.plan import Plan, Target, plan_of
from whygap._watch.prometheus import push as push_to
from whygap._watch.rules import Alerts, read_alerts
from whygap._watch.work import Answer, Work, answers
from whygap.errors import InputError, SettingsError, listed
from whygap.results import Gap
from whygap.results.redaction import require_rows
from whygap.settings import Settings, details_named
from whygap.study import Study

__all__ = ["watch"]

# Settings that say how a run goes, not what it finds: each target runs in one process.
_OUR_OWN: dict[str, Any] = {
    "n_jobs": 1,
    "progress": False,
    "checkpoint": None,
    "backend": "local",
    "address": None,
}


def watch(
    study: Study,
    targets: Mapping[str, Any] | str | Path | None = None,
    *,
    by: str | Sequence[str] | None = None,
    into: str | Path = "watch",
    detail: Sequence[str] | str = ("points", "where"),
    settings: Settings | None = None,
    rules: Any = None,
    jobs: int = 1,
    push: str | None = None,
    redact: int | None = None,
) -> Watch:
    """Explain a stream of targets against one source, each once, and raise alarms.

    What is done is kept in a folder; a run that was killed goes on where it was, and a run with new
    targets explains only these. The folder has one JSON file per target (`gaps/`), everything as
    one table (`all.parquet`), a page (`trend.html`) and metrics for Prometheus (`metrics.prom`).

    Args:
        study: the source, the roles and the metric; its own target is used with `by`, or alone.
        targets: name -> table (or path); or a folder or glob of files, one a target; or with `by`
            the table that holds them all.
        by: column whose values name the targets, such as the month; several columns together.
        into: the folder.
        detail: what is asked beyond the parts, as for `explain`.
        settings: how to run; `Settings()` unless given.
        rules: when to raise an alarm: a TOML file, or a mapping of the same form.
        jobs: how many targets are explained side by side.
        push: address of a Prometheus push gateway that gets the metrics, too.
        redact: name no level of fewer rows than this in anything that is kept or said.

    Returns:
        The gaps, the alarms, and the targets of which nothing can be said.
    """
    study, settings = Study.given(study, "watch"), Settings.given(settings)
    _check(jobs, redact)
    asked, run = details_named(detail), replace(settings, **_OUR_OWN)
    alerts, plan = _alerts(rules, asked), plan_of(study, targets, by)
    work = Work(_base(plan, asked, run, redact), plan.study, asked, run, redact)
    with locked((folder := Folder.at(into)).path):
        found = _watched(folder, plan.targets, work, alerts, jobs)
    if push is not None:
        push_to(found.board().families, push)
    return found


def _check(jobs: Any, redact: Any) -> None:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise SettingsError("jobs= must be a whole number from 1", got=repr(jobs))
    if redact is not None:
        require_rows(redact)


def _alerts(rules: Any, details: Sequence[str]) -> Alerts:
    """The rules; one on a variable can only be judged by points: else it would count as kept."""
    alerts = read_alerts(rules)
    rule = next((one for one in alerts.rules if one.variable), None)
    if rule is not None and "points" not in details:
        raise InputError(
            f"The rule '{rule.name}' is about the points of '{rule.variable}', which are not asked "
            "for",
            got=f"the details {listed(details)}" if details else "no details",
            hint="Add 'points' to the details, or leave out the rule.",
        )
    return alerts


def _watched(
    folder: Folder, targets: Sequence[Target], work: Work, alerts: Alerts, jobs: int
) -> Watch:
    """Explain what is missing, judge everything, write it down."""
    folder.sweep()
    looks = folder.count_looks(targets)
    missing = [one for one in targets if not folder.done(one, work.base)]
    folder.log(f"{len(targets)} targets, {len(missing)} to explain")
    _explain(folder, work, targets, missing, jobs)
    found = _collected(folder, looks, work, alerts)
    found = replace(found, fresh=tuple(one.name for one in missing if one.name in found.gaps))
    found.write()
    folder.log(f"done, code {found.code}")
    return found


def _explain(
    folder: Folder, work: Work, targets: Sequence[Target], missing: Sequence[Target], jobs: int
) -> None:
    """The first target chooses the learners of what depends on the source alone."""
    if not missing:
        return
    kept = folder.read_json("learners.json")
    learners = Learners(**kept) if kept and kept["base"] == work.base else None
    waiting = list(missing)
    for target in () if learners else targets:
        learners = _keep(folder, work, next(answers(work, [target], 1)))
        waiting = [one for one in waiting if one is not target]
        if learners is not None:
            break
    for answer in answers(replace(work, learners=learners), waiting, jobs):
        _keep(folder, work, answer)


def _keep(folder: Folder, work: Work, answer: Answer) -> Learners | None:
    target = answer.target
    if answer.learners is not None:
        folder.write_json("learners.json", asdict(answer.learners))
    folder.keep(target, work.base, answer.text, answer.problem)
    said = "cannot be explained" if answer.problem else "explained"
    folder.log(f"'{target.name}' {said} in {answer.seconds:.1f} s")
    return answer.learners


def _base(plan: Plan, detail: Sequence[str], settings: Settings, redact: int | None) -> str:
    """A digest of everything that decides what is kept, but the target."""
    study = plan.study
    roles = {name: getattr(study.roles, name) for name in study.roles.__slots__ if name != "notes"}
    asked = {name: str(getattr(study.asked, name)) for name in study.asked.__dataclass_fields__}
    said: dict[str, object] = {"order": study.order, "names": [study.source_name], "engine": ENGINE}
    said |= {"roles": str(sorted(roles.items())), "asked": asked, "model": _model(study.model)}
    said |= {"settings": str(sorted(settings.to_mapping().items()))}
    said |= {} if redact is None else {"redact": redact}
    return digest_of({**said, "detail": list(detail), "source": plan.source})


def _model(model: Any) -> str:
    if isinstance(model, str | Path) and Path(model).is_file():
        return digest_of(Path(model).read_bytes().hex())
    return "" if model is None else str(joblib.hash(model))


def _collected(folder: Folder, looks: Mapping[str, int], work: Work, alerts: Alerts) -> Watch:
    """Everything that was made by this analysis, also of targets that are not offered any more."""
    gaps: dict[str, Gap] = {}
    silences: list[Silence] = []
    for name in sorted(looks, key=looks.__getitem__):
        state = folder.state(name)
        if state is None or state.base != work.base:
            continue
        if state.problem:
            silences.append(Silence(name, state.problem))
            continue
        gaps[name] = folder.gap(name)
        if problems := gaps[name].problems():
            silences.append(Silence(name, " ".join(problems)))
    alarms = judge(alerts, gaps, looks)
    known, level = alerts.acknowledged, work.settings.level
    return Watch(folder.path, gaps, alarms, tuple(silences), known, level=level)
