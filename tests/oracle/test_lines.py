"""Smooth metrics and AUC equal enumeration: corners, points, groups; sums, influence, order 2."""

from dataclasses import replace

import numpy as np
import pytest
from line_worlds import (
    BASES,
    OUTCOME,
    PLAYERS,
    STEPS,
    LineOracle,
    SharesTruth,
    line_world,
    random_mass,
)

from whygap import Metric
from whygap._metrics import METRICS
from whygap.domains import ByDomain
from whygap.estimate.combine import linear_map

CELLS = 36
SCORE = np.random.default_rng(5).choice([0.1, 0.3, 0.45, 0.6, 0.8], CELLS)  # ties on purpose
SCORES = np.random.default_rng(6).choice([0.2, 0.3, 0.5], (CELLS, 3))
CLASS_SCORES = SCORES / SCORES.sum(axis=1, keepdims=True)
OUTCOMES = {
    "binary": np.array([0.0, 1.0]),
    "multiclass": np.arange(3.0),
    "regression": np.array([-0.3, 0.4, 1.5]),
}
NEEDS = {"threshold": 0.5, "quantile": 0.3, "centre": 0.1}


def shown(metric, task):
    """What the metric is shown of every cell of features."""
    if task == "multiclass":
        return CLASS_SCORES if metric.wants == "classes" else CLASS_SCORES.argmax(axis=1)
    return (SCORE >= 0.5).astype(float) if metric.wants == "label" else SCORE


def world_of(metric, task, seed):
    given = metric.bind(**NEEDS, classes=3 if task == "multiclass" else 2)
    prediction = shown(metric, task)
    return line_world(given, lambda x, y: given.per_row(prediction[x], y), OUTCOMES[task], seed)


def rows_of_two_kinds(prediction, outcome):
    return np.stack([prediction * outcome, outcome**2 + 1])


OWN = Metric(terms=rows_of_two_kinds, of=lambda m: np.log(m[1]) * m[0], name="own")
WORLDS = {
    f"{metric.name}, {task}": world_of(metric, task, seed)
    for seed, metric in enumerate((*METRICS, OWN))
    for task in (metric.tasks if metric is not OWN else ("binary", "regression"))
}
BINARY = [n for n, w in WORLDS.items() if n.endswith("binary") and not w.metric.is_mean]
each = pytest.mark.parametrize("name", WORLDS)
MIDDLE = [(step, (*BASES[step], player)) for step in BASES for player in PLAYERS[step]]


def masks(world):
    column = world.features[:, 2]
    return [(column == level).astype(float) for level in np.unique(column)]


def same(left, right, tolerance=1e-10):
    assert left == pytest.approx(right, rel=0, abs=tolerance)


@each
def test_corners_equal_enumeration(name):
    world = WORLDS[name]
    for step, line in LineOracle(world).lines.items():
        for end, corner in zip((line.start, line.end), STEPS[step], strict=True):
            same(end.value, world.value(world.corner(corner)))
            same(end.plugin, world.value(world.corner(corner)))


@each
def test_points_equal_enumeration(name):
    world = WORLDS[name]
    for step, columns in MIDDLE:
        same(LineOracle(world).points(step, columns).value, world.points_value(step, columns))


@each
def test_groups_equal_enumeration_and_add_up(name):
    world, oracle = WORLDS[name], LineOracle(WORLDS[name])
    line = oracle.lines["outcome"]
    groups = [line.contribution(oracle.both(mask)) for mask in masks(world)]
    for mask, group in zip(masks(world), groups, strict=True):
        same(group.value, world.group_truth(mask))
    total, part = sum(groups[1:], groups[0]), line.end - line.start
    same(total.value, part.value, 1e-12)
    same(total.standard_error, part.standard_error, 1e-9)


@each
def test_the_line_leads_from_corner_to_corner(name):
    """Moving nothing and moving everything end at the corners, errors included."""
    oracle = LineOracle(WORLDS[name])
    for step, base in BASES.items():
        line = oracle.lines[step]
        sets = (base, (*base, *PLAYERS[step]))
        for end, columns in zip((line.start, line.end), sets, strict=True):
            value = oracle.points(step, columns)
            same(value.value, end.value, 1e-12)
            same(value.standard_error, end.standard_error, 1e-9)


@each
def test_points_add_up(name):
    """Shapley for two players, with the corners at both ends."""
    world, oracle = WORLDS[name], LineOracle(WORLDS[name])
    matrix = np.array([[-0.5, 0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, 0.5]])
    for step, base in BASES.items():
        line = oracle.lines[step]
        middle = [line.start, *(oracle.points(step, (*base, p)) for p in PLAYERS[step]), line.end]
        shares = linear_map(matrix, middle)
        sets = [base, *((*base, p) for p in PLAYERS[step]), (*base, *PLAYERS[step])]
        truth = matrix @ [world.points_value(step, columns) for columns in sets]
        for share, expected in zip(shares, truth, strict=True):
            same(share.value, expected)
        same(sum(s.value for s in shares), line.end.value - line.start.value, 1e-12)


