"""`--redact`: a value planted in a row is in nothing that a command prints or writes."""

from __future__ import annotations

import pytest
from command_line import call as call
from small_study import tables

from whygap.results import load

CANARY = "Zachary Quill"
TABLES = ("source.parquet", "target.parquet")
ROLES = 'outcome = "y"\nbaseline = ["w"]\nprediction = "risk"\n'
QUICK = ("--set", "learner=fast", "--set", "folds=3", "--detail", "points,affected")
EXPLAIN = ("explain", "study.toml", *QUICK, "-o", "gap.json", "--report", "gap.html")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two tables, the target with a name where a category should be; also as a month of two."""
    monkeypatch.chdir(tmp_path)
    source, target = tables()
    target.loc[5, "c"] = CANARY
    source.to_parquet("source.parquet")
    target.to_parquet("target.parquet")
    tables_named = 'source = "source.parquet"\ntarget = "target.parquet"\n'
    (tmp_path / "study.toml").write_text(tables_named + ROLES)
    (tmp_path / "several.toml").write_text(
        f'{tables_named}{ROLES}[targets]\nagain = "target.parquet"\n'
    )
    (tmp_path / "alerts.toml").write_text('[[rule]]\npart = "outcome"\nbelow = -0.02\n')
    return tmp_path


def places_of(canary, done, folder):
    """Where it can be read: what was printed, and every file but the tables themselves."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in TABLES]
    written = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    printed = {"stdout": done.out.encode(), "stderr": done.err.encode()}
    return {name for name, text in (written | printed).items() if canary.encode() in text}


def test_without_it_only_the_report_is_redacted(folder, call):
    done = call(*EXPLAIN)
    assert done.code == 0, done.err
    assert places_of(CANARY, done, folder) == {"gap.json"}


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_explain(folder, call, how):
    done = call(*EXPLAIN, "--redact", "10", *how)
    assert done.code == 0, done.err
    assert (folder / "gap.json").exists()
    assert (folder / "gap.html").exists()
    assert places_of(CANARY, done, folder) == set()


def test_explain_of_several_targets(folder, call):
    done = call(*EXPLAIN[:1], "several.toml", *EXPLAIN[2:], "--redact", "10")
    assert done.code == 0, done.err
    assert len(load(folder / "gap.json")) == 2
    assert places_of(CANARY, done, folder) == set()


@pytest.mark.parametrize("how", [("page.html",), ("table.csv",), ("all.json",), ()])
def test_results_are_shown_redacted(folder, call, how):
    assert call(*EXPLAIN[:-2]).code == 0
    done = call("show", "gap.json", *(("-o", *how) if how else ()), "--redact", "10")
    assert done.code == 0, done.err
    assert places_of(CANARY, done, folder) == {"gap.json"}
    if how:
        done = call("show", "gap.json", "-o", *how, "--redact", "1")
        assert CANARY in (folder / how[0]).read_text()


def test_a_figure_is_shown_redacted(folder, call):
    assert call(*EXPLAIN[:-2]).code == 0
    figure = ("show", "gap.json", "--part", "affected", "-o", "affected.svg")
    done = call(*figure, "--redact", "10")
    assert done.code == 0, done.err
    assert places_of(CANARY, done, folder) == {"gap.json"}


def test_watch(folder, call):
    asked = ("watch", "study.toml", *QUICK, "--rules", "alerts.toml", "--state", "kept")
    done = call(*asked, "--redact", "10")
    assert done.code == 1, done.err
    assert places_of(CANARY, done, folder) == set()
    assert call(*asked).code == 1
    assert places_of(CANARY, done, folder) == {"kept/trend.csv", "kept/gaps/target.json"}


def test_what_cannot_be_done_is_refused_before_any_work(folder, call):
    done = call(*EXPLAIN, "--redact", "0")
    assert (done.code, done.out) == (2, "")
    assert done.err == "Error: redact= must be a whole number of at least 1. Got 0.\n"
    assert not (folder / "gap.json").exists()
