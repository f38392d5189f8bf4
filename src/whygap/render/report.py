"""One self-contained HTML page: no network, aggregates only, readable by a stranger."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whygap.errors import large, require_level
from whygap.render import phrases, table
from whygap.render.formats import shorten
from whygap.render.page import page_of
from whygap.render.phrases import joined, metric_name
from whygap.render.trend import several_page
from whygap.render.units import count, level_name, squared_error_units, with_minus
from whygap.render.words import ASSOCIATION
from whygap.results import Gap, files
from whygap.results.redaction import ROWS
from whygap.results.several import require_alike


def write(gap: Gap, path: str | Path, level: float | None = None) -> Path:
    """Write the page of one result."""
    files.require_ending(path, ".html")
    return files.write_whole(path, html({"": gap}, gap.level(level)))


def write_many(
    gaps: Mapping[str, Gap],
    path: str | Path,
    level: float | None = None,
    redact: int | None = ROWS,
) -> Path:
    """Write one page: all targets together, and a page for each inside it.

    The results may come from `explain_many`, or from files: `{name: wg.load(path), ...}`. They
    stand in the order given; of months that is their order in time. As in every report, no level
    of fewer than `redact` rows is named.
    """
    files.require_ending(path, ".html")
    require_alike(gaps)
    shown = gaps if redact is None else {name: gap.redacted(redact) for name, gap in gaps.items()}
    return files.write_whole(path, html(shown, next(iter(gaps.values())).level(level)))


def html(gaps: Mapping[str, Gap], level: float) -> str:
    """The page as text."""
    require_level(level, "The level of a report")
    pages = {name: page_of(gap, level) for name, gap in gaps.items()}
    script = _asset("profile.js") + _asset("report.js")
    digest = hashlib.sha256(script.encode("utf-8")).digest()  # no other script can run on the page
    first = next(iter(pages.values()))
    several = None
    if len(gaps) > 1:
        several = several_page(gaps, {key: float(key) for key in first.levels}, first.first)
    return (
        template_environment()
        .get_template("report.html")
        .render(
            pages=pages,
            several=several,
            unit=", in points" if first.gap.about.is_share else "",
            levels=[(key, first.levels[key]["name"]) for key in first.levels],
            first=first.first,
            css=Markup(_asset("report.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            script_hash=base64.b64encode(digest).decode("ascii"),
            explain=phrases,
            association=ASSOCIATION,
        )
    )


def notebook(gap: Gap, numbers: bool = True) -> str:
    """What a notebook shows: the answer, the walk, all numbers to unfold; no scripts."""
    level = gap.level()
    shown = table.render(gap, "html", level) if numbers else "gap.to_frame() has them."
    unfolded = Markup(shown)  # noqa: S704 - escaped by the table itself
    template = template_environment().get_template("notebook.html")
    told = {"lead": phrases.BANNER, "problems": phrases.banner(gap)}
    page = page_of(gap, level, levels=())
    return template.render(page=page, id="whygap", linked=False, table=unfolded, **told)


def notebook_many(gaps: Mapping[str, Gap]) -> str:
    """What a notebook shows of several targets: the answer, the trend, a table; no scripts."""
    first = next(iter(gaps.values()))
    level = first.level()
    every = [(name, text) for name, gap in gaps.items() for text in gap.problems()]
    template = template_environment().get_template("notebook_several.html")
    return template.render(
        several=several_page(gaps, {"shown": level}, "shown"),
        unit=", in points" if first.about.is_share else "",
        level=level_name(level),
        lead=phrases.BANNER,
        problems=every,
    )


def template_environment() -> Environment:
    """Templates with everything escaped; a misspelt name is an error."""
    environment = Environment(
        loader=PackageLoader("whygap.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    ours = (count, embedded, joined, large, metric_name, shorten, squared_error_units, with_minus)
    environment.filters |= {one.__name__: one for one in ours}
    return environment


def embedded(value: Any) -> Markup:
    """JSON that cannot end its own script element, whatever names it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 - escaped just above


@cache
def _asset(name: str) -> str:
    return resources.files("whygap.render").joinpath("templates", name).read_text("utf-8")