@each
def test_outcome_first(name):
    """Corners, sums and influence where W and the outcome move before the covariates."""
    world = replace(WORLDS[name], outcome_first=True)
    oracle, lines = LineOracle(world), LineOracle(world).lines
    rng = np.random.default_rng(9)
    other = ByDomain(*(random_mass(len(world.outcome), rng) for _ in range(2)))
    base, columns = (0, 1, OUTCOME), (0, 1, OUTCOME, 2)
    same(oracle.points("covariate", base).value, lines["covariate"].start.value, 1e-10)
    asked = [
        (lines["outcome"].end, lambda w: w.value(w.corner("110"))),
        (oracle.points("covariate", columns), lambda w: w.points_value("covariate", columns)),
    ]
    same(lines["covariate"].end.value, world.value(world.mass.target))
    for estimate, functional in asked:
        same(estimate.value, functional(world))
        for domain in ("source", "target"):
            per_row = getattr(estimate.influence, domain) / oracle.sample.weights[domain]
            expected = derivative(functional, world, other, domain)
            assert float(other[domain] @ per_row) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def derivative(functional, world, other, domain):
    """Fourth-order central difference towards another distribution, at 0."""
    h = 1e-3
    near, far = (
        functional(world.towards(other, domain, k * h))
        - functional(world.towards(other, domain, -k * h))
        for k in (1, 2)
    )
    return (8 * near - far) / (12 * h)


@each
@pytest.mark.parametrize("domain", ["source", "target"])
def test_influence(name, domain):
    world, oracle = WORLDS[name], LineOracle(WORLDS[name])
    rng = np.random.default_rng(9)
    other = ByDomain(*(random_mass(len(world.outcome), rng) for _ in range(2)))
    lines, mask = oracle.lines, masks(world)[0]
    asked = [(lines["baseline"].end, lambda w: w.value(w.corner("100")))]
    asked += [(lines["outcome"].start, lambda w: w.value(w.corner("110")))]
    asked += [(oracle.group(mask), lambda w: w.group_truth(mask))]
    asked += [
        (oracle.points(step, columns), lambda w, s=step, c=columns: w.points_value(s, c))
        for step, columns in MIDDLE
    ]
    for estimate, functional in asked:
        per_row = getattr(estimate.influence, domain) / oracle.sample.weights[domain]
        expected = derivative(functional, world, other, domain)
        assert float(other[domain] @ per_row) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def nuisances(world):
    """Names of nuisances, and the columns they are functions of."""
    terms = [f"u{k}" for k in range(len(world.terms))]
    if world.metric.pairs:
        labels = range(len(world.terms) // 2)
        terms = [f"y{k}" for k in labels]
        terms += [f"v{k} {corner}" for k in labels for corner in ("000", "100", "110")]
    given_w = {f"{term} | w": (0, 1) for term in terms}
    given_wz = {f"{term} | wz": (0, 1, 2, 3) for term in terms if term[0] in "uy"}
    return {**given_w, **given_wz, "pi_w": (0, 1), "pi_wz": (0, 1, 2, 3)}


@each
def test_orthogonal(name):
    """Moving any nuisance by h moves corners, points and groups by h^2."""
    world, rng = WORLDS[name], np.random.default_rng(2)
    mask, h = masks(world)[1], 1e-4
    step, columns = MIDDLE[-1]
    own = {"mu_s": columns, "pi_s": columns}
    for nuisance, of in {**nuisances(world), **own}.items():
        codes = world.codes(of)
        noise = rng.normal(size=int(codes.max()) + 1)[codes]
        moved = []
        for sign in (1, -1):
            oracle = LineOracle(world, {nuisance: sign * h * noise})
            ends = [e.value for line in oracle.lines.values() for e in (line.start, line.end)]
            asked = [(step, columns)] if nuisance in own else MIDDLE
            middle = [oracle.points(*one).value for one in asked]
            moved.append([*ends, *middle, oracle.group(mask).value])
        slopes = np.subtract(*moved) / (2 * h)
        assert np.abs(slopes).max() < 1e-5, nuisance


@pytest.mark.parametrize("name", BINARY)
def test_the_papers_numerators(name):
    """Values and influence, the error of l included."""
    world, oracle = WORLDS[name], LineOracle(WORLDS[name])
    rng = np.random.default_rng(9)
    other = ByDomain(*(random_mass(len(world.outcome), rng) for _ in range(2)))
    asked = [
        (oracle.outcome_denominator(), lambda w: SharesTruth(w).outcome_denominator()),
        (oracle.outcome_numerator((2,)), lambda w: SharesTruth(w).outcome_numerator((2,))),
        (oracle.covariate_numerator((2,)), lambda w: SharesTruth(w).covariate_numerator((2,))),
        (oracle.covariate_numerator(()), lambda w: SharesTruth(w).covariate_numerator(())),
    ]
    for estimate, functional in asked:
        assert estimate.value == pytest.approx(functional(world), rel=1e-7, abs=1e-10)
        for domain in ("source", "target"):
            per_row = getattr(estimate.influence, domain) / oracle.sample.weights[domain]
            expected = derivative(functional, world, other, domain)
            assert float(other[domain] @ per_row) == pytest.approx(expected, rel=1e-5, abs=1e-7)
