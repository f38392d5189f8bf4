"""Rules under a pure covariate shift, where none is right, and rules that were planted.

At most 5% of analyses may show a rule where there is none: of 60, more than 7 would be shown with
probability .01 (binomial) if it were 5%. A planted rule of two conditions must be found in most
draws: more than 80% of 30.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_study import fast

from experiments.worlds.untuned import SOURCE, TARGET, UntunedWorld
from experiments.worlds.world import design_tables
from whygap.domains import ByDomain
from whygap.nuisances.rules import Rules, find_rules
from whygap.progress import Silent
from whygap.results import Rule
from whygap.running.analysis import Analysis
from whygap.tables.design import Design

pytestmark = pytest.mark.slow
SAME_RISK = {k: getattr(SOURCE, k) for k in ("intercepts", "slopes", "product", "extra")}
WORLD = UntunedWorld(conditions=ByDomain(SOURCE, replace(TARGET, **SAME_RISK)))


def rules_of(design: Design, seed: int) -> Rules:
    settings = fast(seed=seed, support="all")
    return find_rules(Analysis.begin(design, settings, Silent()).crossfits[0])


@pytest.mark.parametrize("rows", [1000, 3000])
def test_a_pure_covariate_shift_shows_hardly_any_rule(rows):
    shown = 0
    for seed in range(60):
        design = WORLD.draw(ByDomain(rows, rows), np.random.default_rng([seed, rows]))
        shown += bool(rules_of(design, seed).confirmed)
    assert shown <= 7


def planted(design: Design, rng: np.random.Generator) -> tuple[Design, np.ndarray]:
    """In the south above Z2 = 1, the model is wrong in four of ten rows more."""
    x = design.features.target
    rows = (x[:, 1] == 2) & (x[:, 2] > 1.0)
    wrong = 1.0 - (design.prediction.target >= design.threshold)
    hit = rows & (rng.random(len(rows)) < 0.4)
    outcome = np.where(hit, wrong, design.outcome.target)
    return replace(design, outcome=ByDomain(design.outcome.source, outcome)), rows


def shared_rows(rule: Rule, design: Design, rows: np.ndarray) -> float:
    table = design_tables(design)[1]
    mask = rule.mask(table, design.prediction.target)
    return float((mask & rows).sum() / (mask | rows).sum())


def test_planted_rules_are_found_in_most_draws():
    found = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 1000])
        design, rows = planted(WORLD.draw(ByDomain(1000, 1000), rng), rng)
        confirmed = rules_of(design, seed).confirmed
        found += max((shared_rows(rule, design, rows) for rule in confirmed), default=0.0) > 0.5
    assert found > 24
