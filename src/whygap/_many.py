"""The gaps of several targets against one source: one table, one report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from whygap.errors import SettingsError, require_known
from whygap.render import frame, several, words
from whygap.render.formats import wrapped
from whygap.render.report import notebook_many, write_many
from whygap.results import Gap
from whygap.results.redaction import FEW
from whygap.tables import native_table


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """The gaps of several targets, by name."""

    gaps: Mapping[str, Gap]  # target name -> its explanation, in the order the targets were given
    unfinished: tuple[str, ...] = ()  # targets left out because you interrupted the run

    def __getitem__(self, name: str) -> Gap:
        require_known(name, self.gaps, f"There is no target named '{name}'", "Targets")
        return self.gaps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    def to_frame(self, level: float = 0.95) -> Any:
        """One tidy table: `target`, the columns of `Gap.to_frame`, and why not to rely on them."""
        lines = [(name, row) for name, gap in self.gaps.items() for row in frame.rows(gap, level)]
        columns: dict[str, list[Any]] = {"target": [name for name, _ in lines]}
        for field in fields(frame.Row):
            columns[field.name] = [getattr(row, field.name) for _, row in lines]
        problems = {name: " ".join(gap.problems()) for name, gap in self.gaps.items()}
        columns["problems"] = [problems[name] for name, _ in lines]
        return native_table(columns, next(iter(self.gaps.values())).table_kind)

    def summary(self, level: float | None = None) -> str:
        """Plain words: all targets in a sentence, then a section for each."""
        shown = words.chosen_level(next(iter(self.gaps.values())), level)
        told = several.many_sentences(self.gaps, shown) if len(self) > 1 else []
        sections = ["\n".join(map(wrapped, told))] if told else []
        sections += [
            f"{name}\n{'=' * len(name)}\n{gap.summary(level).rstrip()}"
            for name, gap in self.gaps.items()
        ]
        if self.unfinished:
            sections.append(f"Not finished, because you interrupted: {', '.join(self.unfinished)}.")
        return "\n\n".join(sections) + "\n"

    def __str__(self) -> str:
        return "\n\n".join(f"{name}: {gap}" for name, gap in self.gaps.items())

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return next(iter(self.gaps.values()))._repr_html_()
        return notebook_many(self.gaps)

    def plot(self, what: str = "trend", level: float | None = None, **options: Any) -> Any:
        """A matplotlib figure: the change, its parts and the points over the targets."""
        from whygap.render.trend_figure import trend_figure

        if what != "trend":
            raise SettingsError(
                f"Several targets have no figure '{what}'",
                hint=f"many.plot() draws their trend, many['...'].plot({what!r}) one of them.",
            )
        shown = words.chosen_level(next(iter(self.gaps.values())), level)
        return trend_figure(self.gaps, shown, **options)

    def redacted(self, few: int = FEW) -> Many:
        """The same without levels of fewer rows than `few`, and with counts rounded."""
        return replace(self, gaps={name: gap.redacted(few) for name, gap in self.gaps.items()})

    def report(
        self, path: str | Path, level: float | None = None, redact: int | None = FEW
    ) -> Path:
        """Write one self-contained HTML page: all targets together, and a page for each."""
        return write_many(self.gaps, path, level, redact)
