"""Rehearsals: how often intervals hold on simulated data like a study's."""

from whygap._rehearse.rehearsal import Quantity, Rehearsal
from whygap._rehearse.run import rehearse

__all__ = ["Quantity", "Rehearsal", "rehearse"]
