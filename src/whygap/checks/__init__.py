"""What can be known before anything is estimated: sizes, roles, overlap, cost."""

from whygap.checks.result import Check, check

__all__ = ["Check", "check"]
