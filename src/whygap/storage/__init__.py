"""Results as versioned JSON; files written whole or not at all."""

from whygap.storage.files import load, require_ending, save, to_text, write_bytes, write_whole
from whygap.storage.mapping import plain, restored, to_mapping

__all__ = [
    "load",
    "plain",
    "require_ending",
    "restored",
    "save",
    "to_mapping",
    "to_text",
    "write_bytes",
    "write_whole",
]
