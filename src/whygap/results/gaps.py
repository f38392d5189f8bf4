"""The gaps of several targets against one source, and what can be said of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whygap.errors import require_known
from whygap.estimate import Estimate
from whygap.results import files
from whygap.results.finding import Finding
from whygap.results.gap import Gap
from whygap.results.redaction import ROWS


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gaps(Mapping[str, Gap]):
    """The gaps of several targets, by name.

    Attributes:
        gaps: target name -> gap, in the order the targets were given.
        unfinished: targets left out because the run was interrupted.
    """

    gaps: Mapping[str, Gap]
    unfinished: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Gap:
        require_known(name, self.gaps, f"There is no target named '{name}'", "Targets")
        return self.gaps[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the gap of a name, or the default."""
        return self.gaps.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self.gaps

    def __iter__(self) -> Iterator[str]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    def __eq__(self, result: object) -> bool:
        return isinstance(result, Gaps) and files.to_dict(self) == files.to_dict(result)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    def level(self, level: float | None = None) -> float:
        """Return a confidence level, checked; for None the level of the settings."""
        return next(iter(self.gaps.values())).level(level)

    def problems(self) -> tuple[str, ...]:
        """Return, target by target, why numbers must not be trusted."""
        return tuple(f"{name}: {text}" for name, gap in self.items() for text in gap.problems())

    def findings(self, level: float | None = None) -> tuple[Finding, ...]:
        """Return what can be said of all targets, then the findings of each target.

        Every finding has the fact `target`; of statements on all targets it is empty.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        level = self.level(level)
        joint = findings_on_all(self.gaps, level) if len(self) > 1 else ()
        single = [f.knowing(target=n) for n, gap in self.items() for f in gap.findings(level)]
        return (*joint, *single)

    def to_frame(self, level: float | None = None) -> Any:
        """Return a tidy table: `target`, then the columns of `Gap.to_frame`."""
        from whygap.render import tables

        return tables.to_frame(self, level)

    def summary(self, level: float | None = None) -> str:
        """Return plain words: all targets in a sentence, then a section for each."""
        from whygap.render import text

        return text.targets_summary(self.gaps, self.findings(level), self.unfinished)

    def __str__(self) -> str:
        return "\n\n".join(f"{name}: {gap}" for name, gap in self.gaps.items())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from whygap.render import page

        return page.notebook(self)

    save = files.save
    to_dict = files.to_dict

    def plot(self, ax: Any = None, level: float | None = None) -> Any:
        """Return a matplotlib figure: the change and the parts over the targets.

        Args:
            ax: the axes to draw the change on; None makes a figure with a panel per part.
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import figures

        return figures.trend_of(self, ax, level)

    def redacted(self, rows: int = ROWS) -> Gaps:
        """Return a copy that names no level of fewer rows, with rounded counts."""
        return replace(self, gaps={name: gap.redacted(rows) for name, gap in self.gaps.items()})

    def report(
        self, path: str | Path, level: float | None = None, redact: int | None = ROWS
    ) -> Path:
        """Write a self-contained HTML page: all targets together, and a section for each.

        Args:
            path: of the file.
            level: of the intervals; that of the settings unless given.
            redact: name no level of fewer rows, and round counts; None shows all there is.
        """
        from whygap.render import page

        return page.write(self, path, level, redact)


# -- findings on several targets -------------------------------------------------------------------

# Kinds of statements on several targets together; others are on one target
JOINT_KINDS = ("target_change", "target_part", "part_in_targets")


def findings_on_all(gaps: Mapping[str, Gap], level: float) -> Iterator[Finding]:
    """Yield what can be said of all targets: where the metric moved, and through what.

    Args:
        gaps: target name -> gap.
        level: of the intervals, which hold for all targets at once.
    """
    changes = _series("target_change", "", {n: gap.total for n, gap in gaps.items()}, level)
    significant = [f for f in changes if f.significant]
    largest = max(significant, key=lambda f: abs(f.value), default=None)
    yield from (f.knowing(most=f is largest) for f in changes)
    longest_first = sorted((list(gap.parts) for gap in gaps.values()), key=len, reverse=True)
    for name in dict.fromkeys(name for parts in longest_first for name in parts):
        parts = {n: gap.parts[name] for n, gap in gaps.items() if name in gap.parts}
        series = _series("target_part", name, parts, level)
        yield from series
        counts = {"n_significant": sum(f.significant for f in series), "n_targets": len(gaps)}
        facts = counts | {"label": next(iter(parts.values())).label, "target": ""}
        yield Finding("part_in_targets", name, level=level, facts=facts)


def _series(kind: str, part: str, estimates: Mapping[str, Estimate], level: float) -> list[Finding]:
    """Return a finding per target, with intervals that hold for all targets at once.

    Each has the level whose power is `level` (Sidak): of jointly normal estimates that is enough,
    however they are correlated, as they are through the source they share.
    """
    single = level ** (1 / len(estimates))
    return [
        Finding(kind, part, "", "", e, e.interval(single), level, {"target": name})
        for name, e in estimates.items()
    ]
