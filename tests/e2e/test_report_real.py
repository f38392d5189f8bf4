"""Reports of real analyses in a real browser: every control clicked, nothing shuts people out."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from real_reports import NAMES, REAL_REPORTS
from report_pages import (  # noqa: F401 - fixtures
    axe_source,
    browser,
    check_every_width,
    serious_findings,
    visit,
)

pytestmark = pytest.mark.browser


class Computed(dict[str, Path]):
    """Pages by name, each analysis run when first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Path:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        self[name] = REAL_REPORTS[name](place)
        return self[name]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Computed:
    return Computed(tmp_path_factory.mktemp("real"))


def use_levels(page: Any) -> None:
    for level in ("80%", "90%", "99%", "95%"):
        page.get_by_label(level, exact=True).check(force=True)
        texts = page.locator("[data-target] .answer").all_inner_texts()
        assert all(f"{level} interval" in text for text in texts)


def use_shares(article: Any, detail: Any) -> None:
    """Sort by every column both ways, filter, unfold."""
    for more in detail.locator("[data-more]").all():
        more.click()
    rows = detail.locator("tbody tr:visible")
    total = rows.count()
    for label, column in (("Share", 3), ("p-value", 5)):
        for _ in range(2):
            detail.locator("thead").get_by_role("button", name=label).click()
            texts = rows.locator(f"td:nth-child({column})").all_inner_texts()
            values = [number(text) for text in texts]
            assert values in (sorted(values), sorted(values, reverse=True))
    name, find = rows.first.locator("bdi").inner_text(), article.locator("[data-find]")
    find.fill(name.upper())
    assert 1 <= rows.count() <= total
    find.fill("")
    assert rows.count() == total


def number(text: str) -> float:
    plain = text.replace("\u2212", "-").replace("%", "").replace(",", "").strip()
    return 0.0 if plain.startswith("<") else float(plain)


def use_variables(article: Any) -> None:
    select = article.locator("[data-variable]")
    for name in select.locator("option").all_inner_texts()[:8]:
        select.select_option(name)
        assert article.locator("[data-profile] svg.chart").count() == 2
    for name in article.locator("[data-open]:visible").all()[:2]:
        name.click()
        assert select.input_value() == name.get_attribute("data-open")


@pytest.mark.parametrize("name", NAMES)
def test_a_real_report_opens_quietly_and_fits_every_width(
    name: str, visit: Any, files: Computed
) -> None:
    check_every_width(
        f"real_{name}", files[name], lambda _, *rest, **look: visit(name, *rest, **look)
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_control_of_a_real_report_works(name: str, visit: Any) -> None:
    watched = visit(name, permissions=["clipboard-read", "clipboard-write"])
    page = watched.page
    use_levels(page)
    for article in page.locator("[data-target]").all():
        page.evaluate("id => { location.hash = id; }", article.get_attribute("id"))
        for detail in article.locator("[data-detail=covariate], [data-detail=outcome]").all():
            use_shares(article, detail)
        use_variables(article)
        article.get_by_role("button", name="Copy as Markdown").click()
        article.locator("[data-copied]", has_text="Copied.").wait_for()
        article.get_by_text("Settings, sizes, models, versions").click()
        assert "Version: numpy" in article.inner_text()
    page.locator(".theme").click()
    page.emulate_media(media="print")
    assert page.locator(".answer").first.is_visible()
    assert watched.problems == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_a_real_report_shuts_nobody_out(
    name: str, width: int, scheme: str, visit: Any, axe_source: str
) -> None:
    page = visit(name, width, color_scheme=scheme, bypass_csp=True).page
    assert serious_findings(page, axe_source) == []


@pytest.mark.slow
def test_each_real_report_shows_what_it_is_there_for(visit: Any) -> None:
    def text(name: str) -> str:
        return visit(name).page.locator("main").inner_text()

    assert "there may be nothing to explain" in text("undefined")
    assert visit("sixty").page.locator("[data-row]").count() == 61
    assert "<script>alert(1)</script>" in text("sixty")
    assert "refitted with all variables" in text("one")
    assert "of 3 targets" in text("several")
    assert "市立病院" in text("several")
    assert "NE 2018" in text("insurance")
    assert "heart failure" in text("readmission")
