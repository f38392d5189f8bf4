"""What a watch has found: every target's gap, alarms, and those of which nothing can be said."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from whygap._watch.alarms import Alarm, Silence
from whygap._watch.prometheus import Board, families_of, text_of
from whygap.errors import require_known
from whygap.render.formats import wrapped
from whygap.results import Gap, Gaps, files

__all__ = ["ALARM", "CANNOT_SAY", "FINE", "Watch"]

FINE, ALARM, CANNOT_SAY = 0, 1, 4  # exit codes; 2 and 3 are errors, the user's and ours


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """The targets of a stream, looked at one after the other.

    Attributes:
        folder: where everything is kept.
        gaps: target -> its explanation, in the order of looks.
        alarms: rules that were broken.
        silences: targets of which nothing can be said, and why.
        acknowledged: targets that are known about: they do not decide the `code`.
        fresh: targets that were explained by this call; the others were there already.
    """

    folder: Path
    gaps: Mapping[str, Gap]
    alarms: tuple[Alarm, ...] = ()
    silences: tuple[Silence, ...] = ()
    acknowledged: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    level: float = 0.95

    def __getitem__(self, name: str) -> Gap:
        require_known(name, self.gaps, f"There is no result for a target '{name}'", "Targets")
        return self.gaps[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    @property
    def code(self) -> int:
        """0 fine, 1 an alarm, 4 a target of which nothing can be said (and no alarm)."""
        if any(alarm.target not in self.acknowledged for alarm in self.alarms):
            return ALARM
        if any(one.target not in self.acknowledged for one in self.silences):
            return CANNOT_SAY
        return FINE

    @property
    def many(self) -> Gaps:
        """The gaps as `explain_many` gives them."""
        return Gaps(self.gaps)

    def to_frame(self, level: float = 0.95) -> Any:
        """One tidy table with a column `target`."""
        return self.many.to_frame(level)

    def board(self) -> Board:
        """A collector for `prometheus_client`."""
        return Board(families_of(self.gaps, self.silences, self.alarms, self.level))

    def summary(self) -> str:
        """Plain words: how many, which alarms, what cannot be said."""
        targets, alarms = _counted(len(self.gaps), "target"), _counted(len(self.alarms), "alarm")
        lines = [f"{targets} explained ({len(self.fresh)} of them now), {alarms}."]
        found: tuple[Alarm | Silence, ...] = (*self.alarms, *self.silences)
        for one in found:
            known = " (acknowledged)" if one.target in self.acknowledged else ""
            lines.append(wrapped(f"{one}{known}"))
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.summary()

    def write(self) -> None:
        """The table of everything, the page and the metrics, each whole or not at all."""
        files.write_whole(self.folder / "metrics.prom", text_of(self.board().families))
        if not self.gaps:
            return
        files.write_bytes(self.folder / "all.parquet", _parquet(self.to_frame(self.level)))
        self.many.report(self.folder / "trend.html", self.level)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _parquet(frame: Any) -> bytes:
    table = nw.from_native(frame, eager_only=True).to_arrow()
    plain = pa.table({name: table[name] for name in table.column_names})  # no pandas metadata
    file = io.BytesIO()
    pa_parquet.write_table(plain, file)
    return file.getvalue()
