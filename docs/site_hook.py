"""The evidence stands beside the docs, in one copy; here it becomes part of the site.

In the repository a page of the docs links to `../evidence/NAME/NAME.md`, and a page of the evidence
to `../../docs/PAGE.md`. In the site both live under one root.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
SHOWN = (".md", ".svg")


def on_files(files: Any, config: Any) -> Any:
    """Called by mkdocs once it has listed the files of the docs."""
    for path in sorted(EVIDENCE.rglob("*")):
        if path.suffix in SHOWN and not path.parent.name.endswith("-quick"):
            place = (Path("evidence") / path.relative_to(EVIDENCE)).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs with the text of every page: links as the site has them."""
    if page.file.src_uri.startswith("evidence/"):
        return re.sub(r"\]\(((?:\.\./)+)docs/", r"](\1", markdown)
    return re.sub(r"\]\(\.\./((?:\.\./)*evidence/)", r"](\1", markdown)
