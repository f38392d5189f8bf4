"""The report in a real browser: every control, no network, 360 pixels, no script from names."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.render import report
from whygap.tables.design import Note

playwright = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need the package playwright"
)
pytestmark = pytest.mark.browser

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "report"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CASES: dict[str, dict[str, Any]] = {
    "story": {},
    "undefined": {"defined": ("outcome",)},
    "sixty": {"outcome": many_players(60), "covariate": None},
    "one": {"outcome": {"x": 0.3}, "covariate": {"x": 1.0}},
    "nasty": {
        "outcome": dict.fromkeys(NASTY_NAMES, 0.1),
        "covariate": None,
        "names": ("<img src=x onerror=alert(1)>", "目标 <b>医院</b>"),
        "notes": (Note("warning", "</script><script>alert(2)</script>"),),
    },
}


def chromium() -> str | None:
    """The browser's program: $WHYGAP_CHROMIUM, or the first one on the path."""
    named = os.environ.get("WHYGAP_CHROMIUM")
    known = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return named or next(filter(None, map(shutil.which, known)), None)


@dataclass
class Watched:
    """A page, and everything it should not have done."""

    page: Any
    problems: list[str] = field(default_factory=list)

    def watch(self) -> None:
        def request(one: Any) -> None:
            if not one.url.startswith(("file:", "data:")):
                self.problems.append(f"request {one.url}")

        def console(one: Any) -> None:
            self.problems.append(f"console {one.type}: {one.text}")

        def dialog(one: Any) -> None:
            self.problems.append(f"dialog {one.message}")
            one.dismiss()

        self.page.on("request", request)
        self.page.on("console", console)
        self.page.on("dialog", dialog)
        self.page.on("pageerror", lambda one: self.problems.append(f"error {one}"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = chromium()
    if program is None:
        pytest.skip(
            "no Chromium found: install the Debian package chromium, or set WHYGAP_CHROMIUM"
        )
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {
        name: report.write(make_gap(**case), folder / f"{name}.html", 0.95)
        for name, case in CASES.items()
    }
    targets = {"site B": make_gap(), "site C": make_gap(corners=(0.8, 0.83, 0.78, 0.70), seed=3)}
    made["several"] = report.write_many(targets, folder / "several.html", 0.95)
    return made


@pytest.fixture
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    opened = []

    def go(name: str, width: int = 1200, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        opened.append(context)
        watched = Watched(context.new_page())
        watched.watch()
        watched.page.goto(files[name].as_uri())
        return watched

    yield go
    for context in opened:
        context.close()


ALL = [*CASES, "several"]


@pytest.mark.parametrize("name", ALL)
def test_opens_quietly_and_fits_every_width(name: str, visit: Any, files: dict[str, Path]) -> None:
    assert files[name].stat().st_size < 2_000_000
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for width, scheme, label in (
        (1200, "light", "desktop"),
        (360, "light", "phone"),
        (1200, "dark", "dark"),
    ):
        watched = visit(name, width, color_scheme=scheme)
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{label} scrolls sideways: {wide} pixels"
        watched.page.screenshot(path=ARTEFACTS / f"{name}_{label}.png", full_page=True)
        assert watched.problems == []


def test_level_switch_changes_every_interval(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    gap = make_gap()

    def shown() -> tuple[str, ...]:
        return tuple(
            page.locator(query).first.inner_text()
            for query in (
                ".answer",
                ".facts",
                ".parts",
                "[data-interval]",
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
    low, high = gap.outcome.shares["schooling"].interval(0.99)
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
        "recalibration alone": 0.33,
        **{n: s.value for n, s in make_gap().outcome.shares.items()},
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


def test_filter_keeps_what_matches_and_says_how_many(visit: Any) -> None:
    page = visit("story").page
    field_ = page.locator("[data-detail=outcome] [data-filter]")
    field_.fill("MoB")
    assert names_in(page) == ["mobility"]
    assert page.locator("[data-detail=outcome] [data-status]").inner_text() == "1 of 7 shown"
    field_.fill("nothing like it")
    assert names_in(page) == []
    field_.fill("")
    assert len(names_in(page)) == 7


def test_many_rows_fold_and_unfold(visit: Any) -> None:
    page = visit("sixty").page
    more = page.locator("[data-more]")
    assert len(names_in(page)) == 15
    assert more.get_attribute("aria-expanded") == "false"
    more.click()
    assert len(names_in(page)) == 61
    more.click()
    assert len(names_in(page)) == 15
    page.locator("[data-filter]").fill("variable_5")
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
    assert text.startswith("ancestry\n21%, 95% interval ")
    assert "p-value 0.002" in text
    assert "adjusted for all variables" in text
    assert "rank 1 to" in text
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    page.locator("[data-detail=outcome] [data-filter]").focus()
    for _ in range(5):
        page.keyboard.press("Tab")
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_closer_look_from_a_row_and_from_the_list(visit: Any) -> None:
    watched = visit("story")
    page = watched.page
    page.locator("[data-detail=outcome]").get_by_role("button", name="mobility").click()
    assert page.locator("[data-variable]").input_value() == "mobility"
    profile = next(p for p in make_gap().profiles if p.variable == "mobility")
    assert page.locator("[data-profile] svg.chart rect").count() == 2 * len(profile.bins)
    assert page.locator("[data-profile] svg.chart circle").count() == len(profile.bins)
    page.locator("[data-variable]").select_option("military")
    page.locator("[data-profile] summary").click()
    bins = next(p for p in make_gap().profiles if p.variable == "military").bins
    assert page.locator("[data-profile] tbody th").all_inner_texts() == list(bins)
    page.get_by_label("80%").check(force=True)
    assert "80% intervals" in page.locator("[data-profile]").inner_text()
    assert watched.problems == []


def test_copying_the_table(visit: Any) -> None:
    page = visit("story", permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("button", name="Copy for a spreadsheet").click()
    page.wait_for_function("document.querySelector('[data-copied]').textContent === 'Copied.'")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Term\tEstimate\tStd. error\t95% interval"
    assert lines[2].startswith("gap\t-7.2\t")
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
    section = page.locator("[data-detail=covariate]")
    assert "undefined" in section.inner_text()
    assert "would settle it" in section.inner_text()
    assert section.locator("table").count() == 0


def test_several_targets_share_one_switch(visit: Any) -> None:
    watched = visit("several")
    page = watched.page
    assert page.locator("[data-target] > h2").all_inner_texts() == ["site B", "site C"]
    before = page.locator("[data-many-span]").all_inner_texts()
    page.get_by_label("80%").check(force=True)
    assert all("80% interval" in text for text in page.locator(".answer").all_inner_texts())
    assert all(
        a != b
        for a, b in zip(before, page.locator("[data-many-span]").all_inner_texts(), strict=True)
    )
    page.locator("main > .scroll a", has_text="site C").click()
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


@pytest.fixture(scope="session")
def axe_source() -> str:
    """axe-core from the npm registry, kept in the user's cache, never in the repository."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "whygap-tests"
    kept = sorted(cache.glob("axe-core-*.tgz"))
    if not kept:
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("the accessibility check needs npm to fetch axe-core")
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "pack", "axe-core@4"], cwd=cache, capture_output=True, check=False
        )
        kept = sorted(cache.glob("axe-core-*.tgz"))
        if done.returncode or not kept:
            pytest.skip("the accessibility check could not fetch axe-core with npm")
    with tarfile.open(kept[-1]) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode("utf-8")


def serious_findings(page: Any, axe_source: str) -> list[str]:
    for unfold in page.locator("details").all():
        unfold.evaluate("node => { node.open = true; }")
    page.evaluate(axe_source)
    found = page.evaluate("axe.run(document)")["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_no_serious_accessibility_finding(visit: Any, axe_source: str) -> None:
    page = visit("story", bypass_csp=True).page
    assert serious_findings(page, axe_source) == []
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [one.split(":")[0] for one in serious_findings(page, axe_source)] == ["image-alt"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
def test_no_serious_accessibility_finding_anywhere(
    name: str, scheme: str, width: int, visit: Any, axe_source: str
) -> None:
    page = visit(name, width, color_scheme=scheme, bypass_csp=True).page
    assert serious_findings(page, axe_source) == []
