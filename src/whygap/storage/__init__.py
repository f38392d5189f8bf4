"""Results as versioned JSON; files written whole or not at all."""

from whygap.storage.files import load, save, write_bytes, write_whole
from whygap.storage.mapping import plain, restored, to_mapping

__all__ = ["load", "plain", "restored", "save", "to_mapping", "write_bytes", "write_whole"]
