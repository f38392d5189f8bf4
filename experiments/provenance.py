"""Where a number on a page comes from: command, date, versions, machine."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

__all__ = ["provenance"]

PACKAGES = ("whygap", "numpy", "scipy", "scikit-learn", "lightgbm")


def provenance(command: str, note: str = "") -> str:
    """A short section for the end of a page."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    lines = [
        "## How these numbers came about",
        "",
        f"    {command}",
        "",
        (
            f"Page written {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()}, "
            f"{versions}; {platform.system()} {platform.machine()}, {os.cpu_count()} cores."
        ),
    ]
    return "\n".join([*lines, *(["", note] if note else []), ""])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "from the source folder"
