"""A stream of targets against one source: each explained once, kept in a folder, and watched."""

from whygap._watch.result import Watch
from whygap._watch.run import watch

__all__ = ["Watch", "watch"]
