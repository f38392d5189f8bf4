"""What GitHub's runner is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from result_factory import make_gap
from watch_stream import MONTHS, month

from whygap._watch.alarms import Alarm, Silence
from whygap._watch.github import append_summary, markdown, warning_lines
from whygap._watch.outcome import Watch
from whygap.errors import ResultError

ALARM = Alarm(
    target="a|b",
    look=2,
    rule="50%: low, or so",
    part="outcome",
    variables=("ward",),
    group="<b>",
    metric="accuracy",
    value=-0.05,
    bound=-0.03,
    limit=-0.02,
    in_points=True,
)


def test_warnings_are_commands_whose_text_cannot_end_them():
    found = Watch(Path(), {}, (ALARM,), (Silence("c", "two\nlines"),))
    first, second = warning_lines(found)
    assert first.startswith("::warning title=whygap 50%25%3A low%2C or so::a|b: rule '50%25: low, ")
    assert second == "::warning title=whygap cannot say::c: cannot say. two%0Alines"


def test_the_summary_says_alarms_first_and_escapes():
    text = markdown(Watch(Path(), {}, (ALARM,)))
    assert text.startswith("## whygap watch: 1 alarm\n\n- a\\|b: rule ")
    assert "(&lt;b>)" in text
    assert markdown(Watch(Path(), {})).startswith("## whygap watch: fine\n")


def test_the_table_has_the_watch_s_own_level_and_says_so():
    gap = make_gap(corners=(0.8, 0.8, 0.8, 0.79999))
    lines = markdown(Watch(Path(), {"a": gap}, level=0.999)).splitlines()
    assert lines[3] == "| target | gap (99.9% interval) | baseline | covariate | outcome |"
    low, high = (100 * end for end in gap.total.interval(0.999))
    assert lines[5].startswith(f"| a | 0.0 ({low:.1f} to {high:.1f}) |")


def test_summaries_are_appended(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    append_summary(str(path), "after\n")
    assert path.read_text() == "before\nafter\n"
    with pytest.raises(ResultError, match="cannot be written"):
        append_summary(str(tmp_path), "after\n")


def test_the_command_line_speaks_to_github(call, tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in (MONTHS[0], MONTHS[2]):
        month(name).to_csv(folder / f"{name}.csv", index=False)
    (tmp_path / "study.toml").write_text(
        f'source = "in/{MONTHS[0]}.csv"\noutcome = "y"\nbaseline = ["w"]\nprediction = "risk"\n'
    )
    (tmp_path / "alerts.toml").write_text('[[rule]]\npart = "outcome"\nbelow = "-2 points"\n')
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    done = call(
        *("watch", tmp_path / "study.toml", "--folder", folder, "--into", tmp_path / "out"),
        *("--rules", tmp_path / "alerts.toml", "--learner", "fast", "--set", "folds=3"),
        *("--github", "--detail", "none"),
    )
    assert done.code == 1, done.err
    assert f"::warning title=whygap outcome below -2 points::{MONTHS[2]}: rule " in done.out
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("## whygap watch: 1 alarm\n")
    assert "| target | gap (95% interval) | baseline | covariate | outcome |" in text
