"""The report checked by axe-core for what shuts people out."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

from typing import Any

import pytest
from report_pages import (  # noqa: F401 - fixtures
    ALL,
    axe_source,
    browser,
    files,
    serious_findings,
    visit,
)

pytestmark = pytest.mark.browser


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
