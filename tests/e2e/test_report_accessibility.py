"""The report checked by axe-core for what shuts people out."""

# ruff: noqa: F811 - pytest passes imported fixtures as arguments
from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from report_pages import ALL, browser, files, visit  # noqa: F401 - fixtures

pytestmark = pytest.mark.browser


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
