"""The noise of twin products, measured by what halvings disagree on."""

from __future__ import annotations

import numpy as np
import pytest
from learning_designs import shifted_design

from whygap.domains import ByDomain
from whygap.equations.halvings import Plan, average
from whygap.estimate import Sample
from whygap.learning.blocks import Blocks, make_blocks
from whygap.settings import Settings

BLOCKS, PER_BLOCK = 5, 400
ROWS = BLOCKS * PER_BLOCK
NUMBERS = np.repeat(np.arange(BLOCKS), PER_BLOCK)
SAMPLE = Sample.of(ByDomain(ROWS, ROWS))
BOUNDS = np.arange(BLOCKS + 1) * PER_BLOCK
ORDER = np.arange(ROWS)
PLAN = Plan.of(Blocks(BLOCKS, ByDomain(ORDER, ORDER), ByDomain(BOUNDS, BOUNDS)))


def contributions(shift, rng, noise=1.0):
    """One row per halving; `shift` (halvings, blocks) moves a whole block of one halving."""
    rows = rng.normal(size=ROWS) * noise
    moved = np.stack([rows + by_block[NUMBERS] for by_block in shift])
    return ByDomain(np.zeros_like(moved), moved)


def test_halvings_that_agree_add_nothing():
    same = contributions(np.zeros((3, BLOCKS)), np.random.default_rng(0))
    estimate = average(SAMPLE, same, 0.0, PLAN)
    assert estimate.influence.fits == pytest.approx(np.zeros(15))
    assert estimate.standard_error == average(SAMPLE, same, 0.0).standard_error


def test_the_estimate_is_the_mean_of_the_halvings():
    rng = np.random.default_rng(1)
    pairs = contributions(rng.normal(size=(3, BLOCKS)), rng)
    expected = pairs.target.mean()
    assert average(SAMPLE, pairs, 0.0, PLAN).value == pytest.approx(expected)


@pytest.mark.parametrize("folds", [3, 4, 5, 6, 10, 20])
def test_the_noise_of_products_is_measured_whatever_the_plan(folds):
    """Every block has an error, a random function; models average those of their blocks.

    What a halving adds to a block's mean is the inner product of its two models' errors.
    """
    rng = np.random.default_rng(2)
    blocks = make_blocks(shifted_design((600, 600)), Settings(folds=folds), rng)
    plan = Plan.of(blocks)
    pairs = [blocks.halvings(block) for block in range(blocks.count)]
    rows = ByDomain(600, 600)
    sample = Sample.of(rows)
    values, measured = [], []
    for _ in range(600):
        error = rng.normal(size=(blocks.count, 8))
        shift = np.array(
            [[error[list(a)].mean(0) @ error[list(b)].mean(0) for a, b in k] for k in pairs]
        ).T
        moved = shift[:, plan.blocks.target] + rng.normal(size=rows.target) * 1e-6
        both = ByDomain(np.zeros((len(shift), rows.source)), moved)
        estimate = average(sample, both, 0.0, plan)
        values.append(estimate.value)
        measured.append(float(estimate.influence.fits @ estimate.influence.fits))
    assert np.mean(measured) == pytest.approx(np.mean(np.square(values)), rel=0.15)


def test_five_folds_and_three_halvings_leave_four_fifths_of_the_variance_between_halvings():
    """That variance is the sum of squares over all blocks and halvings, 15, over 10."""
    assert PLAN.factor == pytest.approx(0.8 / 10)


def test_disagreement_by_chance_is_taken_off():
    """Independent rows in every halving differ by sampling alone."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(100):
        pairs = ByDomain(np.zeros((3, ROWS)), rng.normal(size=(3, ROWS)))
        fits = average(SAMPLE, pairs, 0.0, PLAN).influence.fits
        found.append(float(fits @ fits))
    naive = 0.8 / PER_BLOCK
    assert np.mean(found) < 0.3 * naive


def test_one_halving_shows_no_disagreement():
    one = contributions(np.zeros((1, BLOCKS)), np.random.default_rng(4))
    assert len(average(SAMPLE, one, 0.0, PLAN).influence.fits) == 0
