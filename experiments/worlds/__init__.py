"""Worlds with known truth that only experiments use."""

VERSION = 1  # raised when the law of a kept world, or how its truth is computed, changes
