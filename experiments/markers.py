"""Generated text inside a page that is otherwise written by hand."""

from __future__ import annotations

import re
from pathlib import Path

from whygap.errors import InputError
from whygap.storage.files import write_whole

__all__ = ["fill"]


def fill(path: Path, name: str, text: str) -> Path:
    """Put text between `<!-- begin NAME -->` and `<!-- end NAME -->`, in place of what is there.

    Raises:
        InputError: the page does not have the two markers, once and in this order.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    page = path.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if page.count(begin) != 1 or page.count(end) != 1 or not pattern.search(page):
        raise InputError(
            f"The page '{path}' has no place for '{name}'",
            hint=f"Write '{begin}' and, below it, '{end}', once each.",
        )
    filled = f"{begin}\n\n{text.strip()}\n\n{end}"
    return write_whole(path, pattern.sub(lambda _: filled, page))
