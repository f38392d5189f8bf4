"""What the page on metrics says of cells that miss the bar."""

from __future__ import annotations

import pytest

from experiments.metrics import by_chance, outside, plan
from experiments.summary import summarise

STEPS = plan(quick=False)
CONFIG = STEPS[0][0]


def rows(covered, count=200):
    """Of a part whose interval covers in so many draws, and one that covers in nine of ten."""
    lines = []
    for seed in range(count):
        value = 0.1 if seed % 2 else -0.1
        missed, right = seed >= covered, seed >= 0.9 * count
        estimates = {
            "aggregate covariate": [value, 0.1, 5.0 if missed else -5.0, 6.0, value],
            "points covariate Z1": [value, 0.1, 5.0 if right else -5.0, 6.0, value],
        }
        lines.append({"estimates": estimates, "defined": {}, "seed": seed})
    return summarise(CONFIG, lines, {"aggregate covariate": 0.0, "points covariate Z1": 0.0})


@pytest.mark.parametrize("covered", [171, 189])
def test_cells_outside_are_listed_with_their_distance(covered):
    (line,) = outside(STEPS, rows(covered)).splitlines()[2:]
    assert line == (
        "| auc | covariates first | defaults | aggregate covariate | 200 | "
        f"{covered / 200:.3f} | +0.00 | 1.00 |".replace(" 0.", " .")
    )


@pytest.mark.parametrize("covered", [172, 188])
def test_the_ends_of_the_bar_belong_to_it(covered):
    assert len(outside(STEPS, rows(covered)).splitlines()) == 2


def test_chance_puts_a_right_interval_outside_in_one_of_twenty_cells_of_200_draws():
    chances = [by_chance(rows(180, count)[0]) for count in (100, 200, 400)]
    assert chances == sorted(chances, reverse=True)
    assert chances[1] == pytest.approx(0.05, abs=0.01)
