"""A learner that fails: the error names the nuisance, the blocks, the columns, and the cause."""

from __future__ import annotations

import os

import numpy as np
import pytest
from failing_estimators import FailsAt, FailsElsewhere
from learning_designs import featured, make_design, shifted_design
from sklearn.linear_model import LinearRegression, LogisticRegression
from small_study import make_study, make_table

import whygap as wg
from whygap._explain import explain_design
from whygap.errors import FitError
from whygap.learning.estimators import OwnEstimators
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.settings import Settings


def own(classifier=None, **settings) -> wg.Settings:
    """Settings with a user's estimators."""
    learner = {"classifier": classifier or LogisticRegression(), "regressor": LinearRegression()}
    return wg.Settings(learner=learner, progress=False, **settings)


def numeric_study(rows=200, **roles) -> wg.Study:
    """Without categories and missing values: plain estimators can be fitted."""
    pair = (make_table(rows, 0.0, 1), make_table(rows, 1.5, 2))
    extra = [t.assign(d=np.arange(rows) % 7) for t in pair]
    return make_study(*extra, covariates=["a", "b", "d"], **roles)


HINT = "If the learner is your own, look there; else try learner='fast'."


def failure(classifier, detail, study=None, **settings) -> FitError:
    with pytest.raises(FitError) as caught:
        explain_design((study or numeric_study()).design, detail, own(classifier, **settings))
    return caught.value


def test_a_failure_in_a_detailed_part_names_the_columns_of_its_subset():
    # The empty subset has the baseline and the source risk: two columns.
    error = failure(FailsAt(columns=2), "outcome")
    assert str(error) == (
        f"Fitting m failed on blocks [0, 1] with w. Got ArithmeticError: not 2 columns. {HINT}"
    )
    assert isinstance(error.__cause__, ArithmeticError)


def test_a_failure_of_a_density_ratio_names_it():
    # The Brier score is no probability: with it only the ratio classifies on w alone.
    error = failure(FailsAt(columns=1), (), numeric_study(metric="brier"))
    assert str(error) == (
        "Fitting pi_w failed on blocks [1, 2, 3, 4] with w. Got ArithmeticError: not 1 columns. "
        + HINT
    )
    assert isinstance(error.__cause__, ArithmeticError)


def test_a_failure_in_a_worker_arrives_whole():
    error = failure(FailsElsewhere(home=os.getpid()), "outcome", n_jobs=2)
    assert str(error).startswith("Fitting m failed on blocks [0, 1] with w, ")
    assert str(error).endswith(f"Got ZeroDivisionError: not at home. {HINT}")
    assert "not at home" in str(error.__cause__), "the cause, or its traceback from the worker"


@pytest.mark.parametrize("kind", ["probability", "real"])
def test_missing_values_that_an_estimator_cannot_take_are_its_failure(kind):
    rng = np.random.default_rng(0)
    source = rng.normal(size=(60, 2))
    source[7, 1] = np.nan
    design = make_design(source, rng.normal(size=(50, 2)))
    features = featured(design)
    chosen = OwnEstimators(LogisticRegression(), LinearRegression())
    task = MeanTask(
        "p_0",
        kind,
        (0, 1),
        "source",
        design.outcome.source[features.blocks.order.source],
        features.blocks.complements(),
    )
    with pytest.raises(FitError, match=r"^Fitting p_0 failed on blocks \[.*\] with x0, x1\. Got "):
        fit_means(features, chosen, task)
    with pytest.raises(FitError, match=r"^Fitting pi_wz failed on blocks .* with x0, x1\. Got Val"):
        fit_ratios(features, chosen, (0, 1), "pi_wz")
    # The same estimators serve every set without that column.
    fit_ratios(features, chosen, (0,), "pi_w")


def test_the_estimators_a_user_hands_over_are_never_fitted():
    classifier, regressor = LogisticRegression(C=0.3), LinearRegression()
    settings = wg.Settings(
        learner={"classifier": classifier, "regressor": regressor}, progress=False
    )
    before = [dict(vars(classifier)), dict(vars(regressor))]
    gap = wg.explain(numeric_study(), detail="shares", settings=settings)
    assert [dict(vars(classifier)), dict(vars(regressor))] == before
    assert all(record.chosen == "own estimators" for record in gap.diagnostics.nuisances)


def test_the_parameters_of_the_users_estimators_are_respected():
    strict, loose = (
        wg.explain(numeric_study(), detail=(), settings=own(LogisticRegression(C=strength)))
        for strength in (1e-6, 1.0)
    )
    # So strong a penalty leaves no trace of the columns: all ratios are 1.
    assert strict.diagnostics.ratios[1].largest_weight == pytest.approx(1, abs=0.01)
    assert loose.diagnostics.ratios[1].largest_weight > 1.5


def test_too_few_rows_is_said_before_anything_is_fitted():
    design = shifted_design((12, 300))
    with pytest.raises(wg.errors.TableError, match=r"^The source table is too small for 5 folds"):
        featured(design)
    assert featured(shifted_design((120, 300))).blocks.count == Settings().folds
