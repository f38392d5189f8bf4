"""What the site has beyond the pages as they are: the evidence, and tutorials that were run.

The evidence stands beside the docs, in one copy; here it becomes part of the site. In the
repository a page of the docs links to `../evidence/NAME/NAME.md`, and a page of the evidence to
`../../docs/PAGE.md`. In the site both live under one root. Tutorials are executed as notebooks
(notebooks.py) and can be downloaded as such.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File

DOCS = Path(__file__).resolve().parent
EVIDENCE = DOCS.parent / "evidence"
SHOWN = (".md", ".svg")
sys.path.insert(0, str(DOCS))
import notebooks  # noqa: E402 - it lies beside this file, where mkdocs does not look

_executed: dict[str, Any] = {}


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs once it has listed the files of the docs."""
    for path in sorted(EVIDENCE.rglob("*")):
        if path.suffix in SHOWN and not path.parent.name.endswith("-quick"):
            place = (Path("evidence") / path.relative_to(EVIDENCE)).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs with the text of every page: outputs of tutorials, links as the site's."""
    place = page.file.src_uri
    if place.startswith("evidence/"):
        return re.sub(r"\]\(((?:\.\./)+)docs/", r"](\1", markdown)
    if place.startswith("tutorials/"):
        _executed[place] = notebooks.execute(markdown)
        markdown = notebooks.markdown(_executed[place]) + _download(Path(place).stem)
    return re.sub(r"\]\(\.\./((?:\.\./)*evidence/)", r"](\1", markdown)


def on_post_build(config: Any) -> None:
    """Called by mkdocs when all pages are written: the notebooks themselves, to download."""
    for place, made in _executed.items():
        nbformat.write(made, (Path(config.site_dir) / place).with_suffix(".ipynb"))


def _download(name: str) -> str:
    return f'\n<p><a href="../{name}.ipynb" download>This page as a notebook</a>, executed.</p>\n'
