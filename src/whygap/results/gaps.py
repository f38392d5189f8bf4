"""The gaps of several targets against one source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whygap.errors import require_known
from whygap.results import files
from whygap.results.finding import Finding
from whygap.results.gap import Gap
from whygap.results.redaction import ROWS
from whygap.results.targets import findings_of_targets


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gaps) and files.to_dict(self) == files.to_dict(other)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    def level(self, level: float | None = None) -> float:
        """Return a confidence level, checked; for None the level of the settings."""
        return next(iter(self.gaps.values())).level(level)

    def problems(self) -> tuple[str, ...]:
        """Return, target by target, why numbers must not be trusted as they stand."""
        return tuple(f"{name}: {text}" for name, gap in self.items() for text in gap.problems())

    def to_frame(self, level: float | None = None) -> Any:
        """Return one tidy table: `target`, then the columns of `Gap.to_frame`."""
        from whygap.render import tables

        return tables.to_frame(self, level)

    def findings(self, level: float | None = None) -> tuple[Finding, ...]:
        """Return what can be said of all targets together, then each target's own findings.

        The fact `target` of a finding names the target.

        Args:
            level: of the intervals; that of the settings unless given.
        """
        return findings_of_targets(self.gaps, self.level(level))

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

    def plot(self, ax: Any = None, level: float | None = None) -> Any:
        """Return a matplotlib figure: the change and its parts over the targets.

        Args:
            ax: the axes to draw the change on; None makes a figure with a panel per part.
            level: of the intervals; that of the settings unless given.
        """
        from whygap.render import figures

        return figures.trend_of(self, ax, level)

    def save(self, path: str | Path, *, influence: bool = False) -> Path:
        """Write versioned JSON, whole or not at all.

        Args:
            path: of the file.
            influence: keep influence values, so that arithmetic works on what is read back.
        """
        return files.save(self, path, influence=influence)

    def to_dict(self, *, influence: bool = False) -> dict[str, Any]:
        """Return what `save` writes, as plain values."""
        return files.to_dict(self, influence=influence)

    def redacted(self, rows: int = ROWS) -> Gaps:
        """Return a copy for other eyes: no level of fewer rows is named, counts are rounded."""
        return replace(self, gaps={name: gap.redacted(rows) for name, gap in self.gaps.items()})

    def report(
        self, path: str | Path, level: float | None = None, redact: int | None = ROWS
    ) -> Path:
        """Write one self-contained HTML page: all targets together, and a page for each.

        Args:
            path: of the file.
            level: of the intervals; that of the settings unless given.
            redact: name no level of fewer rows, and round counts; None shows all there is.
        """
        from whygap.render import page

        return page.write(self, path, level, redact)
