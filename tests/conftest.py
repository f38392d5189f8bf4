"""Shared by all tests; its place makes `result_factory` importable."""
