"""The report in a real browser: every control, no network, 360 pixels, no script from names."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from report_pages import (  # noqa: F401 - fixtures
    ALL,
    browser,
    check_every_width,
    files,
    visit,
)
from result_factory import NASTY_NAMES, make_gap

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", ALL)
def test_opens_quietly_and_fits_every_width(name: str, visit: Any, files: dict[str, Path]) -> None:
    check_every_width(name, files[name], visit)


def test_level_switch_changes_every_interval(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    gap = make_gap()

    def shown() -> tuple[str, ...]:
        return tuple(
            page.locator(query).first.text_content()
            for query in (
                ".answer",
                ".parts",
                "[data-detail=outcome] [data-interval]",
                "[data-cell]",
                "figcaption",
            )
        )

    def whisker() -> float:
        line = page.locator('[data-column="3"] line.whisker')
        return float(line.get_attribute("y2")) - float(line.get_attribute("y1"))

    before, short = shown(), whisker()
    page.get_by_label("99%").check(force=True)
    after = shown()
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert "99% interval" in after[0]
    assert whisker() > short * 1.2
    low, high = gap.shares["outcome"].values["schooling"].interval(0.99)
    row = page.locator("[data-detail=outcome] tbody tr", has_text="schooling")
    assert row.locator("[data-interval]").inner_text() == f"{100 * low:.0f}% to {100 * high:.0f}%"
    page.get_by_label("95%").check(force=True)
    assert shown() == before
    assert watched.problems == []


def test_level_switch_by_keyboard(visit: Any) -> None:
    page = visit("story").page
    page.locator("input[name=level]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("input[name=level]:checked").get_attribute("value") == "0.99"
    assert "99% interval" in page.locator(".answer").inner_text()


def names_in(page: Any) -> list[str]:
    rows = page.locator("[data-detail=outcome] tbody tr:visible bdi")
    return [text.strip() for text in rows.all_inner_texts()]


def test_sorting_by_every_column_both_ways(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    shares = {
        "source risk, recalibrated": 0.33,
        **{n: s.value for n, s in make_gap().shares["outcome"].values.items()},
    }
    header = page.locator("[data-detail=outcome] thead")

    header.get_by_role("button", name="Share").click()
    assert names_in(page) == sorted(shares, key=shares.__getitem__)
    assert header.locator("th[aria-sort=ascending]").inner_text().startswith("Share")
    header.get_by_role("button", name="Share").click()
    assert names_in(page) == sorted(shares, key=lambda name: -shares[name])
    header.get_by_role("button", name="Variable").click()
    assert names_in(page) == sorted(shares)
    header.get_by_role("button", name="Variable").click()
    assert names_in(page) == sorted(shares, reverse=True)
    header.get_by_role("button", name="p-value").click()
    texts = page.locator("[data-detail=outcome] tbody td:last-child").all_inner_texts()
    p_values = [float(text.lstrip("< ")) for text in texts]
    assert p_values == sorted(p_values)
    assert watched.problems == []


def test_many_rows_fold_and_unfold(visit: Any) -> None:
    page = visit("sixty").page
    more = page.locator("[data-detail=outcome] [data-more]")
    assert len(names_in(page)) == 15
    assert more.get_attribute("aria-expanded") == "false"
    more.click()
    assert len(names_in(page)) == 61
    more.click()
    assert len(names_in(page)) == 15
    page.locator("[data-find]").fill("variable_5")
    assert len(names_in(page)) == 10


def test_dark_and_light(visit: Any) -> None:
    page = visit("story", color_scheme="light").page

    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    page.locator(".theme").click()
    dark = paper()
    assert light != dark
    assert page.locator(".theme").get_attribute("aria-pressed") == "true"
    page.locator(".theme").click()
    assert paper() == light
    assert (
        visit("story", color_scheme="dark").page.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        == dark
    )


def test_hover_and_focus_tell_interval_and_p_value(visit: Any) -> None:
    page = visit("story").page
    row = page.locator("[data-detail=outcome] tbody tr", has_text="ancestry")
    row.locator(".track").hover()
    tip = page.locator("#tip")
    text = tip.inner_text()
    share = make_gap().shares["outcome"].values["ancestry"]
    exact = f"{100 * share.value:.5g}%, standard error {100 * share.standard_error:.3g}%"
    assert text.startswith(f"ancestry\n{exact}\n95% interval ")
    assert "p-value 0.003" in text
    assert "adjusted for all variables" in text
    assert "rank 1 to" in text
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    page.locator("[data-detail=outcome] [data-sort=last]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_closer_look_from_a_row_and_from_the_list(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    page.locator("[data-detail=outcome]").get_by_role("button", name="mobility").click()
    assert page.locator("[data-variable]").input_value() == "mobility"
    groups = make_gap().affected["outcome"].groups_of("mobility")
    assert page.locator("[data-profile] svg.chart rect").count() == 2 * len(groups)
    assert page.locator("[data-profile] svg.chart circle").count() == len(groups)
    page.locator("[data-variable]").select_option("military")
    page.locator("[data-profile] summary").click()
    labels = [group.label for group in make_gap().affected["outcome"].groups_of("military")]
    assert page.locator("[data-profile] tbody th").all_inner_texts() == labels
    page.get_by_label("80%").check(force=True)
    assert "80% intervals" in page.locator("[data-profile]").inner_text()
    assert intervals_in_profile(page) == pytest.approx(at_once("military", 0.8), abs=0.051)
    assert watched.problems == []


def intervals_in_profile(page: Any) -> list[float]:
    """Both ends of every group's mean change, in points."""
    cells = page.locator("[data-profile] tbody tr td:last-child").all_text_contents()
    return [float(end.replace("\u2212", "-")) for cell in cells for end in cell.split(" to ")]


