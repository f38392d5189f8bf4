from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from repair_worlds import world
from sklearn.base import clone

from whygap.domains import ByDomain
from whygap.errors import ColumnError, ModelError, ResultError, SettingsError, TableError
from whygap.repair import check_model_file, contrast_rankings, revise_design, save_model
from whygap.settings import Settings
from whygap.tables.model_files import load_model

NAMES = ("z1", "z2", "z3", "z4")
SETTINGS = Settings(folds=3)


@pytest.fixture(scope="module")
def design():
    return world(ByDomain(1200, 900))


@pytest.fixture(scope="module")
def revision(design):
    return revise_design(design, NAMES, top=1, settings=SETTINGS)


def table_of(design, domain="target"):
    names = [column.name for column in design.columns]
    return pa.table(dict(zip(names, design.features[domain].T, strict=True)))


def test_the_shifted_variable_wins_most_of_the_gap_back(revision):
    gains = [revision.gain(revision.step("targeted", k)).value for k in (0, 1)]
    ceiling = revision.gain(revision.step("retrained")).value
    assert gains[1] > gains[0] + 0.03
    assert gains[1] > 0.8 * ceiling
    low, _ = revision.gain(revision.step("targeted", 1)).interval()
    assert low > 0


def test_reweighting_cannot_repair_an_outcome_shift(revision):
    kept = revision.step("reweighted", 1)
    assert revision.gain(kept).value < 0.02
    assert 0 < kept.effective_rows <= 1200


def test_steps_are_named_and_paired(revision):
    kinds = [(step.kind, step.k, step.variables) for step in revision.steps]
    assert kinds == [
        ("original", 0, ()),
        ("targeted", 0, ()),
        ("targeted", 1, ("z1",)),
        ("reweighted", 0, ()),
        ("reweighted", 1, ("z1",)),
        ("retrained", 4, NAMES),
    ]
    one, zero = revision.step("targeted", 1), revision.step("targeted", 0)
    paired = revision.difference(one, zero, "brier")
    assert paired.value == pytest.approx(one.scores.brier.value - zero.scores.brier.value)


def test_held_out_scores_are_honest(design, revision):
    """The final model, on fresh rows of the target, scores as promised."""
    fresh = world(ByDomain(10, 20_000), seed=77)
    risk = revision.model.predict_proba(table_of(fresh))[:, 1]
    brier = float(np.mean((risk - fresh.outcome.target) ** 2))
    promised = revision.step("targeted", 1).scores.brier
    assert abs(brier - promised.value) < 4 * promised.standard_error


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars"])
def test_the_model_takes_the_users_table(design, revision, kind):
    table = table_of(design)
    shown = {"pyarrow": lambda: table, "pandas": table.to_pandas}
    polars = pytest.importorskip("polars")
    rows = polars.from_arrow(table) if kind == "polars" else shown[kind]()
    expected = revision.model.predict_proba(table)
    assert revision.model.predict_proba(rows) == pytest.approx(expected)
    assert set(revision.model.predict(rows)) == {0, 1}


def test_the_model_clones_refits_and_pickles(design, revision):
    table, y = table_of(design), design.outcome.target
    again = clone(revision.model).fit(table, y)
    assert again.predict_proba(table) == pytest.approx(revision.model.predict_proba(table))
    loaded = pickle.loads(pickle.dumps(revision.model))  # noqa: S301 - our own bytes
    assert loaded.predict_proba(table) == pytest.approx(revision.model.predict_proba(table))


def test_the_model_can_be_written_with_skops(design, revision):
    skops = pytest.importorskip("skops.io")
    kept = skops.dumps(revision.model)
    loaded = skops.loads(kept, trusted=skops.get_untrusted_types(data=kept))
    table = table_of(design)
    assert loaded.predict_proba(table) == pytest.approx(revision.model.predict_proba(table))


@pytest.mark.parametrize("kind", ["skops", "pkl"])
def test_the_model_is_saved_to_a_file(design, revision, tmp_path, kind):
    path = save_model(revision.model, tmp_path / f"revised.{kind}")
    loaded = load_model(path, unsafe_pickle=True)
    table = table_of(design)
    assert loaded.predict_proba(table) == pytest.approx(revision.model.predict_proba(table))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_formats_that_cannot_be_written_are_refused(monkeypatch):
    with pytest.raises(ModelError) as caught:
        check_model_file("revised.onnx")
    assert str(caught.value) == (
        "The revised model cannot be written to 'revised.onnx'. Got the format '.onnx'. "
        "Use .skops, or .pkl for a pickle."
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelError) as refused:
        check_model_file("revised.skops")
    assert str(refused.value) == (
        "Writing 'revised.skops' needs skops. "
        "Install it: pip install 'whygap[skops]'; or write a .pkl."
    )


