"""Memory that is free, given back to the system."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """The C library keeps what large answers took: of a million rows, more than a gigabyte."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; others keep nothing
        if trim is not None:
            trim(0)
