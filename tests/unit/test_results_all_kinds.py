"""Every kind of result: saved, loaded, shown at any level, redacted in everything it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import pytest
from command_line import call as call
from small_study import fast, make_study, tables

import whygap as wg
from whygap.notes import Note

MARKER = "Zachary Quill"
KINDS = {"gap": wg.Gap, "gaps": wg.Gaps, "check": wg.Check, "rehearsal": wg.Rehearsal}
SHARES = {"source_share": 0.1, "source_rows": 40, "target_share": 0.1, "target_rows": 30}
DETAIL = ("points", "affected")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """A result of every kind, of a target in which one row holds the marker."""
    source, target = tables()
    target.loc[5, "c"] = MARKER
    study, settings = make_study(source, target), fast(level=0.9)
    targets = {"first": target, "second": tables(400, 250)[1]}
    check = wg.check(study, settings)
    stopped = Note("stopped", "warning", {"value": f"Level '{MARKER}' is in one table."})
    far = Note("not_comparable", "problem", {**SHARES, "value": MARKER, "separators": "Column c."})
    overlap = replace(check.overlap, reason=str(far), notes=(far,))
    rehearsal = wg.rehearse(study, replicates=3, settings=settings)
    return {
        "gap": wg.explain(study, detail=DETAIL, settings=settings),
        "gaps": wg.explain_many(study, targets, detail=DETAIL, settings=settings),
        "check": replace(check, notes=(*check.notes, stopped), overlap=overlap),
        "rehearsal": replace(rehearsal, failures={f"Level '{MARKER}' is in one table.": 1}),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_save_and_load_give_an_equal_result(results: dict[str, Any], kind: str, tmp_path: Path):
    result = results[kind]
    path = result.save(tmp_path / "result.json")
    back = wg.load(path)
    assert type(back) is KINDS[kind]
    assert back == result
    assert back.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert json.loads(path.read_text()) == result.to_dict()
    assert result.to_dict()["kind"] == kind
    assert (str(back), back.summary(0.5)) == (str(result), result.summary(0.5))
    assert back._repr_html_.__func__ is type(result)._repr_html_
    assert result != result.redacted(10)
    assert result != "result"


@pytest.mark.parametrize("kind", KINDS)
def test_the_level_is_that_of_the_settings_or_the_one_requested(results: dict[str, Any], kind: str):
    result = results[kind]
    assert result.summary() == result.summary(0.9)
    assert "90%" in result.summary()
    assert "80%" in result.summary(0.8)
    assert "90%" not in result.summary(0.8)
    levels = (None, 0.9, 0.8)
    tables = [nw.from_native(result.to_frame(level), eager_only=True) for level in levels]
    first, second, third = (table.write_csv() or "" for table in tables)
    assert first == second != third
    assert len(first.splitlines()) == len(third.splitlines()) > 5
    with pytest.raises(wg.errors.InputError, match="must lie between 0 and 1"):
        result.to_frame(95)


def written(result: Any, folder: Path) -> dict[str, str]:
    """Everything that a result says or writes, without pages and figures."""
    table = nw.from_native(result.to_frame(), eager_only=True)
    return {
        "json": result.save(folder / "result.json").read_text(),
        "dict": json.dumps(result.to_dict(), ensure_ascii=False),
        "csv": table.write_csv() or "",
        "summary": result.summary(),
        "str": str(result),
        "notes": " ".join(map(str, getattr(result, "notes", ()))),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_redacted_result_names_no_group_of_few_rows(results, kind, tmp_path):
    original = written(results[kind], tmp_path)
    assert any(MARKER in text for text in original.values()), "the marker was not planted"
    hidden = results[kind].redacted(10)
    assert [name for name, text in written(hidden, tmp_path).items() if MARKER in text] == []
    assert hidden.redacted(10) == hidden


def shown(call: Callable[..., Any], path: Path, *arguments: object) -> bytes:
    done = call("show", path, *arguments)
    assert done.code == 0, done.err
    return f"{done.out}{done.err}".encode()


@pytest.mark.parametrize("kind", KINDS)
def test_show_prints_and_writes_every_kind(results, kind, tmp_path, call):
    path = results[kind].save(tmp_path / "result.json")
    assert (
        shown(call, path, "--level", 0.8).decode().rstrip() == results[kind].summary(0.8).rstrip()
    )
    for ending in ("csv", "md", "tex", "json"):
        output = tmp_path / f"shown.{ending}"
        texts = [shown(call, path, "-o", output), output.read_bytes()]
        texts += [shown(call, path, "-o", output, "--redact", 10, "--json"), output.read_bytes()]
        assert MARKER.encode() not in texts[2] + texts[3]
        assert len(texts[3]) > 200


@pytest.mark.parametrize("kind", KINDS)
def test_pages_and_figures_are_redacted(results, kind, tmp_path, call):
    path = results[kind].save(tmp_path / "result.json")
    page = tmp_path / "shown.html"
    shown(call, path, "-o", page)
    assert MARKER not in page.read_text()
    assert MARKER not in results[kind].redacted(10)._repr_html_()
    shown(call, path, "-o", page, "--redact", 1)
    if kind in ("gap", "gaps"):
        shown(call, path, "-o", tmp_path / "shown.svg", "--redact", 10)
        assert MARKER not in (tmp_path / "shown.svg").read_text()
        assert MARKER in page.read_text()
