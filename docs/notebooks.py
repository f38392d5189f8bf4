"""Tutorials are notebooks: a page becomes cells, Jupyter runs them, the site shows what came out.

    python docs/notebooks.py FOLDER     every tutorial as an executed .ipynb file

The page in docs/tutorials is the only source. The site is built from the executed notebook,
pictures included, and offers it for download (site_hook.py).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from run_examples import DOCS, FENCE

TUTORIALS = DOCS / "tutorials"
SECONDS = 600  # for one cell; a busy machine takes ten times what a free one does


def pages() -> list[Path]:
    """Every tutorial."""
    return sorted(TUTORIALS.glob("*.md"))


def notebook(text: str) -> nbformat.NotebookNode:
    """The page's prose and examples as cells; outputs that the page holds are left out."""
    cells, done = [], 0
    for found in FENCE.finditer(text):
        cells += [new_markdown_cell(text[done : found.start()].strip())]
        cells += [new_code_cell(found["code"].strip())]
        done = found.end()
    cells += [new_markdown_cell(text[done:].strip())]
    return new_notebook(cells=[cell for cell in cells if cell.source])


def execute(text: str) -> nbformat.NotebookNode:
    """The same with outputs, run from top to bottom in an empty folder; a failing cell raises."""
    made = notebook(text)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(made, timeout=SECONDS, resources={"metadata": {"path": folder}})
        client.execute()
    return made


def markdown(executed: nbformat.NotebookNode) -> str:
    """A page of the site: each example, and under it what it printed or drew."""
    parts = []
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_shown(output) for output in cell.outputs]
    return "\n\n".join(part for part in parts if part) + "\n"


def _is_printed(output: nbformat.NotebookNode) -> bool:
    return output.output_type == "stream" and output.name == "stdout"


def _shown(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```" if _is_printed(output) else ""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        # A blank line would end the block, and Markdown would read what follows.
        lines = [line for line in data["text/html"].splitlines() if line.strip()]
        return "\n".join(["<div>", *lines, "</div>"])
    return f"```text\n{data.get('text/plain', '')}\n```"


def main() -> None:
    """Write every tutorial, executed, into the folder named on the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages():
        nbformat.write(execute(page.read_text(encoding="utf-8")), folder / f"{page.stem}.ipynb")
        sys.stdout.write(f"{page.stem}.ipynb\n")


if __name__ == "__main__":
    main()
