"""Density ratios of points serve covariate shares: the same numbers, fitted once."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from small_study import covariate_tables, fast, make_study

from whygap._explain import explain_design
from whygap.learning.models import Fast
from whygap.nuisances import covariate
from whygap.nuisances.kept_ratios import KeptRatios


@pytest.fixture
def fitted(monkeypatch):
    asked, plain = [], covariate.fit_ratios

    def counted(features, learner, columns, *rest, **more):
        asked.append(columns)
        return plain(features, learner, columns, *rest, **more)

    monkeypatch.setattr(covariate, "fit_ratios", counted)
    return asked


def test_shares_after_points_fit_no_ratio_again_where_the_learner_is_the_same(fitted, monkeypatch):
    own = {"classifier": LogisticRegression(), "regressor": LinearRegression()}
    design, settings = make_study(*covariate_tables()).design, fast(subsets="all", learner=own)
    found = explain_design(design, ("points", "shares"), settings).shares["covariate"]
    assert len(fitted) == len(set(fitted)) > 0
    fitted.clear()
    monkeypatch.setattr(KeptRatios, "open", lambda *_: None)
    anew = explain_design(design, ("points", "shares"), settings).shares["covariate"]
    assert len(fitted) > len(set(fitted))
    ours, theirs = ([s.numerator.value for s in one.subsets] for one in (found, anew))
    assert ours == theirs != []


def test_a_ratio_comes_back_bit_by_bit_and_goes_with_its_owner():
    kept, ratio = KeptRatios(), np.random.default_rng(0).random(50)
    kept.keep((0, 2), Fast(), ratio)
    assert kept.find((0, 2), Fast()) is None
    kept.open(50)
    kept.keep((0, 2), Fast(), ratio)
    np.testing.assert_array_equal(kept.find((0, 2), Fast()), ratio)
    assert kept.find((0, 1), Fast()) is None
    assert kept.find((0, 2), Fast(penalty=1.0)) is None
    folder = Path(str(kept.folder))
    assert [file.suffix for file in folder.iterdir()] == [".npy"]
    del kept
    gc.collect()
    assert not folder.exists()


def test_many_rows_are_not_kept():
    kept = KeptRatios()
    kept.open(20_001)
    assert kept.folder is None


def test_without_a_folder_everything_is_fitted(tmp_path, monkeypatch):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path / "nowhere"))
    kept = KeptRatios()
    kept.open(50)
    assert kept.folder is None
    gone = KeptRatios(tmp_path / "gone")
    gone.keep((0,), Fast(), np.ones(3))
    assert gone.find((0,), Fast()) is None
    assert not (tmp_path / "gone").exists()
