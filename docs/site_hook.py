"""Keep the navigation to pages that exist: evidence pages appear once their study has run."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Called by mkdocs before it reads the pages."""
    folder = Path(config["docs_dir"])
    config["nav"] = _existing(config["nav"], folder)
    return config


def _existing(item: Any, folder: Path) -> Any:
    """The item without missing files; None where nothing is left."""
    if isinstance(item, str):
        return item if (folder / item).exists() else None
    if isinstance(item, list):
        kept = [found for found in (_existing(part, folder) for part in item) if found]
        return kept or None
    title, value = next(iter(item.items()))
    found = _existing(value, folder)
    return {title: found} if found else None
