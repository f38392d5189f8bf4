"""What a reader does with the report: open, find, copy, download, print, go to a target."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from report_pages import browser, files, visit  # noqa: F401 - fixtures
from result_factory import make_gap

from whygap.render import tables

pytestmark = pytest.mark.browser


def test_a_bar_of_the_walk_opens_into_its_variables(visit: Any) -> None:
    page = visit("undefined", has_touch=True).page
    variables = page.locator("details.covariate")
    variables.evaluate("node => { node.open = false; }")
    bar = page.locator(".walk a[data-opens$=points-covariate]")
    bar.focus()
    assert "points" in page.locator("#tip").inner_text()
    page.keyboard.press("Enter")
    assert variables.get_attribute("open") is not None
    variables.evaluate("node => { node.open = false; }")
    bar.tap()
    assert variables.get_attribute("open") is not None
    assert page.locator(".walk a[data-opens$=where]").count() == 1


def test_pointing_at_a_bar_tells_its_number_with_five_digits(visit: Any) -> None:
    page = visit("story").page
    page.locator(".walk [data-column='3'] .part").hover()
    part = make_gap().parts["outcome"]
    low, high = (100 * end for end in part.interval(0.95))
    told = f"Outcome\n{100 * part.value:+.5g} points ({low:+.5g} to {high:+.5g})"
    assert page.locator("#tip").inner_text().replace("\u2212", "-") == told


def test_a_variable_is_found_in_every_chart(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    page.locator("[data-find]").fill("MoB")
    shown = page.locator("[data-row]:visible").all()
    assert len(shown) >= 4
    assert all("mobility" in row.inner_text() for row in shown)
    assert page.locator("[data-found]").inner_text() == f"{len(shown)} lines in the charts below"
    assert page.locator("details.covariate").get_attribute("open") is not None
    page.locator("[data-find]").fill("nothing like it")
    assert page.locator("[data-row]:visible").count() == 0
    page.locator("[data-find]").fill("")
    assert page.locator("[data-detail=outcome] [data-row]:visible").count() == 7
    assert page.locator("[data-found]").inner_text() == ""
    assert watched.problems == []


def test_every_chart_is_copied_as_a_table(visit: Any) -> None:
    page = visit("story", permissions=["clipboard-read", "clipboard-write"]).page
    box = page.locator("[data-detail=outcome]")
    box.get_by_role("button", name="Copy this table").click()
    box.locator("[data-copied]", has_text="Copied.").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Variable\tShare\t95% interval\tp-value"
    assert lines[2].startswith("schooling\t34%\t")
    assert len(lines) == 1 + 7


def test_all_numbers_are_downloaded(visit: Any, tmp_path: Path) -> None:
    page = visit("story", accept_downloads=True).page
    rows = tables.rows(make_gap().findings(0.95))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the numbers (CSV)").click()
    waiting.value.save_as(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [(line["part"], line["term"]) for line in read] == [(r["part"], r["term"]) for r in rows]
    assert float(read[0]["low_95"]) == pytest.approx(rows[0]["low"], rel=1e-6)
    assert {"low_80", "high_99"} <= set(read[0])
    with page.expect_download() as waiting:
        page.locator("article").get_by_role("button", name="JSON").click()
    waiting.value.save_as(tmp_path / "numbers.json")
    again = json.loads((tmp_path / "numbers.json").read_text("utf-8"))
    assert again[0]["estimate"] == pytest.approx(rows[0].estimate, rel=1e-6)


def test_print_takes_two_pages(visit: Any, tmp_path: Path) -> None:
    watched = visit("story")
    watched.page.pdf(path=tmp_path / "story.pdf", format="A4", prefer_css_page_size=True)
    pages = re.findall(rb"/Type\s*/Page\b", (tmp_path / "story.pdf").read_bytes())
    assert len(pages) == 2
    watched.page.emulate_media(media="print")
    text = watched.page.locator("main").inner_text()
    for kept in ("Who is hit", "What can be won back", "What to do next", "How far to trust it"):
        assert kept in text
    assert "The file this was printed from has more" in text
    assert "What the numbers mean" not in text
    assert watched.problems == []


def test_each_target_has_a_page_one_click_away(visit: Any) -> None:
    watched = visit("several")
    page = watched.page
    assert page.locator("article:visible").count() == 0
    page.locator(".trend a").nth(1).focus()
    assert "site C" in page.locator("#tip").inner_text()
    page.keyboard.press("Enter")
    assert page.locator("article:visible h1").first.inner_text() == "site C"
    assert page.locator("#all").is_hidden()
    page.locator("article:visible .first-step a").click()
    assert page.locator("article:visible h1").first.inner_text() == "site C"
    page.locator("article:visible .back a").click()
    assert page.locator("#all").is_visible()
    assert page.locator("article:visible").count() == 0
    assert watched.problems == []


def test_numbers_of_all_targets_in_one_file(visit: Any, tmp_path: Path) -> None:
    page = visit("several", accept_downloads=True).page
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download the numbers of all targets (CSV)").click()
    waiting.value.save_as(tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(encoding="utf-8", newline="") as file:
        assert {line["target"] for line in csv.DictReader(file)} == {"site B", "site C"}
