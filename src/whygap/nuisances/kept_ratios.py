"""Density ratios that points have fitted, for covariate shares: both ask for the same subsets.

They serve where the same learner would fit them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whygap.domains import Array

# Files take no more than some hundred megabytes, whatever the number of subsets.
_MOST_ROWS = 20_000


@dataclass(slots=True, eq=False, weakref_slot=True)
class KeptRatios:
    """A folder with a file per column set and learner: workers write and read it, no copy travels.

    Where there is none, or it is out of reach, everything is fitted as if nothing had been.
    """

    folder: Path | None = None

    def open(self, rows: int) -> None:
        """From now on ratios at so many rows are kept, until this object goes."""
        if self.folder is not None or rows > _MOST_ROWS:
            return
        try:
            made = tempfile.mkdtemp(prefix="whygap-", dir=os.environ.get("JOBLIB_TEMP_FOLDER"))
        except OSError:
            return
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        self.folder = Path(made)

    def find(self, columns: tuple[int, ...], learner: Any) -> Array | None:
        """The ratio on these columns, if it is there."""
        if self.folder is None:
            return None
        try:
            return np.asarray(np.load(self._file(columns, learner)))
        except OSError:
            return None

    def keep(self, columns: tuple[int, ...], learner: Any, ratio: Array) -> None:
        """Write it whole or not at all."""
        if self.folder is None or not self.folder.is_dir():
            return
        file = self._file(columns, learner)
        part = file.with_suffix(f".{os.getpid()}.npy")
        try:
            np.save(part, ratio)
            part.replace(file)
        except OSError:  # a full disk: then it is fitted again
            part.unlink(missing_ok=True)

    def _file(self, columns: tuple[int, ...], learner: Any) -> Path:
        members = sum(1 << int(column) for column in columns)
        who = hashlib.sha256(repr(learner).encode()).hexdigest()[:16]
        return Path(str(self.folder)) / f"{members:x}-{who}.npy"
