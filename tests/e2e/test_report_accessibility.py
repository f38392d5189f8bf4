"""The report checked by axe-core: nothing shuts people out, on a desk and a phone, in the dark."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

from typing import Any

import pytest
from report_pages import (  # noqa: F401 - fixtures
    RESULTS,
    axe_source,
    browser,
    files,
    findings_of_axe,
    visit,
)

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", RESULTS)
def test_axe_finds_nothing(name: str, scheme: str, width: int, visit: Any, axe_source: str) -> None:
    page = visit(name, width, color_scheme=scheme, bypass_csp=True).page
    assert findings_of_axe(page, axe_source) == []


def test_axe_would_find_something(visit: Any, axe_source: str) -> None:
    page = visit("story", bypass_csp=True).page
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [one.split(":")[0] for one in findings_of_axe(page, axe_source)] == ["image-alt"]
