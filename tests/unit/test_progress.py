"""Progress is shown where it can be watched, and nowhere else."""

from __future__ import annotations

import io
import sys

from small_study import fast, make_study

import whygap as wg
from whygap.progress import Silent, reporter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_not_a_terminal_is_silent(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with reporter(None) as report:
        report.stage("reading")
        report.update(1, 2, "half")
        assert isinstance(report, Silent)
    assert stream.getvalue() == ""


def test_a_terminal_shows_stage_counts_and_text(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with reporter(None) as report:
        report.stage("outcome shares")
        report.update(16, 64, "sampling error 0.0123")
    shown = stream.getvalue()
    assert "outcome shares" in shown
    assert "16/64" in shown
    assert "sampling error" in shown


def test_false_silences_a_terminal_and_true_speaks_to_a_pipe(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with reporter(False) as report:
        report.stage("reading")
    assert stream.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with reporter(True) as report:
        report.stage("outcome shares")
        report.update(16, 64, "")
        report.update(64, 64, "sampling error 0.0021")
    assert pipe.getvalue() == "outcome shares\noutcome shares: 64 of 64, sampling error 0.0021\n"


def test_a_whole_analysis_writes_nothing_into_a_pipe(capsys):
    gap = wg.explain(make_study(), detail=(), settings=fast(progress=None))
    assert gap.total.value != 0
    assert capsys.readouterr() == ("", "")


def test_a_stage_without_a_count_shows_none(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with reporter(None) as report:
        report.stage("reading tables")
        report.update(3, 4, "")
        report.stage("building a world")
    assert "building a world" in stream.getvalue()
    assert "/?" not in stream.getvalue()
