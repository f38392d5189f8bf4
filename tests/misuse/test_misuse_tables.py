"""Tables as people spoil them: what is said in full, the exit code, and which parts are shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from misuse_cases import CASES
from misused import write_case
from result_factory import LABELS
from small_study import warnings_of

import whygap as wg
from whygap.render.detail_sentences import ADVICE
from whygap.results import Gap

QUICK = ("--detail", "none", "--set", "learner=fast", "--set", "folds=3")
INNER = [f"- {title} (" for title in LABELS]


def without_numbers(text: str, folder: Path) -> str:
    """Numbers, which depend on the draw, as #; the folder by its name."""
    plain = text.replace(str(folder), "{folder}")
    return re.sub(r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?", "#", plain)


def flat(text: str) -> str:
    return " ".join(text.split())


def messages(gap: Gap) -> list[str]:
    """Problems first, then warnings."""
    problems = gap.problems()
    return [*problems, *(text for text in warnings_of(gap) if text not in problems)]


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 30
    assert {case.kind for case in CASES.values()} == {
        "refused", "not comparable", "problem", "warning", "fine",
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind == "refused"])
def test_what_cannot_be_used_is_refused(call, tmp_path, name):
    study = write_case(CASES[name], tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    done = call("explain", study, *QUICK, "-o", tmp_path / "gap.json")
    assert (done.code, done.out) == (2, "")
    assert tuple(without_numbers(done.err, tmp_path).splitlines()) == CASES[name].said
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind != "refused"])
def test_what_is_answered_says_what_is_wrong(call, tmp_path, name):
    case = CASES[name]
    done = call("explain", write_case(case, tmp_path), *QUICK, "-o", tmp_path / "gap.json")
    assert done.code == 0, done.err
    gap = wg.load(tmp_path / "gap.json")
    said = messages(gap)
    assert tuple(without_numbers(text, tmp_path) for text in said) == case.said
    assert gap.comparable == (case.kind != "not comparable")
    assert bool(gap.problems()) == (case.kind in ("problem", "not comparable"))
    for shown in (done.out, str(gap)):
        assert [text for text in gap.problems() if text not in flat(shown)] == []
    shows_parts = [title for title in INNER if title in done.out]
    assert bool(shows_parts) == gap.comparable
    assert (flat(ADVICE["resolve_problems", ""]) in flat(done.out)) == (case.kind == "problem")
    warned = [line.removeprefix("Warning: ") for line in done.err.splitlines()]
    assert [text for text in warnings_of(gap) if text not in warned] == []
