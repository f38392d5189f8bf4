"""Plain text: paragraphs and aligned tables in 80 columns, and names that are safe to show."""

import textwrap
from collections.abc import Sequence
from io import StringIO

from rich.cells import cell_len as width
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

TEXT_WIDTH = 80  # columns of a terminal that nobody has made wider
MIN_NAME_WIDTH = 12  # columns left to names, however wide the numbers are
# Control characters as their pictures; marks that turn the direction of text as a replacement
PICTURES: dict[int, int] = {code: 0x2400 + code for code in range(32)}
PICTURES |= {9: 0x20, 10: 0x20, 13: 0x20, 127: 0x2421}
PICTURES |= dict.fromkeys([*range(128, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 65533)


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: str = "",
    columns: int = TEXT_WIDTH,
) -> str:
    """Return aligned columns, a line per row; long cells of the first column are shortened.

    Args:
        header: a cell per column.
        rows: a cell per column in each.
        align: a letter per column, "l" or "r"; unless given, "l" first and "r" for the rest.
        columns: width of the whole table.
    """
    align = align or "l".ljust(len(header), "r")
    lines = [[" ".join(cell.split()) for cell in line] for line in (header, *rows)]
    numbers = sum(max(map(width, cells)) + 2 for cells in list(zip(*lines, strict=True))[1:])
    names = max(columns - numbers, MIN_NAME_WIDTH)
    sides = [Column(justify="left" if side == "l" else "right", no_wrap=True) for side in align]
    table = Table(*sides, box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for name, *numbers_ in lines:
        table.add_row(*map(Text, (shorten(name, names), *numbers_)))
    output = StringIO()
    wide = max(columns, names + numbers)
    Console(file=output, width=wide, legacy_windows=False, force_jupyter=False).print(table)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines())


def wrapped(text: str, first: str = "", later: str = "") -> str:
    """Return a paragraph of 80 columns, with lines indented by `first`, then `later`.

    Args:
        text: the paragraph.
        first: indent of the first line.
        later: indent of later lines.
    """
    return textwrap.fill(
        text, TEXT_WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )


def shorten(text: str, columns: int) -> str:
    """Return a text with an ellipsis in the middle where the text is wider than `columns`.

    Args:
        text: the text.
        columns: the width at most.
    """
    text = " ".join(text.split())
    if width(text) <= columns:
        return text
    head = (columns - 1) * 2 // 3
    return _fit(text, head) + "…" + _fit(text[::-1], columns - 1 - head)[::-1]


def _fit(text: str, columns: int) -> str:
    fitting = ""
    for letter in text:
        if width(fitting + letter) > columns:
            break
        fitting += letter
    return fitting


def visible(text: str) -> str:
    """Return a text whose control characters can be seen and change nothing."""
    return text.translate(PICTURES)
