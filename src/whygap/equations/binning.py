"""Bins of the source risk (paper, section 4.2.1: q_bin = floor(q B + 1/2) / B).

There are B + 1 bins; the two end bins are half as wide. The edge between bins j and j + 1 lies at
(j + 1/2) / B.
"""

from __future__ import annotations

import numpy as np

from whygap.domains import Array

BINS = 20  # B, as in the paper: no row's risk is moved by more than 0.025, few bins are empty


def bin_index(risk: Array, bins: int) -> Array:
    """Bin number 0..B of each risk, as floats; q_bin is this over B."""
    return np.clip(np.floor(risk * bins + 0.5), 0, bins)


def edge_index(risk: Array, bins: int) -> Array:
    """Number j of the bin just below the nearest edge (j + 1/2)/B; the bin above is j + 1."""
    return np.clip(np.floor(risk * bins), 0, bins - 1)


def rows_at_edges(risk: Array, bins: int, tolerance: float = 1e-9) -> int:
    """Rows whose risk falls on an edge (Condition 4.2 asks that there be none)."""
    distance = np.abs(risk * bins - 0.5 - np.round(risk * bins - 0.5))
    inside = (risk > 0) & (risk < 1)
    return int(np.sum(inside & (distance < tolerance * bins)))
