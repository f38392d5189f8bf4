"""The two primitives over blocks: which rows train, which are predicted, what a failure says."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from learning_designs import featured, make_design, shifted_design

import whygap as wg
from whygap.domains import DOMAINS, ByDomain
from whygap.errors import FitError, TableError
from whygap.learning.binned import BinnedTables
from whygap.learning.models import Constant, Fast, Mean
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.learning.trees import Boosted
from whygap.nuisances.held_out import everywhere, out_of_fold, twins

FAST = Fast(penalty=1e-3)


@dataclass(frozen=True)
class Remembering:
    """A learner that keeps the row numbers it was shown (the first raw column)."""

    seen: list
    name: str = "remembering"

    def fit(self, rows):
        self.seen.append((set(rows.inputs.raw[:, 0]), rows.target, rows.weight))
        return Constant(float(len(self.seen)))


@dataclass(frozen=True)
class Failing:
    """A learner that cannot."""

    error: Exception
    name: str = "failing"

    def fit(self, rows):  # noqa: ARG002 - the protocol
        raise self.error


def rows_of(features, blocks):
    slices = features.blocks.training_rows("source", blocks)
    return np.concatenate([np.arange(s.start, s.stop) for s in slices])


def mean_task(features, design, columns=(0, 1, 2), trained_on=None, domain="source"):
    outcome = design.outcome[domain][features.blocks.order[domain]]
    return MeanTask(
        "p_0",
        "probability",
        columns,
        domain,
        outcome,
        trained_on or features.blocks.complements(),
    )


def numbered_design(source=100, target=80):
    rows = [np.arange(n, dtype=float)[:, None] + 1000 * k for k, n in enumerate((source, target))]
    return make_design(*rows)


def test_a_fit_sees_the_rows_of_its_blocks_and_no_other():
    design = numbered_design()
    features = featured(design)
    seen = []
    fit_means(features, Remembering(seen), mean_task(features, design, (0,)))
    assert len(seen) == 5
    for block, (rows, _, _) in enumerate(seen):
        held_out = set(features.blocks.order.source[features.blocks.rows("source", block)])
        assert rows == set(range(100)) - held_out


def test_targets_and_weights_belong_to_the_rows():
    design = numbered_design()
    weights = ByDomain(np.arange(1.0, 101.0), np.ones(80))
    outcome = ByDomain((np.arange(100) % 2 == 0).astype(float), design.outcome.target)
    design = replace(design, weights=weights, outcome=outcome)
    features = featured(design)
    task = mean_task(features, design, (0,))
    for blocks in task.trained_on:
        rows = rows_of(features, blocks)
        number = features.raw.source[rows, 0]
        assert np.array_equal(task.targets[rows], number % 2 == 0)
        assert np.allclose(features.weights.source[rows], (number + 1) / 50.5)


def test_every_row_is_predicted_by_the_model_that_did_not_see_it():
    design = numbered_design()
    features = featured(design)
    seen = []
    fits = fit_means(features, Remembering(seen), mean_task(features, design, (0,)))
    model = out_of_fold(fits, "source")
    for row, number in enumerate(model):
        assert row not in seen[int(number) - 1][0]


def test_twins_of_a_row_never_saw_it_nor_each_other():
    design = numbered_design()
    features = featured(design)
    seen = []
    task = mean_task(features, design, (0,), features.blocks.halves())
    fits = fit_means(features, Remembering(seen), task)
    pairs = twins(fits, "source")
    assert len(pairs) == 3
    for one, two in pairs:
        for row in range(100):
            left, right = seen[int(one[row]) - 1][0], seen[int(two[row]) - 1][0]
            assert row not in left | right
            assert not left & right
            assert abs(len(left) - 40) <= 2


def test_everywhere_reaches_all_rows_of_the_other_domain():
    design = numbered_design()
    features = featured(design)
    fits = fit_means(features, Mean(), mean_task(features, design, (0,)))
    fitted = everywhere(fits, "target")
    assert set(fitted) == set(features.blocks.complements())
    assert all(values.shape == (80,) for values in fitted.values())


def test_the_empty_set_is_the_mean_of_the_training_rows():
    design = shifted_design()
    features = featured(design)
    task = mean_task(features, design, columns=())
    fits = fit_means(features, FAST, task)
    for block in range(5):
        rows = rows_of(features, features.blocks.complement(block))
        fitted = fits.predict(features.blocks.complement(block), "source", block)
        assert np.allclose(fitted, task.targets[rows].mean())


def test_a_failure_names_the_nuisance_the_blocks_the_columns_and_its_cause():
    design = shifted_design()
    features = featured(design)
    cause = ValueError("singular")
    message = "Fitting p_0 failed on blocks [1, 2, 3, 4] with x0, x2. Got ValueError: singular."
    with pytest.raises(FitError, match=f"^{re.escape(message)} If the learner") as caught:
        fit_means(features, Failing(cause), mean_task(features, design, (0, 2)))
    assert caught.value.__cause__ is cause


def test_a_failing_ratio_says_the_same():
    features = featured(shifted_design())
    cause = RuntimeError("no memory")
    message = "Fitting pi_wzs failed on blocks [1, 2, 3, 4] with x1. Got RuntimeError: no memory."
    with pytest.raises(FitError, match=f"^{re.escape(message)} If the learner") as caught:
        fit_ratios(features, Failing(cause), (1,), "pi_wzs")
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize("cause", [KeyboardInterrupt(), TableError("too small")])
def test_interruptions_and_our_own_errors_pass_through(cause):
    design = shifted_design()
    features = featured(design)
    with pytest.raises(type(cause)) as caught:
        fit_means(features, Failing(cause), mean_task(features, design))
    assert caught.value is cause
    with pytest.raises(type(cause)) as caught:
        fit_ratios(features, Failing(cause), (0,), "pi_w")
    assert caught.value is cause


def test_a_failing_estimator_of_the_user_is_named_by_explain():
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from small_study import make_study

    own = {"classifier": LogisticRegression(C=-1.0), "regressor": LinearRegression()}
    with pytest.raises(
        FitError, match=r"^Fitting p_0 failed on blocks \[1, 2, 3, 4\] with w, a, b, c"
    ) as caught:
        wg.explain(make_study(), detail=(), settings=wg.Settings(learner=own, progress=False))
    assert isinstance(caught.value.__cause__, ValueError)


def test_second_stage_targets_may_differ_by_training_set():
    design = shifted_design()
    features = featured(design)
    blocks = features.blocks.complements()
    targets = {b: np.full(design.rows.target, float(k)) for k, b in enumerate(blocks)}
    task = MeanTask("mu_10_w", "real", (0,), "target", targets, blocks)
    fits = fit_means(features, FAST, task)
    for k, b in enumerate(blocks):
        assert np.allclose(fits.predict(b, "target", 0), k)


def test_a_column_missing_in_one_whole_block_works():
    design = shifted_design()
    features = featured(design)
    raw = design.features.source.copy()
    raw[features.blocks.order.source[features.blocks.rows("source", 2)], 1] = np.nan
    holed = replace(design, features=ByDomain(raw, design.features.target))
    for learner in (FAST, Boosted(rounds=10)):
        with_hole = featured(holed)
        fits = fit_means(with_hole, learner, mean_task(with_hole, holed))
        assert np.isfinite(out_of_fold(fits, "source")).all()
        ratio = fit_ratios(with_hole, learner, (0, 1, 2), "pi")
        assert np.isfinite(out_of_fold(ratio, "source")).all()


@pytest.mark.parametrize("learner", [FAST, Boosted(rounds=5)])
def test_rows_that_are_copied_when_they_are_needed_give_the_same_predictions(monkeypatch, learner):
    design = shifted_design()
    few = featured(design)
    many = replace(few, raw=design.features, gathered={}, binned=BinnedTables(), curvatures={})
    found = []
    for features, most in ((few, 100_000), (many, 100)):
        monkeypatch.setattr("whygap.learning.features._MANY_ROWS", most)
        means = fit_means(features, learner, mean_task(features, design))
        ratios = fit_ratios(features, learner, (0, 1), "pi")
        found.append([out_of_fold(fits, d) for fits in (means, ratios) for d in DOMAINS])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_of_very_many_rows_the_designs_own_table_serves(monkeypatch):
    design = shifted_design()
    monkeypatch.setattr("whygap.learning.features._MANY_ROWS", 100)
    assert featured(design).raw.source is design.features.source
