"""Our versions of earlier systems against their published packages.

Their pins clash with ours, so they live in an environment of their own: `scripts/test-peers`.
Elsewhere these tests are skipped.
"""

from __future__ import annotations

import importlib.util
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression

from experiments.rivals import disde, graph_shapley
from whygap.domains import ByDomain
from whygap.settings import Settings
from whygap.shapley import SubsetPlan, linear_weights
from whygap.tables.design import Column, Design, Player

GRAPH = {"x2": ["x1"], "(outcome)": ["x1", "x2"]}


def linear_world(rows: int, seed: int, mechanisms: tuple[int, int, int]) -> np.ndarray:
    """x1 -> x2 -> y and x1 -> y; each mechanism is the source's (0) or the target's (1)."""
    rng = np.random.default_rng(seed)
    x1 = rng.normal(0.5 * mechanisms[0], 1, rows)
    x2 = 0.8 * x1 + rng.normal(-0.4 * mechanisms[1], 1, rows)
    beta = [(1.0, 1.0), (0.5, 1.0)][mechanisms[2]]
    risk = special.expit(beta[0] * x1 + beta[1] * x2 - 0.3 * mechanisms[2])
    return np.column_stack([x1, x2, rng.random(rows) < risk])


def event_rate_design(rows: int, seed: int) -> Design:
    """The metric is the outcome itself: l = y, so that both packages speak of one mean."""
    blocks = ByDomain(
        linear_world(rows, 2 * seed, (0, 0, 0)), linear_world(rows, 2 * seed + 1, (1, 1, 1))
    )
    outcome = blocks.map(lambda b: b[:, 2])
    return Design.affine(
        features=blocks.map(lambda b: b[:, :2]),
        columns=(Column("x1", "numeric"), Column("x2", "numeric")),
        baseline=(),
        players=(Player("x1", (0,)), Player("x2", (1,))),
        outcome=outcome,
        prediction=outcome.map(np.zeros_like),
        intercept=outcome.map(np.zeros_like),
        slope=outcome.map(np.ones_like),
    )


def true_shares() -> np.ndarray:
    """Shapley shares of the three mechanisms from large draws of all eight mixtures."""
    mean = {m: linear_world(1_000_000, 9, m)[:, 2].mean() for m in product((0, 1), repeat=3)}
    subsets = SubsetPlan(3).take(8)
    values = [mean[tuple(int(i in s) for i in range(3))] for s in subsets]
    return linear_weights(subsets, 3) @ values


def dowhy_shares(design: Design, seed: int) -> np.ndarray:
    """dowhy's distribution change of the event rate; every mechanism is taken as changed."""
    gcm = pytest.importorskip("dowhy.gcm")
    import networkx as nx
    import pandas as pd

    gcm.util.general.set_random_seed(seed)
    model = gcm.ProbabilisticCausalModel(nx.DiGraph([("x1", "x2"), ("x1", "y"), ("x2", "y")]))
    model.set_causal_mechanism("x1", gcm.EmpiricalDistribution())
    linear = gcm.ml.create_linear_regressor()
    model.set_causal_mechanism("x2", gcm.AdditiveNoiseModel(linear))
    model.set_causal_mechanism(
        "y", gcm.ClassifierFCM(gcm.ml.create_logistic_regression_classifier())
    )
    old, new = (
        pd.DataFrame({"x1": x[:, 0], "x2": x[:, 1], "y": np.where(y == 1, "1", "0")})
        for x, y in zip(design.features, design.outcome, strict=True)
    )
    found = gcm.distribution_change(
        model,
        old,
        new,
        "y",
        num_samples=20_000,
        difference_estimation_func=lambda a, b: np.mean(b == "1") - np.mean(a == "1"),
        independence_test=lambda *_: 0.0,
        conditional_independence_test=lambda *_: 0.0,
    )
    return np.array([found["x1"], found["x2"], found["y"]])


@pytest.mark.filterwarnings("default")
def test_graph_shapley_agrees_with_dowhy_on_a_linear_world() -> None:
    pytest.importorskip("dowhy")
    truth = true_shares()
    pairs = []
    for seed in range(5):
        design = event_rate_design(4000, seed)
        ours = graph_shapley.importance(design, Settings(seed=seed, folds=3), GRAPH).values
        pairs.append((ours, dowhy_shares(design, seed)))
    ours, theirs = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    report("truth ", truth)
    report("whygap", ours.mean(axis=0), ours.std(axis=0, ddof=1))
    report("dowhy ", theirs.mean(axis=0), theirs.std(axis=0, ddof=1))
    assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.015)
    assert ours.mean(axis=0) == pytest.approx(truth, abs=0.015)


@pytest.mark.filterwarnings("default")
def test_disde_agrees_with_whyshift() -> None:
    peer = whyshift_disde()
    differences = []
    for seed in range(5):
        design, model = fitted_design(3000, seed)
        found = disde.decompose(design, Settings(seed=seed), logistic_domains)
        ours = [found.source, found.target, found.shared_source, found.shared_target]
        np.random.seed(seed)  # noqa: NPY002 - the peer draws from the global state
        theirs = peer.degradation_decomp(
            design.features.source,
            design.outcome.source,
            design.features.target,
            design.outcome.target,
            model,
            domain_classifier=LogisticRegression(),
        )
        differences.append(np.array([o.value for o in ours]) - np.array(theirs))
        report("whygap  ", [o.value for o in ours], [o.standard_error for o in ours])
        report("whyshift", theirs)
    assert np.abs(differences)[:, :2].max() < 1e-12
    assert np.abs(differences)[:, 2:].max() < 0.003


def fitted_design(rows: int, seed: int) -> tuple[Design, LogisticRegression]:
    """The linear world with a model fitted on fresh source rows, scored by accuracy."""
    train = linear_world(rows, 1000 + seed, (0, 0, 0))
    model = LogisticRegression().fit(train[:, :2], train[:, 2])
    blank = event_rate_design(rows, seed)
    label = blank.features.map(model.predict)
    return (
        Design.affine(
            features=blank.features,
            columns=blank.columns,
            baseline=(),
            players=blank.players,
            outcome=blank.outcome,
            prediction=label,
            intercept=label.map(lambda f: 1.0 - f),
            slope=label.map(lambda f: 2.0 * f - 1.0),
        ),
        model,
    )


def logistic_domains(design: Design, settings: Settings) -> ByDomain[np.ndarray]:
    """The peer's domain classifier on the peer's number of folds; the folds differ."""
    rng = np.random.default_rng(settings.seed)
    features = np.vstack(list(design.features))
    domain = np.repeat([0, 1], list(design.rows))
    fold = np.concatenate([rng.permutation(n) % 8 for n in design.rows])
    found = np.zeros(len(domain))
    for k in range(8):
        model = LogisticRegression().fit(features[fold != k], domain[fold != k])
        found[fold == k] = model.predict_proba(features[fold == k])[:, 1]
    cut = design.rows.source
    return ByDomain(found[:cut], found[cut:])


def whyshift_disde():
    """Only the package's own DISDE file: the rest of it needs torch and downloads."""
    pytest.importorskip("xgboost")
    found = importlib.util.find_spec("whyshift")
    if found is None or found.origin is None:
        pytest.skip("whyshift is not installed")
    path = Path(found.origin).with_name("disde.py")
    spec = importlib.util.spec_from_file_location("whyshift_disde", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(label, values, errors=None) -> None:
    spread = "" if errors is None else "  sd " + " ".join(f"{e:.4f}" for e in errors)
    print(label, " ".join(f"{v:+.4f}" for v in values) + spread)  # noqa: T201 - kept in the docs
