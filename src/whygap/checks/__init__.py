"""What can be known before anything is estimated: sizes, roles, overlap, cost."""

from whygap.checks.report import CheckReport, check

__all__ = ["CheckReport", "check"]
