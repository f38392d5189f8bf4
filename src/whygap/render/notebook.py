"""A result in a notebook: plain words, HTML without scripts, Markdown."""

from __future__ import annotations

from whygap.render import report, table, words
from whygap.results import Gap

__all__ = ["bundle"]

LARGEST = 900_000  # bytes of the page: notebooks are kept in git, where a megabyte is a nuisance


def bundle(gap: Gap) -> dict[str, str]:
    """By MIME type; a table too large for a notebook is left out of it."""
    page = report.notebook(gap)
    if len(page.encode("utf-8")) > LARGEST:
        page = report.notebook(gap, numbers=False)
    return {"text/plain": words.short(gap), "text/html": page, "text/markdown": markdown(gap)}


def markdown(gap: Gap) -> str:
    """The answer as a quotation, and the table where it is not too large."""
    said = words.short(gap).strip().splitlines()
    numbers = table.render(gap, "md", gap.level())
    answer = "```text\n" + "\n".join(said) + "\n```\n"
    return answer if len(numbers) > LARGEST else f"{answer}\n{numbers}\n"
