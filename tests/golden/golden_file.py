"""Compare with a kept file; `WHYGAP_UPDATE_GOLDEN=1` rewrites it, to be looked at and committed."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "files"


def check(name: str, text: str) -> None:
    """The text must equal the kept file."""
    path = FOLDER / name
    if os.environ.get("WHYGAP_UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), (
        f"{name} changed; if it is right, run again with WHYGAP_UPDATE_GOLDEN=1"
    )
