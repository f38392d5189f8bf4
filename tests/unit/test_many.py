"""Several targets against one source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from small_study import fast, make_study, make_table, tables

import whygap as wg
from whygap import _explain_many as module
from whygap.errors import ColumnError, InputError, SettingsError
from whygap.results import Gaps

TARGETS = {"site B": (300, 1.0, 2), "site C": (300, 0.5, 3)}


def targets() -> dict[str, pd.DataFrame]:
    return {name: make_table(*spec) for name, spec in TARGETS.items()}


@pytest.fixture(scope="module")
def many() -> Gaps:
    return wg.explain_many(make_study(), targets(), settings=fast())


def test_there_is_a_gap_per_target_in_their_order(many):
    assert list(many) == ["site B", "site C"]
    assert len(many) == 2
    assert many["site C"].about.target_name == "site C"


def test_the_first_target_has_the_numbers_of_its_own_analysis(many):
    alone = wg.explain(
        make_study().with_target(targets()["site B"], "site B"), detail="shares", settings=fast()
    )
    for name, part in alone.parts.items():
        assert many["site B"].parts[name].value == part.value
    for name, share in alone.shares["outcome"].values.items():
        assert many["site B"].shares["outcome"].values[name].value == share.value


def test_later_targets_differ_only_by_the_choice_of_source_only_learners(many):
    alone = wg.explain(
        make_study().with_target(targets()["site C"], "site C"), detail=(), settings=fast()
    )
    gap = many["site C"]
    assert gap.total.value == alone.total.value
    for name, part in alone.parts.items():
        assert gap.parts[name].value == pytest.approx(part.value, abs=0.02)
    chosen = {r.name: r.chosen for r in many["site B"].diagnostics.nuisances}
    for record in gap.diagnostics.nuisances:
        if record.name in module.SOURCE_ONLY:
            assert record.chosen == chosen[record.name]


def test_one_tidy_table_with_a_target_column(many):
    frame = many.to_frame(level=0.9)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["target", *many["site B"].to_frame().columns]
    part = frame[frame["target"] == "site C"].drop(columns="target").reset_index(drop=True)
    pd.testing.assert_frame_equal(part, many["site C"].to_frame(level=0.9))


def test_the_table_is_of_the_callers_kind():
    source = pl.from_pandas(tables()[0])
    given = {"B": pl.from_pandas(make_table(300, 1.0, 2))}
    study = make_study(source, given["B"])
    assert isinstance(
        wg.explain_many(study, given, detail=(), settings=fast()).to_frame(), pl.DataFrame
    )


def test_words_and_report_have_a_section_per_target(many, tmp_path):
    words = many.summary()
    assert words.index("site B\n======\n") < words.index("site C\n======\n")
    assert str(many).startswith("site B: ")
    page = many.report(tmp_path / "many.html").read_text(encoding="utf-8")
    assert "site B" in page
    assert "site C" in page


def test_an_unknown_name_suggests_the_closest(many):
    with pytest.raises(InputError) as caught:
        many["site D"]
    assert str(caught.value).startswith("There is no target named 'site D'. Did you mean 'site ")


def test_the_source_file_is_read_once(tmp_path, monkeypatch):
    source, _ = tables()
    path = tmp_path / "source.parquet"
    source.to_parquet(path)
    from whygap.tables import open as module

    reads = []
    original = module.open_files

    def counted(file, label):
        opened = original(file, label)

        def load(columns):
            reads.append(label)
            return opened.load(columns)

        return replace(opened, load=load, stream=None)

    monkeypatch.setattr(module, "open_files", counted)
    given = targets()
    wg.explain_many(make_study(str(path), given["site B"]), given, detail=(), settings=fast())
    assert reads == ["source"]


def test_how_the_source_file_was_read_is_said_for_every_target(tmp_path):
    source, _ = tables()
    path = tmp_path / "source.csv"
    source.to_csv(path, index=False, sep=";")
    given = targets()
    many = wg.explain_many(make_study(path, given["site B"]), given, detail=(), settings=fast())
    words = "Of the source table, 'source.csv' was read with semicolons between fields and 3,5 "
    for gap in many.gaps.values():
        assert f"{words}taken for 3.5." in [str(note) for note in gap.notes]


def test_bad_targets_are_named_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(module, "explain_with", lambda *_: pytest.fail("an analysis started"))
    given = {**targets(), "site D": make_table(300, 1.0, 4).drop(columns="w")}
    with pytest.raises(ColumnError) as caught:
        wg.explain_many(make_study(), given, settings=fast())
    assert str(caught.value) == "Target 'site D': Column 'w' (baseline) is not in target."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "explain_many needs targets by name. Got none."),
        ([1], "explain_many needs targets by name. Got list."),
        ({3: None}, "The name of a target must be text. Got 3."),
        ({" ": None}, "The name of a target must be text. Got ' '."),
    ],
)
def test_targets_must_have_names(given, message):
    with pytest.raises(InputError) as caught:
        wg.explain_many(make_study(), given, settings=fast())
    assert str(caught.value).startswith(message)


def test_every_target_has_a_checkpoint_folder_of_its_own(tmp_path):
    settings = fast(checkpoint=str(tmp_path))
    first = wg.explain_many(make_study(), targets(), detail="shares", settings=settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site_B", "site_C"]
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert files
    again = wg.explain_many(make_study(), targets(), detail="shares", settings=settings)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")} == files
    for name in first:
        shares = first[name].shares["outcome"].values
        assert {k: e.value for k, e in again[name].shares["outcome"].values.items()} == {
            k: e.value for k, e in shares.items()
        }


def test_targets_that_would_share_a_folder_are_refused(tmp_path):
    given = {"a b": make_table(300, 1.0, 2), "a_b": make_table(300, 1.0, 3)}
    with pytest.raises(SettingsError) as caught:
        wg.explain_many(make_study(), given, detail=(), settings=fast(checkpoint=str(tmp_path)))
    assert str(caught.value) == (
        "Two targets would share a checkpoint folder. Got a b, a_b. Name them so that they differ "
        "in letters or digits."
    )
    assert not list(Path(tmp_path).iterdir())


def test_ctrl_c_keeps_the_targets_that_are_finished(monkeypatch):
    whole = module.explain_with
    done = []

    def stopped(study, *rest):
        if done:
            raise KeyboardInterrupt
        done.append(study)
        return whole(study, *rest)

    monkeypatch.setattr(module, "explain_with", stopped)
    result = wg.explain_many(make_study(), targets(), detail=(), settings=fast())
    assert list(result) == ["site B"]
    assert result.unfinished == ("site C",)
    assert "Interrupted before these targets: site C." in result.summary()
