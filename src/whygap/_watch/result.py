"""The result of a watch: every target's gap, the alarms, and targets that cannot be judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw

from whygap._watch.alarms import Alarm
from whygap.errors import InputError
from whygap.render.formats import wrapped
from whygap.render.text import targets_headline
from whygap.results import Gaps
from whygap.results.gaps import findings_on_all

__all__ = ["Watch"]


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """The targets of a stream, in the order in which they were seen, and what to worry about.

    Attributes:
        gaps: target -> result.
        alarms: rules that were broken.
        newly_explained: targets that this call has explained.
        unchanged: targets whose answer was there already.
        failed: target -> why it could not be explained.
        acknowledged: targets that do not decide the exit code.
    """

    gaps: Gaps
    alarms: tuple[Alarm, ...]
    newly_explained: tuple[str, ...]
    unchanged: tuple[str, ...]
    failed: Mapping[str, str]
    acknowledged: tuple[str, ...] = ()

    @property
    def silent(self) -> dict[str, str]:
        """Targets that cannot be judged, and why: not explained, or not to be trusted."""
        problems = {name: " ".join(gap.problems()) for name, gap in self.gaps.items()}
        return {**self.failed, **{name: text for name, text in problems.items() if text}}

    @property
    def exit_code(self) -> int:
        """Return 1 if a target that is not acknowledged has an alarm or cannot be judged, or 0."""
        targets = {alarm.target for alarm in self.alarms} | set(self.silent)
        return int(not targets <= set(self.acknowledged))

    def summary(self, level: float | None = None) -> str:
        """Return the targets in a few sentences, the alarms, and what cannot be said.

        Args:
            level: of the confidence intervals; None takes the level of the settings.
        """
        counts = f"{len(self.gaps)} explained ({len(self.newly_explained)} of them now)"
        lines = [f"Targets: {counts}. Alarms: {len(self.alarms)}."]
        if len(self.gaps) > 1:
            joint = tuple(findings_on_all(self.gaps, self.gaps.level(level)))
            lines += targets_headline(self.gaps, joint)
        sentences = [(alarm.target, str(alarm)) for alarm in self.alarms]
        sentences += [(name, f"{name}: cannot say. {why}") for name, why in self.silent.items()]
        lines += [
            text + " (acknowledged)" * (name in self.acknowledged) for name, text in sentences
        ]
        return "\n".join(map(wrapped, lines)) + "\n"

    __str__ = summary

    def to_frame(self, level: float | None = None) -> Any:
        """Return every estimate in a tidy table with a column `target`.

        Args:
            level: of the confidence intervals; None takes the level of the settings.
        """
        return self.gaps.to_frame(level)

    def report(self, path: str | Path, redact: int | None = 10) -> Path:
        """Write an HTML page with the trend over all targets, and a page for each target.

        Args:
            path: of the page over all targets.
            redact: round counts to multiples of so many rows; None shows all numbers.
        """
        return self.gaps.report(path, redact=redact)

    def to_prometheus(self, path: str | Path, level: float | None = None) -> Path:
        """Write gauges for the text file collector of Prometheus: estimates, trust and alarms.

        Args:
            path: of the file to write, ending in .prom for the collector.
            level: of the confidence intervals; None takes the level of the settings.
        """
        try:
            from prometheus_client import CollectorRegistry, Gauge, write_to_textfile
        except ImportError as err:
            hint = "Install it: pip install 'whygap[prometheus]'."
            raise InputError("Metrics need prometheus_client", hint=hint) from err
        registry = CollectorRegistry()
        gauge = partial(Gauge, namespace="whygap", registry=registry)
        table = nw.from_native(self.to_frame(level), eager_only=True) if self.gaps else None
        labels = ("target", "kind", "part", "term")
        for column in ("estimate", "low", "high"):
            numbers = gauge(column, f"Of the tidy table: {column}, in units of the metric", labels)
            for row in () if table is None else table.iter_rows(named=True):
                if row["kind"] in ("change", "part", "points"):
                    numbers.labels(*(row[label] for label in labels)).set(row[column])
        trusted = gauge("trusted", "1 where the numbers of a target can be relied on", ["target"])
        for target in (*self.gaps, *self.failed):
            trusted.labels(target).set(target not in self.silent)
        names = ("target", "rule", "part", "variable")
        alarms = gauge("alarm", "1 for every rule that a target has broken", names)
        for alarm in self.alarms:
            variable = " or ".join(alarm.variables)
            alarms.labels(alarm.target, alarm.rule, alarm.part, variable).set(1)
        write_to_textfile(str(path), registry)
        return Path(path)
