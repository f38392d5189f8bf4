"""Every family of metrics from tables to answers: sums are exact, ends are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk

import whygap as wg

ROLES = {
    "binary": {"outcome": "sick", "prediction": "risk"},
    "multiclass": {"outcome": "grade", "prediction": {c: f"p_{c}" for c in "abc"}},
    "regression": {"outcome": "cost", "prediction": "guess"},
}


def table(rows: int, seed: int, *, moved: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.normal(0.4 * moved, 1, rows)
    dose = rng.normal(0.5 * age + 0.4 * moved, 1, rows)
    stay = rng.normal(0.3 * dose, 1, rows)
    line = 0.5 * age + dose - 0.7 * stay
    cost = line + 1.5 * moved * stay + rng.normal(0, 1, rows)
    scores = np.exp(np.stack([-line, np.full(rows, 0.3), line], axis=1))
    scores /= scores.sum(axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "age": age,
            "dose": dose,
            "stay": stay,
            "cost": cost,
            "guess": line,
            "sick": (cost > 0.2).astype(int),
            "risk": np.round(1 / (1 + np.exp(-1.5 * line)), 2).clip(0.01, 0.99),
            "grade": np.array(list("abc"))[np.digitize(cost, [-0.7, 0.7])],
            **{f"p_{c}": scores[:, k] for k, c in enumerate("abc")},
            "weight": rng.uniform(0.5, 2, rows),
            "ward": rng.integers(0, 120, rows) + 1000 * moved,
        }
    )


SOURCE, TARGET = table(900, 1, moved=False), table(700, 2, moved=True)


def explained(task, metric, detail=(), source=SOURCE, target=TARGET, **more):
    settings = wg.Settings(
        learner="fast", progress=False, **{"support": "all", **more.pop("how", {})}
    )
    roles = {"baseline": ["age"], "covariates": ["dose", "stay"], **ROLES[task], **more}
    return wg.explain(source, target, metric=metric, detail=detail, settings=settings, **roles)


def label(rows):
    return rows["risk"] >= 0.5


def scores(rows):
    return rows[["p_a", "p_b", "p_c"]].to_numpy()


def guessed(rows):
    return np.array(list("abc"))[scores(rows).argmax(axis=1)]


def r2(rows, weight=None):
    return sk.r2_score(rows["cost"], rows["guess"], sample_weight=weight)


def auc(rows, weight=None):
    return sk.roc_auc_score(rows["sick"], rows["risk"], sample_weight=weight)


def f1(rows, weight=None):
    return sk.f1_score(rows["sick"], label(rows), sample_weight=weight)


def macro_f1(rows, weight=None):
    return sk.f1_score(rows["grade"], guessed(rows), average="macro", sample_weight=weight)


def macro_auc(rows, weight=None):
    one = [
        sk.roc_auc_score(rows["grade"] == c, rows[f"p_{c}"], sample_weight=weight) for c in "abc"
    ]
    return np.mean(one)


FAMILIES = {
    ("binary", "auc"): auc,
    ("binary", "f1"): f1,
    ("multiclass", "macro_f1"): macro_f1,
    ("multiclass", "macro_auc"): macro_auc,
    ("regression", "r2"): r2,
}
each = pytest.mark.parametrize(("task", "metric"), FAMILIES)


@each
def test_parts_points_and_groups_add_up(task, metric):
    gap = explained(task, metric, ("points", "affected"))
    parts, ours = gap.parts, FAMILIES[task, metric]
    assert gap.source.value == pytest.approx(ours(SOURCE), abs=1e-12)
    assert gap.target.value == pytest.approx(ours(TARGET), abs=1e-12)
    total = parts["baseline"] + parts["covariate"] + parts["outcome"]
    assert total.value == pytest.approx(gap.total.value, abs=1e-12)
    for name, joint in gap.points.items():
        assert sum(e.value for e in joint.values()) == pytest.approx(parts[name].value, abs=1e-12)
    affected, outcome = gap.affected["outcome"], parts["outcome"]
    for variable in affected.variables():
        points = [group.points for group in affected.groups_of(variable)]
        whole = sum(points[1:], points[0])
        assert whole.value == pytest.approx(outcome.value, abs=1e-10)
        assert whole.standard_error == pytest.approx(outcome.standard_error, rel=0.01)


@each
def test_weights_and_clusters(task, metric):
    ours = FAMILIES[task, metric]
    plain = explained(task, metric, weights="weight")
    assert plain.source.value == pytest.approx(ours(SOURCE, SOURCE["weight"]), abs=1e-12)
    assert plain.target.value == pytest.approx(ours(TARGET, TARGET["weight"]), abs=1e-12)
    clustered = explained(task, metric, weights="weight", clusters="ward")
    assert clustered.total.value == pytest.approx(plain.total.value, abs=1e-12)
    assert clustered.total.standard_error != plain.total.standard_error


@each
def test_new_ground_leads_from_the_region_to_the_tables(task, metric):
    far = TARGET.assign(dose=np.where(np.arange(len(TARGET)) % 4, TARGET["dose"], 9.0))
    gap = explained(task, metric, target=far, how={"support": "common"})
    ours = FAMILIES[task, metric]
    assert gap.parts["target_only"].value != 0
    assert gap.total.value == pytest.approx(ours(far) - ours(SOURCE), abs=1e-12)
    assert sum(e.value for e in gap.parts.values()) == pytest.approx(gap.total.value, abs=1e-12)


def test_repeated_cross_fitting_and_several_workers():
    serial = explained("binary", "auc", ("points", "affected"), how={"repeats": 2})
    spread = explained("binary", "auc", ("points", "affected"), how={"repeats": 2, "n_jobs": 2})
    for name, estimate in serial.points["covariate"].items():
        assert spread.points["covariate"][name].value == estimate.value
    points = [group.points.value for group in serial.affected["outcome"].groups_of("stay")]
    assert sum(points) == pytest.approx(serial.parts["outcome"].value, abs=1e-10)


def test_without_a_baseline_the_walk_begins_at_the_source():
    gap = explained("binary", "auc", ("points",), baseline=[])
    assert list(gap.parts) == ["covariate", "outcome"]
    assert list(gap.points) == ["covariate"]
    total = gap.parts["covariate"] + gap.parts["outcome"]
    assert total.value == pytest.approx(gap.total.value, abs=1e-12)


def test_shares_of_a_ratio_and_of_ranks():
    for metric in ("recall", "auc"):
        outcome = explained("binary", metric, ("shares",)).shares["outcome"]
        assert outcome.defined
        total = sum(share.value for share in outcome.values.values())
        assert total == pytest.approx(1 - outcome.base.value, abs=1e-9)


def test_classes_right_or_wrong_have_shares_and_others_say_why_not():
    assert explained("multiclass", "accuracy", ("shares",)).shares["outcome"].defined
    for task, metric in (("multiclass", "log_loss"), ("regression", "mse")):
        part = explained(task, metric, ("shares",)).shares["covariate"]
        assert not part.defined
        assert part.reason.startswith(
            f"Shares are defined for an outcome of two values; '{metric}' of "
        )


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_budgets_of_other_outcomes(task):
    found = explained(task, "mse" if task == "regression" else "brier", ("recoverable",))
    here, mix = found.recoverable, found.recoverable.reweighted
    error = found.target.value
    assert here.total.value + here.irreducible.value == pytest.approx(error, abs=1e-9)
    won = here.recalibration.value + sum(e.value for e in here.variables.values())
    assert won == pytest.approx(here.total.value, abs=1e-9)
    assert here.variables["stay"].value > 2 * here.variables["stay"].standard_error
    # Source labels cannot show a change that only the target has.
    assert abs(mix.total.value) < here.total.value / 3
    assert mix.irreducible.value > 0


def test_the_models_own_groups():
    classes = explained("multiclass", "accuracy", ("affected",)).affected["outcome"]
    assert [group.label for group in classes.groups_of("the model's label")] == list("abc")
    numbers = explained("regression", "mae", ("affected",)).affected["outcome"]
    assert "the model's label" not in numbers.variables()
    assert len(numbers.groups_of("the model's score")) == 6


def test_a_metric_of_ones_own():
    own = wg.Metric(terms=lambda f, y: np.stack([(f - y) ** 2, y]), of=lambda m: m[0] / m[1])
    gap = explained("binary", own, ("points", "affected"))

    def ratio(rows):
        return np.mean((rows["risk"] - rows["sick"]) ** 2) / np.mean(rows["sick"])

    assert gap.total.value == pytest.approx(ratio(TARGET) - ratio(SOURCE), abs=1e-12)
    shown = sum(e.value for e in gap.points["covariate"].values())
    assert shown == pytest.approx(gap.parts["covariate"].value, abs=1e-10)


def test_several_targets():
    study = wg.Study(SOURCE, TARGET, metric="auc", baseline=["age"], **ROLES["binary"])
    targets = {"here": TARGET, "there": table(500, 5, moved=True)}
    settings = wg.Settings(learner="fast", progress=False, support="all")
    many = wg.explain_many(study, targets, detail=(), settings=settings)
    for name, rows in targets.items():
        found = many[name].total.value
        assert found == pytest.approx(auc(rows) - auc(SOURCE), abs=1e-12)


@each
def test_outcome_first(task, metric):
    gap = explained(task, metric, ("points", "affected", "shares"), order="outcome first")
    parts, ours = gap.parts, FAMILIES[task, metric]
    assert list(parts) == ["baseline", "outcome", "covariate"]
    assert gap.outcome_first
    assert gap.total.value == pytest.approx(ours(TARGET) - ours(SOURCE), abs=1e-12)
    assert sum(e.value for e in parts.values()) == pytest.approx(gap.total.value, abs=1e-12)
    shown = sum(e.value for e in gap.points["covariate"].values())
    assert shown == pytest.approx(parts["covariate"].value, abs=1e-12)
    assert gap.affected == {}
    assert any(note.kind == "outcome_first" for note in gap.notes)
    assert gap.shares["outcome"].reason.startswith(
        "Shares are defined where the covariates come first."
    )
    assert "among rows alike in age and " in gap.summary().replace("\n", " ").replace("  ", " ")


def test_label_shift_is_the_outcome_part():
    """Only the share of the sick differs: all of the gap is the outcome's, and points are 0."""
    rows = table(4000, 7, moved=False)
    sick, well = (rows[rows["sick"] == k] for k in (1, 0))
    source = pd.concat([sick[:600], well[:600]])
    target = pd.concat([sick[600:1300], well[600:900]])
    parts = explained(
        "binary", "accuracy", source=source, target=target, baseline=[], order="outcome first"
    ).parts
    covariate = parts["covariate"]
    assert abs(covariate.value) < 3 * covariate.standard_error
    within = source.assign(right=label(source) == source["sick"]).groupby("sick")["right"].mean()
    expected = (target["sick"].mean() - source["sick"].mean()) * (within[1] - within[0])
    assert parts["outcome"].value == pytest.approx(expected, abs=0.1 * covariate.standard_error)


def test_budgets_do_not_depend_on_the_order():
    first, last = (
        explained("binary", "auc", ("recoverable",), order=order).recoverable
        for order in ("outcome first", "covariates first")
    )
    assert first.total.value == pytest.approx(last.total.value, abs=1e-12)


def test_an_order_that_does_not_exist():
    with pytest.raises(wg.errors.InputError) as caught:
        explained("binary", "auc", order="outcome firs")
    assert str(caught.value) == (
        "The argument 'order' must be 'covariates first' or 'outcome first'. Got 'outcome firs'. "
        "Did you mean 'outcome first'?"
    )
