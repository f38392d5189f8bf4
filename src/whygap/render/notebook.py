"""What a notebook shows for a result: one piece of HTML that stands alone, without scripts."""

from __future__ import annotations

from markupsafe import Markup

from whygap.render import table
from whygap.render.page import page_of
from whygap.render.report import template_environment
from whygap.render.words import default_level
from whygap.results import Gap

__all__ = ["html"]


def html(gap: Gap) -> str:
    """The answer, the walk, and all numbers to unfold."""
    level = default_level(gap)
    numbers = table.render(gap, "html", level)
    template = template_environment().get_template("notebook.html")
    return template.render(
        page=page_of(gap, level, levels=()),
        id="whygap",
        table=Markup(numbers),  # noqa: S704 - escaped by the table itself
    )
