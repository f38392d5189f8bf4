"""Worlds with known truth, and truths, that only experiments and tests use."""

VERSION = 1  # raised when the law of a kept world, or how its truth is computed, changes
