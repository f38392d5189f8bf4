"""Which state of the code made a number: a digest that comments and docstrings do not change.

Kept replicates and kept analyses carry it, so that a page can say whether all of them were made by
one and the same engine.
"""

from __future__ import annotations

import hashlib
import io
import tokenize
from functools import cache
from pathlib import Path

__all__ = ["ENGINE", "REPLICATE", "WORLDS", "code_digest"]

SOURCE = Path(__file__).absolute().parents[1]
ENGINE = (
    "detail.py",
    "equations",
    "estimate.py",
    "fieller.py",
    "learning",
    "losses.py",
    "nuisances",
    "shapley",
    "valuation.py",
)
"""What decides an estimate, given a design and settings."""
WORLDS = ("simulate",)
"""What decides a truth."""
REPLICATE = ENGINE + WORLDS
"""What decides a replicate."""

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@cache
def code_digest(rooms: tuple[str, ...] = ENGINE) -> str:
    """Eight digits for the code of these files and folders of whygap."""
    digest = hashlib.sha256()
    for room in rooms:
        place = SOURCE / room
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(f"{path.relative_to(SOURCE).as_posix()}\n".encode())
            digest.update(_code(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:8]


def _code(text: str) -> str:
    """The tokens that do something; a string that stands alone on its line is a docstring."""
    kept: list[str] = []
    at_start, depth, start = True, 0, (0, 0)
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":  # one token until Python 3.11, many since
            start = start if depth else token.start
            depth += 1
        elif kind == "FSTRING_END":
            depth -= 1
            if depth == 0 and not at_start:
                kept.append(_between(lines, start, token.end))
        elif depth == 0 and token.type not in _LAYOUT:
            kept += [] if token.type == tokenize.STRING and at_start else [token.string]
        if depth == 0:
            at_start = token.type in _LAYOUT
    return "".join(kept)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Source text from one place to another."""
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    middle = lines[first : last - 1]
    return "".join([lines[first - 1][left:], *middle, lines[last - 1][:right]])
