"""Fit on training rows, evaluate on held-out rows, hand arrays to the equations."""