def test_a_missing_column_and_a_non_table_are_refused(design, revision):
    with pytest.raises(ColumnError) as caught:
        revision.model.predict_proba(table_of(design).drop_columns(["z1"]))
    assert str(caught.value) == "Column 'z1' is not in the table."
    with pytest.raises(TableError) as refused:
        revision.model.predict_proba([[1.0, 2.0]])
    assert str(refused.value) == (
        "The revised model needs a table. Got list. "
        "Give a pandas, polars or pyarrow table with the study's columns."
    )


def test_contrasts_are_zero_where_the_choices_agree(design):
    found = contrast_rankings(design, ("z1", "z2"), ("z2", "z1"), top=2, settings=SETTINGS)
    first, second = found
    assert first.auc.interval()[0] > 0
    assert (first.first, first.second) == (("z1",), ("z2",))
    assert second.auc.value == 0
    assert second.auc.standard_error == 0


def test_a_known_source_risk_is_used(design, revision):
    known = replace(design, source_risk=design.prediction)
    revised = revise_design(known, NAMES, top=0, settings=SETTINGS, risk_column="risk")
    fitted = revision.step("targeted", 0).scores.auc
    assert revised.step("targeted", 0).scores.auc.value == pytest.approx(fitted.value, abs=0.02)
    table = table_of(design).append_column("risk", pa.array(design.prediction.target))
    assert np.isfinite(revised.model.predict_proba(table)).all()


def test_words_table_and_mapping_agree(revision):
    table = revision.to_frame()
    mapping = revision.to_mapping()
    assert table.num_rows == len(mapping["steps"]) == 6 * 4
    line = next(s for s in mapping["steps"] if (s["kind"], s["k"]) == ("targeted", 1))
    assert line["metric"] == "accuracy"
    assert line["estimate"] == revision.step("targeted", 1).scores.accuracy.value
    words = str(revision)
    assert "Revised with z1: AUC +0." in words
    assert "Intervals: 95%" in words
    low, high = revision.gain(revision.step("targeted", 1)).interval(0.8)
    assert f"({low:+.3f} to {high:+.3f}) over" in str(replace(revision, level=0.8))
    assert "Intervals: 99.9%; scores on target rows whose outcomes the fit has not seen." in str(
        replace(revision, level=0.999)
    )


def test_a_source_risk_worse_than_the_model_is_pointed_out(revision):
    assert "source_risk=" not in str(revision)
    poor = world(ByDomain(60, 900), shift=0.3)
    told = str(revise_design(poor, NAMES, top=0, settings=SETTINGS))
    assert "Revised with no variable (source risk and baseline only): AUC " in told
    assert "The source risk, learned from the source rows, ranks worse than the model" in told
    assert told.count("copy them to a column and name it in source_risk=.") == 1


@pytest.mark.parametrize(
    ("names", "top", "message"),
    [
        (
            NAMES,
            5,
            (
                "top is larger than the number of players. Got 5 of 4. "
                "Use top=4 to revise with every variable."
            ),
        ),
        (NAMES, -1, "top must be a whole number, 0 or more. Got -1."),
        (NAMES, True, "top must be a whole number, 0 or more. Got True."),
        (
            ("z1", "age"),
            1,
            (
                "The ranking names 'age', which is no player of the study. "
                "Players are: z1, z2, z3, z4."
            ),
        ),
        (("z1", "z1"), 1, "The ranking names 'z1' twice."),
        (("z1",), 2, "The ranking is shorter than top. Got 1 names for top=2."),
    ],
)
def test_bad_choices_are_refused(design, names, top, message):
    with pytest.raises(SettingsError) as caught:
        revise_design(design, names, top=top)
    assert str(caught.value) == message


def test_too_few_target_rows_are_refused():
    few = world(ByDomain(200, 30))
    with pytest.raises(TableError) as caught:
        revise_design(few, NAMES)
    assert str(caught.value) == (
        "Revising needs at least 50 target rows with at least 10 of each outcome. "
        f"Got 30 rows, {int(few.outcome.target.sum())} with the outcome. "
        "Label more target rows; plan_labels says how many an interval needs."
    )
    one_sided = replace(world(ByDomain(200, 80)), outcome=ByDomain(np.zeros(200), np.zeros(80)))
    with pytest.raises(TableError, match=r"Got 80 rows, 0 with the outcome\."):
        revise_design(one_sided, NAMES)


def test_unknown_steps_and_scores_are_refused(revision):
    with pytest.raises(ResultError) as caught:
        revision.step("targeted", 7)
    assert str(caught.value) == (
        "There is no step 'targeted' with k=7. Steps are: original 0, targeted 0, targeted 1, "
        "reweighted 0, reweighted 1, retrained 4."
    )
    with pytest.raises(SettingsError) as refused:
        revision.gain(revision.step("retrained"), "acc")
    assert str(refused.value) == ("There is no score 'acc'. Did you mean 'auc'?")
