"""How often 90% intervals of the published method hold in the paper's world, and what they cost."""

import math
import time

import numpy as np
import pandas as pd
import pytest

import whygap as wg
from experiments.worlds.gaussian import GaussianWorld, tables
from experiments.worlds.world import shares
from whygap import paper

ROWS, DRAWS = 2000, 50
# evidence/coverage/summary.csv, `coverage_all` of 200 draws: accuracy, n = 2,000, intervals as
# published (risk_uncertainty=False, twins=False).
PUBLISHED_DRAWS = 200
PUBLISHED = {
    "covariate": {"Z1": 0.915, "Z2": 0.930, "Z3": 0.910},
    "outcome": {"Z1": 0.940, "Z2": 0.895, "Z3": 0.950},
}


@pytest.mark.nightly
def test_shares_hold_as_often_as_the_evidence_says():
    world = GaussianWorld()
    value = {"covariate": world.covariate_truth, "outcome": world.outcome_truth}
    truth = {part: shares(lambda s, of=of: of(s).value, 3) for part, of in value.items()}
    hits = {part: dict.fromkeys(world.players, 0) for part in value}
    for seed in range(DRAWS):
        study = wg.Study(*tables(ROWS, seed), outcome="y", baseline=["W"], prediction="prediction")
        found = paper.detailed(study, learner="fast", seed=seed)
        for part in value:
            for name, true in zip(world.players, truth[part], strict=True):
                low, high = getattr(found, part).values[name].interval(0.9)
                hits[part][name] += low <= true <= high
    for part, names in PUBLISHED.items():
        for name, rate in names.items():
            error = math.sqrt(rate * (1 - rate) * (1 / DRAWS + 1 / PUBLISHED_DRAWS))
            assert abs(hits[part][name] / DRAWS - rate) <= 3 * error, (part, name)


@pytest.mark.slow
def test_eight_variables_take_seconds():
    rng = np.random.default_rng(0)
    names = ["w", *(f"z{j}" for j in range(8))]
    slopes = np.array([0.3, 1.0, 0.5, 0.2, 0.1, 0.0, 0.0, 0.3, 0.4])
    pair = []
    for shift in (0.0, 0.7):
        features = rng.normal(size=(1000, 9)) + shift * np.eye(9)[1]
        risk = 1 / (1 + np.exp(-features @ (slopes - shift * np.eye(9)[1])))
        table = pd.DataFrame(features, columns=names)
        table["y"] = (rng.random(1000) < risk).astype(int)
        table["risk"] = 1 / (1 + np.exp(-features @ slopes))
        pair.append(table)
    study = wg.Study(*pair, outcome="y", baseline=["w"], prediction="risk")
    start = time.process_time()
    found = paper.detailed(study, learner="fast")
    assert time.process_time() - start < 20
    assert found.outcome.draws == 400
    assert len(found.outcome.subsets) > 100
