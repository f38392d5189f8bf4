"""The same analysis, repeated in a world like yours where the truth is known."""

from whygap._rehearse.rehearsal import Rehearsal, Term
from whygap._rehearse.run import rehearse, rehearse_world

__all__ = ["Rehearsal", "Term", "rehearse", "rehearse_world"]
