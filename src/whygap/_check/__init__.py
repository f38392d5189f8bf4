"""What can be known before anything is estimated: sizes, roles, overlap, cost."""

from whygap._check.report import CheckReport, check

__all__ = ["CheckReport", "check"]
