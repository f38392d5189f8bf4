"""A stream of targets against one source: each explained once, kept, shown and watched."""

from whygap._watch.outcome import Watch
from whygap._watch.run import watch

__all__ = ["Watch", "watch"]
