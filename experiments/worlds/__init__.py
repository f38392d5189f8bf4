"""Worlds with known truth that only experiments use."""
