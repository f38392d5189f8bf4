"""Stories with a known culprit: what shifts is what is said to shift, and pages come of it."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import naming
from experiments.simulation import Order
from experiments.worlds.naming import CULPRITS, NamingWorld
from whygap.domains import ByDomain


@pytest.mark.parametrize("story", CULPRITS)
def test_accuracy_falls_only_where_somebody_is_to_blame(story):
    design = NamingWorld(story).draw(ByDomain(20_000, 20_000), np.random.default_rng(3))
    fall = design.loss.source.mean() - design.loss.target.mean()
    assert fall > 0.04 if CULPRITS[story] else abs(fall) < 0.012  # three standard errors


def test_drift_tests_blame_drift_that_does_no_harm():
    design = NamingWorld("harmless drift").draw(ByDomain(2000, 2000), np.random.default_rng(0))
    assert set(naming._by_drift(design)) >= {"x5", "x6"}


def test_the_page_has_a_row_per_story_and_method(tmp_path):
    page = naming.run(Order(output=tmp_path, quick=True, jobs=1, report=lambda _: None))
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if " (" in line]
    assert sum(line.startswith("| ") for line in rows) >= len(CULPRITS) * len(naming.TITLES)
