"""Run the Python examples of a page, one after the other, and put what they print on the page.

    python docs/run_examples.py                                   every page that has examples
    python docs/run_examples.py docs/start.md docs/tutorials/prediction_log.md

A fence ```text directly after a ```python fence holds that example's output. With `--check` nothing
is written; the examples only have to run. Examples of one page share their names; they run in an
empty folder.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", flags=re.DOTALL
)


DOCS = Path(__file__).resolve().parent


def pages() -> list[Path]:
    """Every page of the documentation that has Python examples."""
    return [page for page in sorted(DOCS.rglob("*.md")) if examples(page)]


def examples(page: Path) -> list[str]:
    """The page's Python examples, in order."""
    return [found["code"] for found in FENCE.finditer(page.read_text(encoding="utf-8"))]


def run(page: Path) -> str:
    """The page with fresh outputs; the examples share one namespace and an empty folder."""
    names: dict[str, object] = {"__name__": "__main__"}

    def fresh(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], str(page), "exec"), names)  # noqa: S102 - our own examples
        if found["output"] is None:
            return found.group(0)
        return f"```python\n{found['code']}```\n\n```text\n{printed.getvalue().rstrip()}\n```\n"

    text = page.read_text(encoding="utf-8")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return FENCE.sub(fresh, text)
        finally:
            os.chdir(here)


def main() -> None:
    """Run the pages named on the command line, or all of them."""
    named = [Path(name).resolve() for name in sys.argv[1:] if not name.startswith("--")]
    for page in named or pages():
        text = run(page)
        if "--check" not in sys.argv:
            partial = page.with_suffix(".partial")
            partial.write_text(text, encoding="utf-8")
            partial.replace(page)
        sys.stdout.write(f"{page.name}: {len(examples(page))} examples ran\n")


if __name__ == "__main__":
    main()
