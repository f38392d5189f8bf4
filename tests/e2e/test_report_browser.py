"""The report in a real browser: first screens, every control, no network, no script from names."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from report_pages import (  # noqa: F401 - fixtures
    ALERT,
    ARTEFACTS,
    HOSTILE,
    RESULTS,
    browser,
    files,
    open_all,
    visit,
)
from result_factory import make_gap

from whygap.render import tables
from whygap.render.formats import visible

pytestmark = pytest.mark.browser

PHONE = 390
LOOKS = ((1280, "light"), (1280, "dark"), (PHONE, "light"), (PHONE, "dark"))
# Size in CSS pixels of the smallest text of every chart that is shown
SMALLEST = """Math.min(...Array.from(document.querySelectorAll('svg text'), (text) => {
  const svg = text.ownerSVGElement, box = svg.getBoundingClientRect();
  const size = parseFloat(getComputedStyle(text).fontSize);
  return box.width ? size * box.width / svg.viewBox.baseVal.width : Infinity;
}))"""
# Chart texts that lie on one another
OVERLAPS = """Array.from(document.querySelectorAll('svg.chart')).flatMap((svg) => {
  const texts = Array.from(svg.querySelectorAll('text')).filter((one) => one.textContent.trim());
  const boxes = texts.map((one) => one.getBoundingClientRect());
  return texts.flatMap((one, k) => texts.slice(k + 1).filter((other, j) => {
    const a = boxes[k], b = boxes[k + 1 + j];
    return a.width && a.left < b.right - 1 && b.left < a.right - 1
      && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  }).map((other) => `${one.textContent} | ${other.textContent}`));
})"""


@pytest.mark.parametrize("name", RESULTS)
def test_every_look_is_quiet_legible_and_never_wider_than_the_screen(
    name: str, visit: Any, files: dict[str, Path]
) -> None:
    """Screenshots are kept to be looked at."""
    assert files[name].stat().st_size < 250_000
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for width, scheme in LOOKS:
        watched = visit(name, width, color_scheme=scheme)
        page = watched.page
        page.screenshot(path=ARTEFACTS / f"{name}_{width}_{scheme}.png")
        if width > PHONE:
            assert page.evaluate("document.documentElement.scrollHeight") <= 4500
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST) >= 11
        assert page.evaluate(OVERLAPS) == []
        assert watched.problems == []


@pytest.mark.parametrize("width", [1280, PHONE])
def test_the_first_screen_holds_the_answer_the_chart_and_the_cards(width: int, visit: Any) -> None:
    page = visit("story", width).page
    bottoms = [
        page.locator(query).first.evaluate("node => node.getBoundingClientRect().bottom")
        for query in ("h1.lead", "figure.line figcaption", ".cards .card:nth-child(3) h2")
    ]
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] <= 800
    assert page.locator("figure .wide").is_visible() == (width > PHONE)
    assert page.locator("figure .narrow").is_visible() == (width == PHONE)


def test_links_open_what_they_lead_to(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    for link, section in (
        (page.locator(".cards a", has_text="Who"), "#t1-affected-outcome"),
        (page.locator(".wide a[href='#t1-points-covariate']"), "#t1-points-covariate"),
        (page.locator(".contents a", has_text="All numbers"), "#t1-numbers"),
    ):
        assert page.locator(section).get_attribute("open") is None
        link.click()
        page.wait_for_function("id => document.querySelector(id).open", arg=section)
    page.locator(".wide a").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details[open]").count() == 0
    assert watched.problems == []


def test_pointing_at_a_bar_tells_its_numbers(visit: Any) -> None:
    titles = visit("story").page.locator(".wide title").all_text_contents()
    assert "Outcome: \u22124.9 (\u22128.1 to \u22121.7)" in titles


def names(page: Any) -> list[str]:
    rows = page.locator("[data-table] tr:visible:not(.head) > th[scope=row]")
    return [text.strip() for text in rows.all_inner_texts()]


def test_the_table_is_searched_sorted_and_copied(visit: Any) -> None:
    watched = visit("story", permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    open_all(page)
    assert len(names(page)) == len(tables.rows(make_gap().redacted().findings()))
    page.get_by_label("Search").fill("MoBil")
    assert names(page)
    assert all("mobility" in name for name in names(page))
    assert page.locator("[data-status]").inner_text() == f"{len(names(page))} lines"
    page.get_by_label("Search").fill("")
    for column, label in ((0, "Term"), (1, "Estimate")):
        for turn in (False, True):
            page.locator("[data-sort]", has_text=label).click()
            body = page.locator("[data-table] tbody").nth(1).locator("tr:not(.head)")
            cells = body.evaluate_all("(rows, k) => rows.map(r => r.cells[k].textContent)", column)
            keys = [c if column == 0 else float(c.replace("\u2212", "-")) for c in cells]
            assert keys == sorted(keys, reverse=turn)
            order = "descending" if turn else "ascending"
            assert page.locator(f"[aria-sort={order}]").inner_text().startswith(label)
    page.get_by_role("button", name="Copy the table").click()
    page.locator("[data-status]", has_text="Copied.").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Term\tEstimate\tStd. error\t95% interval"
    assert any(line.startswith("Change\t\u22127.2\t") for line in lines)
    assert watched.problems == []


def test_dark_and_light(visit: Any) -> None:
    page = visit("story", color_scheme="light").page

    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    page.locator("[data-theme-button]").click()
    dark = paper()
    assert light != dark
    page.locator("[data-theme-button]").click()
    assert paper() == light
    page = visit("story", color_scheme="dark").page
    assert paper() == dark
    ink = page.evaluate("getComputedStyle(document.querySelector('.chart text')).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")


def test_hostile_names_are_shown_and_not_run(visit: Any) -> None:
    watched = visit("nasty")
    page = watched.page
    open_all(page)
    said = " ".join(page.locator("main").inner_text().split())
    charts = " ".join(page.locator("#t1-points-covariate svg").first.text_content().split())
    for name in HOSTILE:
        text = " ".join(visible(name).split())
        assert text in said
        assert text in charts
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
    page.get_by_label("Search").fill("<script>")
    assert any("<script>" in name for name in names(page))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert watched.problems == []


def test_undefined_shares_say_why_and_have_no_chart(visit: Any) -> None:
    page = visit("undefined").page
    open_all(page)
    section = page.locator("#t1-shares-covariate")
    assert "undefined" in section.inner_text()
    assert section.locator("svg").count() == 0


def test_several_targets_open_one_by_one(visit: Any) -> None:
    watched = visit("several")
    page = watched.page
    page.locator(".many a", has_text=f"site {ALERT} 1").click()
    assert page.url.endswith("#t2")
    page.wait_for_function("document.querySelector('#t2').open")
    assert page.locator("#t2 .cards").is_visible()
    assert page.locator("#t1 .cards").is_hidden()
    assert watched.problems == []


def test_reads_without_scripts_and_in_print(visit: Any) -> None:
    page = visit("story", java_script_enabled=False).page
    assert page.locator(".lead").is_visible()
    assert page.locator("[data-theme-button]").is_hidden()
    page = visit("story").page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    page.screenshot(path=ARTEFACTS / "story_print.png", full_page=True)
    assert page.locator(".top").is_hidden()
    assert page.locator(".lead").is_visible()
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def test_printing_opens_sections_even_without_scripts(visit: Any) -> None:
    page = visit("story", java_script_enabled=False).page
    page.emulate_media(media="print")
    assert page.get_by_text("How much lower the mean squared error").is_visible()
