"""What a step of GitHub Actions shows: Markdown in its summary, warnings beside the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from whygap._watch.outcome import Watch
from whygap.errors import ResultError
from whygap.estimate import Estimate
from whygap.render.units import level_name
from whygap.results import Gap

__all__ = ["append_summary", "markdown", "warning_lines"]

PARTS = ("baseline", "covariate", "outcome")


def markdown(found: Watch) -> str:
    """Alarms first, then a table with a line for every target."""
    lines = [f"## whygap watch: {_headline(found)}", ""]
    lines += [f"- {_plain(str(one))}" for one in (*found.alarms, *found.silences)]
    if found.gaps:
        gap_head = f"gap ({level_name(found.level)} interval)"
        head = " | ".join(("target", gap_head, *PARTS))
        lines += ["", f"| {head} |", f"|{'---|' * (2 + len(PARTS))}"]
        lines += [
            f"| {' | '.join(_cells(name, gap, found.level))} |" for name, gap in found.gaps.items()
        ]
    return "\n".join(lines) + "\n"


def warning_lines(found: Watch) -> Iterator[str]:
    """One workflow command for every alarm and every target of which nothing can be said."""
    for alarm in found.alarms:
        yield f"::warning title=whygap {_property(alarm.rule)}::{_message(str(alarm))}"
    for silence in found.silences:
        yield f"::warning title=whygap cannot say::{_message(str(silence))}"


def append_summary(path: str, text: str) -> None:
    """Behind what other steps have written."""
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as err:
        raise ResultError(f"The step summary '{path}' cannot be written", got=err.strerror) from err


def _headline(found: Watch) -> str:
    if found.alarms:
        return f"{len(found.alarms)} alarm{'s' * (len(found.alarms) > 1)}"
    return "cannot say" if found.silences else "fine"


def _cells(name: str, gap: Gap, level: float) -> Iterator[str]:
    yield _plain(name)
    parts = gap.parts
    for estimate in (gap.total, *(parts.get(part) for part in PARTS)):
        yield _said(estimate, gap.about.is_share, level)


def _said(estimate: Estimate | None, is_share: bool, level: float) -> str:
    if estimate is None:
        return ""
    scale = 100 if is_share else 1  # points, where the metric is a share
    low, high = (scale * end for end in estimate.interval(level))
    spec = "z.1f" if is_share else "z.3g"  # z: no "-0.0"
    return f"{scale * estimate.value:{spec}} ({low:{spec}} to {high:{spec}})"


def _plain(text: str) -> str:
    """Nothing that Markdown or HTML would take for a sign."""
    for sign, safe in {"&": "&amp;", "<": "&lt;", "|": "\\|", "`": "\\`", "\n": " "}.items():
        text = text.replace(sign, safe)
    return text


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
