"""Run the Python examples of the documentation, and put what they print on the pages.

    python docs/run_examples.py                    the README and every page that has examples
    python docs/run_examples.py docs/start.md      only this page
    python docs/run_examples.py --check PAGE       write nothing; fail where a page is out of date

A fence ```text directly after a ```python fence holds that example's output. Examples of one page
share their names and run in an empty folder. What is printed is compared word for word; a number
may differ by two units of its last digit, as other versions of libraries round otherwise.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

FENCE = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", flags=re.DOTALL
)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
LAST_DIGITS = 2  # units of the last digit by which a printed number may move
DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


def pages() -> list[Path]:
    """The README and every page of the documentation that has Python examples."""
    found = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in found if examples(page)]


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


def moved(stored: str, printed: str) -> list[str]:
    """Lines of a page that are printed otherwise now, up to the last digits of their numbers."""
    both = zip_longest(stored.splitlines(), printed.splitlines(), fillvalue="")
    return [f"- {was}\n+ {now}" for was, now in both if not _alike(was, now)]


def _alike(was: str, now: str) -> bool:
    # Words are compared without their spaces: a digit more or less moves the columns of a table.
    if ["".join(part.split()) for part in NUMBER.split(was)] != [
        "".join(part.split()) for part in NUMBER.split(now)
    ]:
        return False
    pairs = zip(NUMBER.findall(was), NUMBER.findall(now), strict=True)
    return all(abs(_value(a) - _value(b)) <= _slack(a, b) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _slack(first: str, second: str) -> float:
    digits = min(len(number.partition(".")[2]) for number in (first, second))
    return (LAST_DIGITS + 0.001) * 10.0**-digits


def check(page: Path) -> None:
    """Stop with the command to run where the page does not hold what its examples print."""
    lines = moved(page.read_text(encoding="utf-8"), run(page))
    if lines:
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        told = "\n".join(lines)
        sys.exit(
            f"{name} is out of date. Run: python docs/run_examples.py {name}\n"
            f"and read the words beside the numbers.\n{told}"
        )


def main() -> None:
    """Run the pages named on the command line, or all of them."""
    named = [Path(name).resolve() for name in sys.argv[1:] if not name.startswith("--")]
    for page in named or pages():
        if "--check" in sys.argv:
            check(page)
        else:
            text = run(page)
            partial = page.with_suffix(".partial")
            partial.write_text(text, encoding="utf-8")
            partial.replace(page)
        sys.stdout.write(f"{page.name}: {len(examples(page))} examples ran\n")


if __name__ == "__main__":
    main()
