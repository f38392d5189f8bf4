"""Drawn charts as files, and as SVG within a page."""

import io
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl

from whygap.errors import InputError
from whygap.render.figures import DecompositionDisplay, IntervalsDisplay, TrendDisplay
from whygap.render.formats import visible
from whygap.render.style import COLOURS, TEXT
from whygap.results import files

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
PIXELS_PER_INCH = 200  # of a PNG: sharp in print at twice the size of the screen
VARIABLES = {colour: f"var(--{name.replace('_', '-')})" for name, colour in COLOURS.items()}


def image(figure: Any, kind: str) -> bytes:
    """Return a figure as the content of a file; equal figures give equal bytes.

    Args:
        figure: of matplotlib.
        kind: "svg", "png" or "pdf".
    """
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    options: Any = {"svg.fonttype": "none", "svg.hashsalt": "whygap", "pdf.fonttype": 42}
    buffer = io.BytesIO()
    with mpl.rc_context(options), warnings.catch_warnings():
        # A letter that no installed font has is drawn as a box; SVG keeps the letter
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format=kind, metadata=metadata, dpi=PIXELS_PER_INCH)
    return buffer.getvalue()


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure as .svg, .png or .pdf, whole or not at all."""
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "pdf"):
        message = "A figure is written as .svg, .png or .pdf"
        raise InputError(message, got=repr(path.name), hint="Try gap.svg.")
    return files.write_bytes(path, image(figure, kind))


Display = DecompositionDisplay | IntervalsDisplay | TrendDisplay


def svg(display: Display, label: str, prefix: str, links: Mapping[str, str] | None = None) -> str:
    """Return a display as SVG to be inlined in a page.

    Colours become CSS variables, fonts the page's, and the width that of the container. Bars say
    their numbers when pointed at.

    Args:
        display: drawn or not.
        label: what the chart shows, for readers of the screen.
        prefix: of ids, unique on the page.
        links: part -> address.
    """
    if display.figure_ is None:
        display.plot()
    display.figure_.patch.set_visible(False)
    root = ET.fromstring(image(display.figure_, "svg"))  # noqa: S314 - matplotlib wrote it
    rows = [] if isinstance(display, TrendDisplay) else display.rows
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "clipPath", "style"):
                parent.remove(child)
        parent.tail = None
        if parent.tag != f"{{{SVG}}}text":
            parent.text = None
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
        place = re.fullmatch(r"row(\d+)", node.get("id", ""))
        _tidy(node, prefix)
        if place:
            _describe(node, rows[int(place.group(1))], links or {})
    role = "group" if links else "img"
    box = root.get("viewBox", "")
    root.attrib = {"class": "chart", "role": role, "aria-label": visible(label), "viewBox": box}
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _tidy(node: ET.Element, prefix: str) -> None:
    """Rewrite ids, references, colours and fonts for a page; round coordinates."""
    if node.tag == "g":
        node.attrib.pop("id", None)
    if "id" in node.attrib:
        node.set("id", f"{prefix}-{node.get('id')}")
    if HREF in node.attrib:
        node.set("href", f"#{prefix}-{node.attrib.pop(HREF)[1:]}")
    node.attrib.pop("clip-path", None)
    for name in ("d", "x", "y", "transform"):
        if name in node.attrib:
            short = re.sub(r"(\.\d)\d+", r"\1", node.get(name, ""))
            node.set(name, " ".join(short.replace("\n", " ").split()))
    style = node.get("style", "")
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, variable)
    style = re.sub(r"font: ((?:bold )?)[^;]*", rf"font-size: {TEXT:g}px; font-weight: \1", style)
    pairs = [pair.strip().split(": ", 1) for pair in style.split(";")]
    if style:
        texts = [f"{p[0]}:{p[1]}" for p in pairs if len(p) == 2 and p[0] != "font-family"]
        node.set("style", ";".join(texts))


def _describe(node: ET.Element, row: Any, links: Mapping[str, str]) -> None:
    """Add the row's numbers to the bar, and a link."""
    text = f"{row.name}: {row.numbers}"
    node.set("class", "bar")
    if row.part in links:
        link = ET.Element("a", {"href": links[row.part], "aria-label": text})
        link.extend(list(node))
        for child in list(node):
            node.remove(child)
        node.append(link)
        node = link
    title = ET.Element("title")
    title.text = text
    node.insert(0, title)
