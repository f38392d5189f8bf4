"""A `Sheet` as text (80 columns), markdown, LaTeX (booktabs) or HTML."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Protocol

__all__ = ["escape_latex", "to_html", "to_latex", "to_markdown", "to_text", "width"]

TEXT_WIDTH = 80
Line = tuple[str, str, str, str]


class SectionLike(Protocol):
    """Lines under one heading."""

    @property
    def title(self) -> str:
        """The heading."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """Term, estimate, standard error, interval."""


class SheetLike(Protocol):
    """What every format writes."""

    @property
    def title(self) -> str:
        """One line above the table."""

    @property
    def header(self) -> Line:
        """Column names."""

    @property
    def sections(self) -> Sequence[SectionLike]:
        """The table's parts."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said below it."""


# -- text ----------------------------------------------------------------------------------------


def to_text(sheet: SheetLike) -> str:
    """Aligned columns, never wider than 80."""
    lines = [sheet.header, *(line for part in sheet.sections for line in part.lines)]
    widths = [max(width(line[k]) for line in lines) for k in range(4)]
    widths[0] = min(max(widths[0], 12), TEXT_WIDTH - sum(widths[1:]) - 8)
    written = [shorten(sheet.title, TEXT_WIDTH), "", _text_line(sheet.header, widths)]
    for part in sheet.sections:
        written += ["-" * _total(widths), shorten(part.title, TEXT_WIDTH)]
        written += [_text_line(line, widths) for line in part.lines]
    for note in sheet.notes:
        written += ["", *textwrap.wrap(note, TEXT_WIDTH)]
    return "\n".join(written) + "\n"


def _text_line(line: Line, widths: Sequence[int]) -> str:
    term = shorten(line[0], widths[0])
    cells = [term + " " * (widths[0] - width(term))]
    cells += [" " * (w - width(cell)) + cell for cell, w in zip(line[1:], widths[1:], strict=True)]
    return ("  " + "  ".join(cells)).rstrip()


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * len(widths)


def width(text: str) -> int:
    """Columns a terminal gives the text: two for wide letters, none for combining marks."""
    return sum(
        0
        if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Mn")
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


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


def to_markdown(sheet: SheetLike) -> str:
    """A pipe table; headings of parts are rows in bold."""
    written = [f"**{_markdown(sheet.title)}**", ""]
    written += [_pipes(sheet.header), "|:---|---:|---:|---:|"]
    for part in sheet.sections:
        written.append(_pipes((f"**{_markdown(part.title)}**", "", "", "")))
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


def to_latex(sheet: SheetLike) -> str:
    r"""A booktabs tabular (\usepackage{booktabs}; other scripts need XeLaTeX or LuaLaTeX)."""
    written = [rf"% {' '.join(sheet.title.split())}", r"\begin{tabular}{lrrr}", r"\toprule"]
    written.append(_latex_line(sheet.header))
    for part in sheet.sections:
        written += [
            r"\midrule",
            rf"\multicolumn{{4}}{{l}}{{\emph{{{escape_latex(part.title)}}}}} \\",
            *(_latex_line(line) for line in part.lines),
        ]
    written += [r"\bottomrule", r"\end{tabular}"]
    written += [f"% {note}" for note in sheet.notes]
    return "\n".join(written) + "\n"


def _latex_line(cells: Line) -> str:
    shown = [escape_latex(cell) for cell in cells]
    numbers = [re.sub(r"-(?=\d)", "$-$", cell) for cell in shown[1:]]
    return " & ".join([shown[0], *numbers]) + r" \\"


# -- HTML ----------------------------------------------------------------------------------------


def to_html(sheet: SheetLike) -> str:
    """A plain table with a caption and headings that screen readers announce."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in sheet.header[1:])
    written = [
        '<table class="whygap">',
        f"<caption>{html.escape(sheet.title)}</caption>",
        f"<thead><tr><td></td>{head}</tr></thead>",
    ]
    for part in sheet.sections:
        written.append(
            f'<tbody><tr><th scope="rowgroup" colspan="4">{html.escape(part.title)}</th></tr>'
        )
        written += [_html_line(line) for line in part.lines]
        written.append("</tbody>")
    written.append("</table>")
    written += [f"<p>{html.escape(note)}</p>" for note in sheet.notes]
    return "\n".join(written) + "\n"


def _html_line(line: Line) -> str:
    numbers = "".join(f"<td>{html.escape(cell)}</td>" for cell in line[1:])
    return f'<tr><th scope="row"><bdi>{html.escape(line[0])}</bdi></th>{numbers}</tr>'
