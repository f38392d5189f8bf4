"""An estimator that kills the worker process it is fitted in, once."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression


class Deadly(LogisticRegression):
    """Logistic regression; its first fit outside the process `home` ends that process.

    `grave` is a file that is made just before, so that it happens once.
    """

    def __init__(self, home: int = 0, grave: str = "") -> None:
        super().__init__()
        self.home = home
        self.grave = grave

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Deadly:
        """Fit, or die."""
        if os.getpid() != self.home and not Path(self.grave).exists():
            Path(self.grave).write_text(str(os.getpid()), encoding="ascii")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)