def at_once(variable: str, level: float) -> list[float]:
    """The same, from the result: widened as much as its group's contribution."""
    where = make_gap().where
    ends = []
    for group, (low, high) in zip(where.groups, where.simultaneous(level), strict=True):
        if group.variable == variable:
            half = group.change.standard_error * (high - low) / (2 * group.points.standard_error)
            ends += [100 * (group.change.value - half), 100 * (group.change.value + half)]
    return ends


def test_copying_the_table(visit: Any) -> None:
    page = visit("story", permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("button", name="Copy for a spreadsheet").click()
    page.locator("[data-copied]", has_text="Copied.").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Term\tEstimate\tStd. error\t95% interval"
    assert lines[2].startswith("Change\t-7.2\t")
    page.get_by_role("button", name="Copy as Markdown").click()
    page.wait_for_timeout(100)
    text = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert text[1] == "|:---|---:|---:|---:|"
    assert all(line.count("|") >= 5 for line in text)


def test_how_it_was_computed_unfolds(visit: Any) -> None:
    page = visit("story").page
    page.get_by_text("Settings, sizes, models, versions").click()
    text = page.locator("details", has_text="Settings, sizes").inner_text()
    for words in ("Setting: seed", "Version: whygap", "1,600 rows", "boosted", "Seconds: outcome"):
        assert words in text


def test_hostile_names_are_shown_and_not_run(visit: Any) -> None:
    watched = visit("nasty")
    page = watched.page
    shown = names_in(page)
    for name in NASTY_NAMES:
        assert " ".join(name.split()) in shown
        page.locator("[data-variable]").select_option(name)
    assert "<img src=x onerror=alert(1)>" in page.locator("h1").inner_text()
    assert "</script><script>alert(2)</script>" in page.locator("main").inner_text()
    page.get_by_label("80%").check(force=True)
    assert watched.problems == []
    assert page.locator("img").count() == 0


def test_undefined_part_says_so_and_shows_no_table(visit: Any) -> None:
    page = visit("undefined").page
    section = page.locator("section[aria-labelledby$='-covariate']")
    assert "undefined" in section.inner_text()
    assert "would settle it" in section.inner_text()
    assert section.locator("table").count() == 0


def test_several_targets_share_one_switch(visit: Any) -> None:
    watched = visit("several")
    page = watched.page
    assert page.locator("[data-target] > h1").all_inner_texts() == ["site B", "site C"]
    before = page.locator("[data-many-span]").all_inner_texts()
    page.get_by_label("80%").check(force=True)
    assert all("80% interval" in text for text in page.locator(".answer").all_inner_texts())
    assert all(
        a != b
        for a, b in zip(before, page.locator("[data-many-span]").all_inner_texts(), strict=True)
    )
    page.locator("#all .scroll a", has_text="site C").click()
    assert page.url.endswith("#t2")
    assert watched.problems == []


def test_reads_without_scripts_and_in_print(visit: Any) -> None:
    page = visit("sixty", java_script_enabled=False).page
    assert page.locator(".answer").is_visible()
    assert page.locator("[data-detail=outcome] tbody tr:visible").count() == 61
    page = visit("story").page
    page.emulate_media(media="print")
    assert page.locator(".top").is_hidden()
    assert page.locator(".answer").is_visible()
