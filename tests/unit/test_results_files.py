"""Results as files: read back equal, written whole or not at all, refused in words."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.domains import Array, ByDomain
from whygap.errors import ResultError
from whygap.estimate import Estimate
from whygap.results import Gap, Gaps, files, load

CASES: dict[str, Callable[[], Gap]] = {
    "story": make_gap,
    "undefined": lambda: make_gap(defined=("covariate",)),
    "aggregate only": lambda: make_gap(outcome=None, covariate=None),
    "many players": lambda: make_gap(outcome=many_players(30), covariate=None),
    "nasty names": lambda: make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1)),
    "no baseline": lambda: make_gap(baseline=(), corners=(0.8, 0.8, 0.7, 0.6)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("influence", [False, True])
def test_reads_back_equal(name: str, influence: bool, tmp_path: Path) -> None:
    gap = CASES[name]()
    path = gap.save(tmp_path / "gap.json", influence=influence)
    back = load(path)
    assert back == gap
    assert files.to_dict(back, influence=influence) == files.to_dict(gap, influence=influence)
    assert back.table_kind == gap.table_kind


def test_equality_notices_one_changed_number() -> None:
    gap = make_gap()
    moved = replace(gap, about=replace(gap.about, outcome="other"))
    assert gap != moved
    assert gap != make_gap(seed=1)
    assert gap != "gap"


def test_output_is_strict_json_and_deterministic(tmp_path: Path) -> None:
    first = make_gap().save(tmp_path / "a.json").read_bytes()
    second = make_gap().save(tmp_path / "b.json").read_bytes()
    assert first == second

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    plain = json.loads(first, parse_constant=refuse)
    assert plain["schema"] == "whygap/3"
    assert "samples" not in plain


@dataclass(frozen=True)
class Inner:
    """Stands for a result class that storage has never heard of."""

    found: Mapping[str, Estimate]
    matrix: Array | None
    ends: tuple[int, float]


@dataclass(frozen=True)
class Outer:
    """One that holds others, and has a field that older files lack."""

    rows: ByDomain[int]
    inner: tuple[Inner, ...]
    labels: Mapping[str, tuple[str, ...]]
    free: Mapping[str, Any]
    later: Inner | None = None


def test_a_new_result_class_needs_no_code() -> None:
    estimate = make_gap().shares["outcome"].values["schooling"]
    inner = Inner({"a": estimate}, np.array([[1.0, math.nan], [math.inf, 2.0]]), (3, math.inf))
    value = Outer(ByDomain(1, 2), (inner, replace(inner, matrix=None)), {"g": ("x", "y")}, {"k": 1})
    written = json.loads(json.dumps(files.plain(value, str), allow_nan=False))
    del written["later"]
    back = files.restored(Outer, written)
    assert files.plain(back) == files.plain(value)
    assert (back.rows, back.labels, back.free, back.later) == (
        value.rows,
        value.labels,
        value.free,
        None,
    )
    assert back.inner[0].ends == (3, math.inf)
    assert np.array_equal(back.inner[0].matrix, inner.matrix, equal_nan=True)
    assert back.inner[1].matrix is None
    assert back.inner[0].found["a"].interval(0.9) == estimate.interval(0.9)


def test_a_missing_field_takes_its_default_or_is_named(tmp_path: Path) -> None:
    mapping = make_gap().to_dict()
    del mapping["points"], mapping["about"]["kept_share"]
    path = tmp_path / "gap.json"
    path.write_text(json.dumps(mapping | {"a later field": 1}))
    back = load(path)
    assert back.points == {}
    assert back.about.kept_share == ByDomain(1.0, 1.0)
    del mapping["about"]["outcome"]
    path.write_text(json.dumps(mapping))
    with pytest.raises(ResultError, match=r"Got no field 'about\.outcome'"):
        load(path)
    mapping["about"]["outcome"] = "y"
    mapping["total"]["value"] = "many"
    path.write_text(json.dumps(mapping))
    with pytest.raises(ResultError, match=r"Got 'total\.value': Input should be a valid number"):
        load(path)


def test_several_targets_are_read_back_equal(tmp_path: Path) -> None:
    gaps = Gaps({"A": make_gap(), "B": make_gap(seed=1)}, ("C",))
    back = load(gaps.save(tmp_path / "gaps.json"))
    assert isinstance(back, Gaps)
    assert back == gaps
    assert back["B"] == make_gap(seed=1)
    assert back.unfinished == ("C",)


@pytest.mark.parametrize("kind", files.KINDS)
def test_every_kind_of_result_can_be_read(kind: str) -> None:
    assert files.adapter_of(files._class(kind)).json_schema() is not None


def test_the_three_answers_are_read_back_equal(tmp_path: Path) -> None:
    gap = make_gap()
    back = load(gap.save(tmp_path / "gap.json"))
    assert back == gap
    assert back.points["covariate"].ranking() == gap.points["covariate"].ranking()
    assert back.affected["outcome"].simultaneous(0.9) == gap.affected["outcome"].simultaneous(0.9)
    assert str(back.affected["outcome"].rules[0]) == str(gap.affected["outcome"].rules[0])
    assert back.recoverable.variables.significant() == gap.recoverable.variables.significant()


def test_infinities_and_nan_are_words(tmp_path: Path) -> None:
    gap = make_gap()
    gap = replace(gap, total=replace(gap.total, value=math.inf))
    back = load(gap.save(tmp_path / "gap.json"))
    assert back.total.value == math.inf
    assert math.isnan(back.parts["covariate"].plugin)
    assert '"value": "inf"' in (tmp_path / "gap.json").read_text()


def test_fieller_intervals_survive_without_influence(tmp_path: Path) -> None:
    gap = make_gap()
    back = load(gap.save(tmp_path / "gap.json"))
    for name, share in gap.shares["outcome"].values.items():
        assert back.shares["outcome"].values[name].ratio is not None
        assert back.shares["outcome"].values[name].interval(0.9) == share.interval(0.9)
    for part in ("baseline", "covariate", "outcome"):
        ours, theirs = (g.share_of_total(part) for g in (gap, back))
        assert theirs.interval(0.9) == pytest.approx(ours.interval(0.9), rel=1e-12)
        divided = gap.parts[part] / gap.total
        assert ours.value == pytest.approx(divided.value)
        assert ours.standard_error == pytest.approx(divided.standard_error, rel=1e-6)


def test_arithmetic_survives_with_influence(tmp_path: Path) -> None:
    gap = make_gap()
    back = load(gap.save(tmp_path / "gap.json", influence=True))
    before = gap.shares["outcome"].values["schooling"] - gap.shares["outcome"].values["ancestry"]
    after = back.shares["outcome"].values["schooling"] - back.shares["outcome"].values["ancestry"]
    assert after.standard_error == before.standard_error
    assert (back.parts["baseline"] / back.total).interval() == (
        gap.parts["baseline"] / gap.total
    ).interval()
    other = load(tmp_path / "gap.json")
    with pytest.raises(ResultError, match="two different studies"):
        back.total + other.total


def test_arithmetic_without_influence_says_what_to_do(tmp_path: Path) -> None:
    back = load(make_gap().save(tmp_path / "gap.json"))
    with pytest.raises(ResultError, match="influence=True"):
        back.parts["baseline"] + back.parts["outcome"]


def test_contrasts_survive_without_influence(tmp_path: Path) -> None:
    gap = make_gap()
    back = load(gap.save(tmp_path / "gap.json"))
    before = gap.shares["outcome"].difference("schooling", "ancestry")
    after = back.shares["outcome"].difference("schooling", "ancestry")
    assert after.standard_error == pytest.approx(before.standard_error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"schema": "whygap/1", "abo', "is not a whole whygap result. Got Unterminated string"),
        ("", "is not a whole whygap result. Got Expecting value"),
        ("[1, 2]", "is not a whygap result. Got no 'schema' field. Give a file written by"),
        ('{"schema": "else/1"}', "is not a whygap result. Got schema 'else/1'."),
        (
            '{"schema": "whygap/3", "kind": "gap"}',
            "is not a whole whygap result. Got no field 'total'. It was",
        ),
        (
            '{"schema": "whygap/3", "kind": "fix"}',
            "was written by a newer whygap. Got schema 'whygap/3', kind 'fix', while this",
        ),
        (
            '{"schema": "whygap/2"}',
            (
                "was written by an older whygap. Got schema 'whygap/2', kind 'None', while this "
                "version reads 'whygap/3'. Run 'whygap explain' again."
            ),
        ),
        (
            '{"schema": "whygap/9"}',
            (
                "was written by a newer whygap. Got schema 'whygap/9', kind 'None', while this "
                "version reads 'whygap/3'. Update whygap to read it."
            ),
        ),
    ],
)
def test_unusable_files_are_refused_in_words(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gap.json"
    path.write_text(content)
    with pytest.raises(ResultError) as caught:
        load(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_half_of_a_real_file_is_refused(tmp_path: Path) -> None:
    path = make_gap().save(tmp_path / "gap.json")
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(ResultError, match="is not a whole whygap result"):
        load(path)


def test_binary_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gap.json"
    with pytest.raises(ResultError) as caught:
        load(path)
    assert str(caught.value) == (
        f"The result file '{path}' cannot be read. Got No such file or directory."
    )
    path.write_bytes(b"\xff\xfe\x00PAR1")
    with pytest.raises(ResultError, match="is not a whole whygap result"):
        load(path)


def test_unwritable_folder_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "gap.json"
    with pytest.raises(ResultError) as caught:
        make_gap().save(path)
    assert str(caught.value) == (
        f"The file '{path}' cannot be written. Got No such file or directory. "
        "Check that its folder exists and may be written to."
    )


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_gap().save(tmp_path / "gap.json")
    before = path.read_bytes()

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ResultError, match="No space left on device"):
        make_gap(seed=5).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["gap.json"]


def test_files_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        path = make_gap().save(tmp_path / "gap.json")
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_written_over_keeps_its_mode(tmp_path: Path) -> None:
    path = make_gap().save(tmp_path / "gap.json")
    path.chmod(0o600)
    make_gap(seed=5).save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_interrupted_write_leaves_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Path, mode: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_gap().save(tmp_path / "gap.json")
    assert list(tmp_path.iterdir()) == []
