"""The source risk as one more column: G = (W, Z_s, q_bin) or (W, Z_s, q)."""

from __future__ import annotations

import numpy as np

from whygap.domains import Array
from whygap.equations import binning
from whygap.learning.features import Extra, View, extra_column
from whygap.learning.ridge import logit_clipped
from whygap.nuisances.ground import Ground

__all__ = ["LOGIT_STEP", "risk_column"]

LOGIT_STEP = 0.25
_END_SHARE = 0.02


def risk_column(ground: Ground) -> Extra:
    """Own values at target rows; at source rows the two sides on which the risk may move."""
    if ground.settings.outcome_form == "smooth":
        return _smooth(ground)
    return _binned(ground)


def _binned(ground: Ground) -> Extra:
    """Bin numbers; at source rows those above and below the nearest edge.

    The two end bins hold the rows whose risk is near 0 or 1: there m varies a lot within a bin,
    so each gets its own terms when enough rows fall into it.
    """
    bins, risk = ground.settings.bins, ground.sorted_risk
    own = binning.bin_index(risk.target, bins)
    down = binning.edge_index(risk.source, bins)
    centres = np.clip(np.arange(bins + 1) / bins, 0.25 / bins, 1 - 0.25 / bins)
    ends = [end for end in (0, bins) if np.mean(own == end) >= _END_SHARE]
    scale = logit_clipped(centres[own.astype(int)])
    middle, spread = float(scale.mean()), float(scale.std()) or 1.0

    def main(position: Array) -> list[Array]:
        level = (logit_clipped(centres[position.astype(int)]) - middle) / spread
        return [level, *((position == end).astype(float) for end in ends)]

    views = {
        "own": View("target", own),
        "down": View("source", down),
        "up": View("source", down + 1),
    }
    return extra_column(ground.features, views, main, ground.all_columns())


def _smooth(ground: Ground) -> Extra:
    """The risk on the logit scale; at source rows also a step up and a step down."""
    own = logit_clipped(ground.sorted_risk.target)
    here = logit_clipped(ground.sorted_risk.source)
    middle, spread = float(own.mean()), float(own.std()) or 1.0

    def main(position: Array) -> list[Array]:
        return [(position - middle) / spread]

    views = {
        "own": View("target", own),
        "here": View("source", here),
        "down": View("source", here - LOGIT_STEP),
        "up": View("source", here + LOGIT_STEP),
    }
    return extra_column(ground.features, views, main, ground.all_columns())
