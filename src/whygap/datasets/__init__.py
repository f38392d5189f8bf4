"""Data shipped with whygap."""

from whygap.datasets.employment import Employment, load_employment

__all__ = ["Employment", "load_employment"]
