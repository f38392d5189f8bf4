"""What can be known before anything is estimated: sizes, roles, overlap, cost."""

from whygap._check.look import check
from whygap._check.report import CheckReport

__all__ = ["CheckReport", "check"]
