"""Before and after on the same people: the tables are not independent, and intervals know it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from whygap.domains import ByDomain
from whygap.progress import Silent
from whygap.running.analysis import Analysis
from whygap.settings import Settings
from whygap.tables.design import Column, Design, Player

PEOPLE, VISITS, DRAWS = 120, 3, 200
EFFECT, LATER = 2.0, 0.9  # of a person on the logit, and of time


def before_and_after(seed: int) -> Design:
    """Every person has visits in both tables and one effect of their own; later risks are higher.

    The model says 1 to everybody, so accuracy is the mean outcome.
    """
    rng = np.random.default_rng([seed, PEOPLE])
    person = np.repeat(np.arange(PEOPLE), VISITS)
    effect = EFFECT * rng.normal(size=PEOPLE)[person]
    features = ByDomain(*(rng.normal(size=(len(person), 2)) for _ in range(2)))
    logit = ByDomain(features.source[:, 1], features.target[:, 1] + LATER)
    ones = np.ones(len(person))
    return Design(
        features=features,
        columns=(Column("w", "numeric"), Column("z", "numeric")),
        baseline=(0,),
        players=(Player("z", (1,)),),
        outcome=logit.map(lambda x: (rng.random(len(x)) < special.expit(x + effect)).astype(float)),
        prediction=ByDomain(ones, ones),
        intercept=ByDomain(0 * ones, 0 * ones),
        slope=ByDomain(ones, ones),
        clusters=ByDomain(person, person),
    )


def outcome_part(design: Design, seed: int):
    settings = Settings(learner="fast", progress=False, support="all", seed=seed)
    return Analysis.begin(design, settings, Silent()).decomposition().parts["outcome"]


@pytest.mark.slow
def test_the_outcome_part_of_the_same_people():
    """All of the change is the outcome's. Bands: 2.6 standard errors of 200 draws."""
    rng = np.random.default_rng(0)
    logit = rng.normal(size=4_000_000) + EFFECT * rng.normal(size=4_000_000)
    truth = float(np.mean(special.expit(logit + LATER) - special.expit(logit)))
    own, naive = [], []
    for seed in range(DRAWS):
        design = before_and_after(seed)
        own.append(outcome_part(design, seed))
        apart = ByDomain(design.clusters.source, design.clusters.target + PEOPLE)
        naive.append(outcome_part(replace(design, clusters=apart), seed))
    variance = np.var([e.value for e in own])
    assert 0.75 < np.mean([e.standard_error**2 for e in own]) / variance < 1.3
    assert np.mean([e.standard_error**2 for e in naive]) / variance > 1.6
    covers = np.mean([e.interval(0.9)[0] <= truth <= e.interval(0.9)[1] for e in own])
    assert 0.84 < covers < 0.96
