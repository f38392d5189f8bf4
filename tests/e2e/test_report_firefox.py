"""The report in Firefox: it opens, the switch works, a variable is found, a target is reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from firefox import Firefox, firefox, program
from result_factory import make_gap

from whygap.render import report

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(program() is None, reason="no Firefox: the Debian package is firefox-esr"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(tmp_path_factory.mktemp("profile")) as session:
        yield session


def test_the_switch_finding_and_the_walk(browser: Firefox, tmp_path: Path) -> None:
    browser.open(report.write(make_gap(), tmp_path / "gap.html", 0.95))
    assert "95% interval" in browser.run("return document.querySelector('.answer').innerText")
    browser.run("document.querySelector('input[value=\"0.99\"]').click()")
    assert "99% interval" in browser.run("return document.querySelector('.answer').innerText")
    shown = browser.run(
        "const field = document.querySelector('[data-find]'); field.value = 'mob';"
        "field.dispatchEvent(new Event('input'));"
        "return [...document.querySelectorAll('[data-row]')].filter(row => row.offsetHeight)"
        ".map(row => row.innerText)"
    )
    assert shown
    assert all("mobility" in text for text in shown)
    opened = (
        "const part = document.querySelector('details.covariate'); part.open = false;"
        "document.querySelector('.walk a[data-opens$=covariate]')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));"
        "return part.open"
    )
    assert browser.run(opened) is True
    wide = "return document.documentElement.scrollWidth <= window.innerWidth"
    assert browser.run(wide) is True


def test_a_target_is_one_click_away(browser: Firefox, tmp_path: Path) -> None:
    targets = {"site B": make_gap(), "site C": make_gap(corners=(0.8, 0.83, 0.78, 0.70), seed=3)}
    browser.open(report.write_many(targets, tmp_path / "several.html", 0.95))
    seen = "return [...document.querySelectorAll('#all, article')].map(one => one.offsetHeight > 0)"
    assert browser.run(seen) == [True, False, False]
    browser.run("document.querySelector('.many a[href=\"#t2\"]').click()")
    assert browser.run(seen) == [False, False, True]
    browser.run("document.querySelectorAll('.back a')[1].click()")
    assert browser.run(seen) == [True, False, False]
