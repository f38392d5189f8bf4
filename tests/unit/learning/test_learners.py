"""Every learner behind the one protocol: it learns, keeps ranges, and survives odd tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learning_designs import inputs_of, trained
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from whygap.learning.estimators import OwnEstimators
from whygap.learning.inputs import Inputs, Lift
from whygap.learning.models import Fast, Mean, TrainingRows
from whygap.learning.trees import Boosted, side_by_side

FAST = Fast(penalty=1e-3)
TREES = Boosted(rounds=30)
QUICK = [FAST, TREES, replace(TREES, start=FAST)]
OWN = OwnEstimators(LogisticRegression(), LinearRegression())
ALL = [*QUICK, OWN]
ids = {"ids": lambda learner: learner.name}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    raw = rng.normal(size=(1500, 3))
    risk = 1 / (1 + np.exp(-(0.5 + 1.5 * raw[:, 0] - raw[:, 1])))
    label = (rng.random(1500) < risk).astype(float)
    everything = inputs_of(raw)
    return part(everything, slice(0, 1000)), part(everything, slice(1000, None)), label, risk


def part(inputs: Inputs, rows: slice) -> Inputs:
    return replace(inputs, raw=inputs.raw[rows], basis=inputs.basis[rows])


@pytest.mark.parametrize("learner", ALL, **ids)
def test_probabilities_are_learned_and_stay_probabilities(table, learner):
    train, held_out, label, risk = table
    model = trained(learner, train, label[:1000], np.ones(1000), "probability")
    fitted = model.predict(held_out)
    assert fitted.shape == (500,)
    assert ((fitted >= 0) & (fitted <= 1)).all()
    assert np.mean((fitted - risk[1000:]) ** 2) < 0.3 * np.var(risk)


@pytest.mark.parametrize("learner", ALL, **ids)
@pytest.mark.parametrize("kind", ["bounded", "real"])
def test_other_targets_are_learned(table, learner, kind):
    train, held_out, _, risk = table
    target = 0.2 + 0.5 * risk if kind == "bounded" else 100 * risk
    fitted = trained(learner, train, target[:1000], np.ones(1000), kind).predict(held_out)
    assert np.mean((fitted - target[1000:]) ** 2) < 0.15 * np.var(target)


@pytest.mark.parametrize("learner", QUICK, **ids)
def test_a_bounded_target_keeps_its_range(table, learner):
    train, held_out, _, risk = table
    target = 0.2 + 0.5 * risk
    fitted = trained(learner, train, target[:1000], np.ones(1000), "bounded").predict(held_out)
    assert fitted.min() >= target[:1000].min()
    assert fitted.max() <= target[:1000].max()


@pytest.mark.parametrize("learner", ALL, **ids)
@pytest.mark.parametrize("kind", ["probability", "bounded", "real"])
def test_without_columns_every_learner_is_the_weighted_mean(learner, kind):
    empty = inputs_of(np.zeros((40, 0)))
    target = (np.arange(40) % 4 == 0).astype(float)
    weight = np.where(target > 0, 2.0, 1.0)
    fitted = trained(learner, empty, target, weight, kind).predict(empty)
    assert np.allclose(fitted, 20 / 50)


@pytest.mark.parametrize("learner", ALL, **ids)
@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
def test_a_constant_target_is_returned(table, learner, value):
    train, held_out, _, _ = table
    kind = "probability" if value in (0, 1) else "bounded"
    model = trained(learner, train, np.full(1000, value), np.ones(1000), kind)
    assert np.allclose(model.predict(held_out), value)


@pytest.mark.parametrize("learner", [FAST, OWN], **ids)
@pytest.mark.parametrize("kind", ["probability", "real"])
def test_weights_are_replicated_rows_for_linear_learners(table, learner, kind):
    train, held_out, label, _ = table
    count = np.random.default_rng(0).integers(1, 4, 1000)
    rows = np.repeat(np.arange(1000), count)
    weighted = trained(learner, train, label[:1000], count.astype(float), kind)
    copies = replace(train, raw=train.raw[rows], basis=train.basis[rows])
    replicated = trained(learner, copies, label[:1000][rows], np.ones(len(rows)), kind)
    assert np.allclose(weighted.predict(held_out), replicated.predict(held_out), atol=1e-4)


def test_rows_without_weight_teach_trees_nothing(table):
    train, held_out, label, _ = table
    weight = np.r_[np.ones(700), np.full(300, 1e-9)]
    spoiled = np.r_[label[:700], 1 - label[700:1000]]
    one = trained(TREES, train, label[:1000], weight, "probability").predict(held_out)
    two = trained(TREES, train, spoiled, weight, "probability").predict(held_out)
    unweighted = trained(TREES, train, spoiled, np.ones(1000), "probability").predict(held_out)
    assert np.abs(one - two).mean() < 0.1 * np.abs(one - unweighted).mean()


@pytest.mark.parametrize("learner", QUICK, **ids)
def test_the_same_rows_give_the_same_model(table, learner):
    train, held_out, label, _ = table
    first = trained(learner, train, label[:1000], np.ones(1000), "probability")
    second = trained(learner, train, label[:1000], np.ones(1000), "probability")
    assert np.array_equal(first.predict(held_out), second.predict(held_out))


def test_trees_on_top_learn_what_the_fast_learner_cannot():
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(3000, 2))
    target = np.where((raw[:, 0] > 0.3) & (raw[:, 1] > 0.3), 1.0, 0.0) + 0.5 * raw[:, 0]
    inputs = inputs_of(raw)
    errors = {}
    train, held_out = part(inputs, slice(0, 2000)), part(inputs, slice(2000, None))
    for learner in (FAST, replace(TREES, start=FAST)):
        fitted = trained(learner, train, target[:2000], np.ones(2000), "real").predict(held_out)
        errors[learner.name] = np.mean((target[2000:] - fitted) ** 2)
    assert errors["boosted on fast"] < 0.3 * errors["fast"]


def test_a_staged_prediction_is_the_shorter_booster_of_its_shape(table):
    train, held_out, label, _ = table
    rows = TrainingRows(train, label[:1000], np.ones(1000), "probability")
    for learner in (TREES, replace(TREES, start=FAST)):
        shapes = [replace(learner, leaves=leaves) for leaves in (4, 12)]
        for shape, growing in zip(
            shapes, side_by_side(shapes, rows, held_out, (7, 12)), strict=True
        ):
            for rounds, found in zip((7, 12), growing, strict=True):
                short = replace(shape, rounds=rounds).fit(rows)
                assert np.allclose(found, short.predict(held_out))


def test_nothing_to_learn_is_the_mean_at_every_stage(table):
    train, held_out, _, _ = table
    rows = TrainingRows(train, np.full(1000, 0.3), np.ones(1000), "bounded")
    (growing,) = side_by_side([TREES], rows, held_out, (7, 12))
    for found in growing:
        assert np.allclose(found, 0.3)


def test_rows_that_were_seen_with_the_same_extra_value_are_predicted_alike(table):
    train, held_out, label, _ = table
    rng = np.random.default_rng(0)

    def beside(inputs, position):
        return replace(inputs, lift=Lift(position, position[:, None], ()))

    seen = beside(train, rng.integers(0, 3, 1000).astype(float))
    model = trained(TREES, seen, label[:1000] * (seen.lift.position > 0), np.ones(1000), "real")
    first = rng.integers(0, 3, len(held_out)).astype(float)
    second = np.where(rng.random(len(held_out)) < 0.5, first, 1.0)
    kept = replace(held_out, grown={})
    for position in (first, second, first):
        alone = model.predict(beside(held_out, position))
        assert np.array_equal(model.predict(beside(kept, position)), alone)
    assert not np.array_equal(alone, model.predict(beside(kept, second)))


@pytest.mark.parametrize("learner", QUICK, **ids)
def test_ten_thousand_levels_can_be_fitted(learner):
    rng = np.random.default_rng(1)
    level = rng.integers(0, 10_000, 4000).astype(float)
    raw = np.column_stack([level, rng.normal(size=4000)])
    label = (rng.random(4000) < np.where(level < 5000, 0.3, 0.6)).astype(float)
    inputs = inputs_of(raw, kinds=["category", "numeric"])
    fitted = trained(learner, inputs, label, np.ones(4000), "probability").predict(inputs)
    assert np.isfinite(fitted).all()
    assert ((fitted >= 0) & (fitted <= 1)).all()


@pytest.mark.parametrize("learner", QUICK, **ids)
def test_a_column_missing_in_every_training_row_can_be_fitted(table, learner):
    rng = np.random.default_rng(1)
    raw = rng.normal(size=(600, 2))
    raw[:300, 1] = np.nan
    label = (rng.random(600) < 1 / (1 + np.exp(-raw[:, 0]))).astype(float)
    inputs = inputs_of(raw)
    model = trained(learner, part(inputs, slice(0, 300)), label[:300], np.ones(300), "probability")
    fitted = model.predict(part(inputs, slice(300, None)))
    assert np.isfinite(fitted).all()
    assert np.corrcoef(fitted, raw[300:, 0])[0, 1] > 0.3


def test_own_estimators_are_cloned_and_never_changed(table):
    train, held_out, label, _ = table
    classifier = RandomForestClassifier(n_estimators=5, random_state=0)
    regressor = LinearRegression()
    before = (classifier.get_params(), dict(vars(classifier)), dict(vars(regressor)))
    own = OwnEstimators(classifier, regressor)
    for kind in ("probability", "real"):
        trained(own, train, label[:1000], np.ones(1000), kind).predict(held_out)
    assert (classifier.get_params(), dict(vars(classifier)), dict(vars(regressor))) == before
    assert not hasattr(classifier, "classes_")


def test_own_estimators_without_a_random_state_take_the_seed(table):
    train, held_out, label, _ = table
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=3))
    fixed = RandomForestClassifier(n_estimators=3, random_state=4)

    def fitted(classifier, seed):
        own = OwnEstimators(classifier, LinearRegression(), seed=seed)
        return trained(own, train, label[:1000], np.ones(1000), "probability").predict(held_out)

    np.testing.assert_array_equal(fitted(forest, 1), fitted(forest, 1))
    assert not np.array_equal(fitted(forest, 1), fitted(forest, 2))
    np.testing.assert_array_equal(fitted(fixed, 1), fitted(fixed, 2))
    assert forest[-1].random_state is None


def test_own_estimators_see_the_raw_columns(table):
    train, held_out, label, _ = table
    ours = trained(OWN, train, label[:1000], np.ones(1000), "probability").predict(held_out)
    theirs = LogisticRegression().fit(train.raw, label[:1000]).predict_proba(held_out.raw)[:, 1]
    assert np.allclose(ours, theirs)


def test_own_estimators_that_cannot_take_weights_say_so(table):
    from sklearn.neighbors import KNeighborsClassifier

    train, _, label, _ = table
    own = OwnEstimators(KNeighborsClassifier(), LinearRegression())
    trained(own, train, label[:1000], np.ones(1000), "probability")
    with pytest.raises(TypeError, match="sample_weight"):
        trained(own, train, label[:1000], np.linspace(1, 2, 1000), "probability")


def test_the_mean_is_weighted():
    target, weight = np.array([1.0, 0.0]), np.array([3.0, 1.0])
    inputs = inputs_of(np.zeros((2, 0)))
    assert np.allclose(trained(Mean(), inputs, target, weight, "real").predict(inputs), 0.75)


def test_a_table_in_single_precision_gives_nearly_the_same_predictions(table):
    train, held_out, label, _ = table
    arguments = (label[:1000], np.ones(1000), "probability")
    exact = trained(FAST, train, *arguments).predict(held_out)
    single = [replace(x, basis=x.basis.astype(np.float32)) for x in (train, held_out)]
    fitted = trained(FAST, single[0], *arguments).predict(single[1])
    assert fitted.dtype == np.float64
    assert np.abs(fitted - exact).max() < 1e-5
