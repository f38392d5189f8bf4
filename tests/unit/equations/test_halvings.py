"""The noise of twin products, measured by what halvings disagree on."""

from __future__ import annotations

import numpy as np
import pytest

from whygap.domains import ByDomain
from whygap.equations.halvings import average
from whygap.estimate import Sample

BLOCKS, PER_BLOCK = 5, 400
ROWS = BLOCKS * PER_BLOCK
NUMBERS = np.repeat(np.arange(BLOCKS), PER_BLOCK)
SAMPLE = Sample.of(ByDomain(ROWS, ROWS))
BLOCK_OF = ByDomain(NUMBERS, NUMBERS)


def contributions(shift, rng, noise=1.0):
    """One row per halving; `shift` (halvings, blocks) moves a whole block of one halving."""
    rows = rng.normal(size=ROWS) * noise
    moved = np.stack([rows + by_block[NUMBERS] for by_block in shift])
    return ByDomain(np.zeros_like(moved), moved)


def test_halvings_that_agree_add_nothing():
    same = contributions(np.zeros((3, BLOCKS)), np.random.default_rng(0))
    estimate = average(SAMPLE, same, 0.0, BLOCK_OF)
    assert estimate.influence.fits == pytest.approx(np.zeros(15))
    assert estimate.standard_error == average(SAMPLE, same, 0.0).standard_error


def test_the_estimate_is_the_mean_of_the_halvings():
    rng = np.random.default_rng(1)
    pairs = contributions(rng.normal(size=(3, BLOCKS)), rng)
    expected = pairs.target.mean()
    assert average(SAMPLE, pairs, 0.0, BLOCK_OF).value == pytest.approx(expected)


def test_the_noise_of_products_is_measured():
    """Errors e_i of five blocks; a halving ab|cd sees the product of its halves' mean errors."""
    rng = np.random.default_rng(2)
    values, measured = [], []
    for _ in range(400):
        error = rng.normal(size=BLOCKS) * 0.3
        shift = np.empty((3, BLOCKS))
        for block in range(BLOCKS):
            a, b, c, d = (error[k] for k in range(BLOCKS) if k != block)
            pairings = (((a, b), (c, d)), ((a, c), (b, d)), ((a, d), (b, c)))
            shift[:, block] = [np.mean(one) * np.mean(two) for one, two in pairings]
        estimate = average(SAMPLE, contributions(shift, rng, noise=1e-6), 0.0, BLOCK_OF)
        values.append(estimate.value)
        measured.append(float(estimate.influence.fits @ estimate.influence.fits))
    assert np.mean(measured) == pytest.approx(np.var(values), rel=0.2)


def test_disagreement_by_chance_is_taken_off():
    """Independent rows in every halving differ by sampling alone."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(100):
        pairs = ByDomain(np.zeros((3, ROWS)), rng.normal(size=(3, ROWS)))
        fits = average(SAMPLE, pairs, 0.0, BLOCK_OF).influence.fits
        found.append(float(fits @ fits))
    naive = 0.8 / PER_BLOCK
    assert np.mean(found) < 0.3 * naive


def test_one_halving_shows_no_disagreement():
    one = contributions(np.zeros((1, BLOCKS)), np.random.default_rng(4))
    assert len(average(SAMPLE, one, 0.0, BLOCK_OF).influence.fits) == 0
