"""A `Sheet` as text (80 columns), markdown, LaTeX (booktabs) or HTML; text tables of any kind."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice

from rich.cells import cell_len as width
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

TEXT_WIDTH = 80  # columns of a terminal that nobody has made wider

Line = Sequence[str]


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under one heading, each with a cell per column of the sheet; without any, a remark."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table in words, before it takes a format."""

    title: str
    header: Line
    sections: tuple[Section, ...]
    notes: tuple[str, ...]


# -- text ----------------------------------------------------------------------------------------


def text_table(
    header: Line, rows: Sequence[Line], align: str = "", columns: int = TEXT_WIDTH
) -> str:
    """Aligned columns, one line a row, no wider than `columns`.

    Where room is short, cells of the first column lose their middle. `align` has a letter per
    column, "l" or "r"; unless given, the first is left and the others are right.
    """
    align = align or "l".ljust(len(header), "r")
    lines = [[" ".join(cell.split()) for cell in line] for line in (header, *rows)]
    others = sum(max(map(width, cells)) + 2 for cells in list(zip(*lines, strict=True))[1:])
    room = max(columns - others, 12)  # left to the names, however wide the numbers are
    made = [Column(justify="left" if side == "l" else "right", no_wrap=True) for side in align]
    table = Table(*made, box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for first, *rest in lines:
        table.add_row(*map(Text, (shorten(first, room), *rest)))
    written = StringIO()
    wide = max(columns, room + others)
    Console(file=written, width=wide, legacy_windows=False, force_jupyter=False).print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """A paragraph of 80 columns, its lines indented by `first` and `rest`."""
    return textwrap.fill(
        text, TEXT_WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )


def to_text(sheet: Sheet) -> str:
    """Aligned columns, never wider than 80."""
    rows = [line for part in sheet.sections for line in part.lines]
    table = text_table(sheet.header, rows, columns=TEXT_WIDTH - 2)
    lines = (f"  {line}".rstrip() for line in table.splitlines())
    rule = "-" * (max(map(width, table.splitlines())) + 2)
    written = [shorten(sheet.title, TEXT_WIDTH), "", next(lines)]
    for part in sheet.sections:
        title = [shorten(part.title, TEXT_WIDTH)] if part.lines else [wrapped(part.title)]
        written += [rule, *title, *islice(lines, len(part.lines))]
    for note in sheet.notes:
        written += ["", *textwrap.wrap(note, TEXT_WIDTH)]
    return "\n".join(written) + "\n"


def shorten(text: str, columns: int) -> str:
    """The text, or its beginning and its end with an ellipsis between."""
    text = " ".join(text.split())
    if width(text) <= columns:
        return text
    head, tail = (columns - 1) * 2 // 3, columns - 1 - (columns - 1) * 2 // 3
    return _fit(text, head) + "…" + _fit(text[::-1], tail)[::-1]


def _fit(text: str, columns: int) -> str:
    kept = ""
    for letter in text:
        if width(kept + letter) > columns:
            break
        kept += letter
    return kept


# -- markdown ------------------------------------------------------------------------------------


def to_markdown(sheet: Sheet) -> str:
    """A pipe table; headings of parts are rows in bold."""
    written = [f"**{_markdown(sheet.title)}**", ""]
    written += [_pipes(sheet.header), "|:---|" + "---:|" * (len(sheet.header) - 1)]
    for part in sheet.sections:
        empty = [""] * (len(sheet.header) - 1)
        written.append(_pipes((f"**{_markdown(part.title)}**", *empty)))
        written += [_pipes((_markdown(line[0]), *line[1:])) for line in part.lines]
    for note in sheet.notes:
        written += ["", _markdown(note)]
    return "\n".join(written) + "\n"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(text.split()))


# -- LaTeX ---------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
}


def escape_latex(text: str) -> str:
    """Every sign that LaTeX would read as a command, written out."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def to_latex(sheet: Sheet) -> str:
    r"""A booktabs tabular (\usepackage{booktabs}; other scripts need XeLaTeX or LuaLaTeX)."""
    columns = len(sheet.header)
    written = [rf"% {' '.join(sheet.title.split())}"]
    written += [rf"\begin{{tabular}}{{{'l'.ljust(columns, 'r')}}}", r"\toprule"]
    written.append(_latex_line(sheet.header))
    for part in sheet.sections:
        written += [
            r"\midrule",
            _latex_heading(part, columns),
            *(_latex_line(line) for line in part.lines),
        ]
    written += [r"\bottomrule", r"\end{tabular}"]
    written += [f"% {note}" for note in sheet.notes]
    return "\n".join(written) + "\n"


def _latex_heading(part: Section, columns: int) -> str:
    width = "l" if part.lines else r"p{0.9\linewidth}"
    return rf"\multicolumn{{{columns}}}{{{width}}}{{\emph{{{escape_latex(part.title)}}}}} \\"


def _latex_line(cells: Line) -> str:
    shown = [escape_latex(cell) for cell in cells]
    numbers = [re.sub(r"-(?=\d)", "$-$", cell) for cell in shown[1:]]
    return " & ".join([shown[0], *numbers]) + r" \\"


# -- HTML ----------------------------------------------------------------------------------------


def to_html(sheet: Sheet) -> str:
    """A plain table with a caption and headings that screen readers announce."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in sheet.header[1:])
    written = [
        '<table class="whygap">',
        f"<caption>{html.escape(sheet.title)}</caption>",
        f"<thead><tr><td></td>{head}</tr></thead>",
    ]
    for part in sheet.sections:
        written.append(
            f'<tbody><tr><th scope="rowgroup" colspan="{len(sheet.header)}">'
            f"{html.escape(part.title)}</th></tr>"
        )
        written += [_html_line(line) for line in part.lines]
        written.append("</tbody>")
    written.append("</table>")
    written += [f"<p>{html.escape(note)}</p>" for note in sheet.notes]
    return "\n".join(written) + "\n"


def _html_line(line: Line) -> str:
    numbers = "".join(f"<td>{html.escape(cell)}</td>" for cell in line[1:])
    return f'<tr><th scope="row"><bdi>{html.escape(line[0])}</bdi></th>{numbers}</tr>'
