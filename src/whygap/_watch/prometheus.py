"""Metrics for a board: gauges by target, in Prometheus' text format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whygap._watch.alarms import Alarm, Silence
from whygap.errors import InputError, first_line
from whygap.estimate import Estimate
from whygap.render.units import level_name
from whygap.results import Gap

__all__ = ["Board", "Family", "Sample", "families_of", "push", "text_of"]

# The largest ones of each target: a board has room for no more.
TOP_POINTS = 5
JOB = "whygap_watch"  # what a gateway groups the metrics by
SECONDS = 30.0  # a gateway that answers later is taken for dead


@dataclass(frozen=True, slots=True)
class Sample:
    """One number and its labels."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Family:
    """A gauge: what it is called, what it means, its numbers."""

    name: str
    words: str
    samples: tuple[Sample, ...]


def _alarm_labels(alarm: Alarm) -> dict[str, str]:
    variable = " or ".join(alarm.variables)
    return {"target": alarm.target, "rule": alarm.rule, "part": alarm.part, "variable": variable}


def families_of(
    gaps: Mapping[str, Gap], silences: Sequence[Silence], alarms: Sequence[Alarm], level: float
) -> tuple[Family, ...]:
    """Gap, parts, largest points and alarms of every target."""
    ends: dict[str, Callable[[Estimate], float]] = {
        "": lambda e: e.value,
        "_low": lambda e: e.interval(level)[0],
        "_high": lambda e: e.interval(level)[1],
    }
    at = level_name(level)
    words = {"": "", "_low": f", low end at {at}", "_high": f", high end at {at}"}
    asked = {
        "gap": ("Metric of the target minus metric of the source", _gaps),
        "part": ("Part of the gap, in units of the metric", _parts),
        "points": ("What a variable adds to the metric, in its units", _points),
    }
    families = [
        Family(
            f"whygap_{name}{end}",
            meaning + words[end],
            tuple(
                Sample(labels, read(estimate))
                for target, gap in gaps.items()
                for labels, estimate in found(target, gap)
            ),
        )
        for name, (meaning, found) in asked.items()
        for end, read in ends.items()
    ]
    known = [(name, not gap.problems()) for name, gap in gaps.items()]
    known += [(one.target, False) for one in silences if one.target not in gaps]
    trusted = tuple(Sample({"target": name}, float(good)) for name, good in known)
    raised = tuple(Sample(_alarm_labels(alarm), 1.0) for alarm in alarms)
    return (
        *families,
        Family("whygap_trusted", "1 where the numbers of a target can be relied on", trusted),
        Family("whygap_alarm", "1 for every rule that a target has broken", raised),
    )


def _gaps(target: str, gap: Gap) -> Iterator[tuple[dict[str, str], Estimate]]:
    yield _labels(target, gap), gap.total


def _parts(target: str, gap: Gap) -> Iterator[tuple[dict[str, str], Estimate]]:
    for part, estimate in gap.parts.items():
        yield {**_labels(target, gap), "part": part}, estimate


def _points(target: str, gap: Gap) -> Iterator[tuple[dict[str, str], Estimate]]:
    every = [
        ({**_labels(target, gap), "part": part, "variable": name}, estimate)
        for part, points in gap.points.items()
        for name, estimate in points.items()
    ]
    yield from sorted(every, key=lambda one: -abs(one[1].value))[:TOP_POINTS]


def _labels(target: str, gap: Gap) -> dict[str, str]:
    return {"target": target, "metric": gap.about.metric}


def text_of(families: Sequence[Family]) -> str:
    """The text format: HELP, TYPE, one line a number."""
    lines: list[str] = []
    for family in families:
        lines.append(f"# HELP {family.name} {_escaped(family.words)}.")
        lines.append(f"# TYPE {family.name} gauge")
        for sample in family.samples:
            labels = ",".join(
                f'{name}="{_escaped(value, quotes=True)}"' for name, value in sample.labels.items()
            )
            lines.append(f"{family.name}{{{labels}}} {_number(sample.value)}")
    return "\n".join(lines) + "\n"


def _escaped(text: str, quotes: bool = False) -> str:
    plain = text.replace("\\", r"\\").replace("\n", r"\n")
    return plain.replace('"', r"\"") if quotes else plain


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else ("+Inf" if value > 0 else "-Inf")


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """What `prometheus_client` calls a collector: registry.register(watch.board())."""

    families: tuple[Family, ...]

    def collect(self) -> Iterator[Any]:
        """The gauges as that library has them."""
        core = _client().core
        for family in self.families:
            names = list(family.samples[0].labels) if family.samples else []
            gauge = core.GaugeMetricFamily(family.name, f"{family.words}.", labels=names)
            for sample in family.samples:
                gauge.add_metric(list(sample.labels.values()), sample.value)
            yield gauge


def push(families: Sequence[Family], address: str) -> None:
    """Send them to a push gateway, in place of what it had of this job."""
    client = _client()
    registry = client.CollectorRegistry()
    registry.register(Board(tuple(families)))
    try:
        client.push_to_gateway(address, job=JOB, registry=registry, timeout=SECONDS)
    except (OSError, ValueError) as err:
        raise InputError(
            f"The metrics could not be pushed to '{address}'",
            got=first_line(err),
            hint="Is a gateway there, such as http://localhost:9091? What was computed is kept.",
        ) from err


def _client() -> Any:
    try:
        import prometheus_client
        import prometheus_client.core
    except ImportError as err:
        hint = "Install it: pip install 'whygap[prometheus]'."
        raise InputError("Pushing metrics needs prometheus_client", hint=hint) from err
    return prometheus_client
