"""What can be known before anything is estimated: sizes, roles, overlap, cost."""

from whygap.check.look import check
from whygap.check.report import CheckReport

__all__ = ["CheckReport", "check"]
