"""Notes and reasons without values of rows and exact counts, as long as they are sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from whygap.results.overlap import Separator
from whygap.tables.design import Note

COUNTS = re.compile(
    r"\b\d[\d,]*(?= (?:of [\d,]+ )?(?:source |target )?(?:rows|clusters)\b)"
    r"|(?<=rows \()\d[\d,]*(?=\))"
)
PERCENT = re.compile(r"(\d (?:source |target )?(?:rows|clusters)) \([\d.]+%\)")


def redacted_note(note: Note, rows: int) -> Note:
    """Return a note that names no value, with rounded counts of rows."""
    return Note(note.level, _counts_rounded(note.unnamed or note.text, rows))


def redacted_reason(reason: str, separators: Sequence[Separator], rows: int) -> str:
    """Return why tables cannot be compared, without values, with rounded counts of rows."""
    for separator in separators:
        reason = reason.replace(str(separator), str(separator.unnamed))
    return _counts_rounded(reason, rows)


def _counts_rounded(text: str, rows: int) -> str:
    """Counts as multiples of `rows`; a percentage would give them away."""

    def count(match: re.Match[str]) -> str:
        number = int(match[0].replace(",", ""))
        if number < rows:
            return f"fewer than {rows}"
        return f"about {rows * math.floor(number / rows + 0.5):,.0f}"

    return COUNTS.sub(count, PERCENT.sub(r"\1", text))
