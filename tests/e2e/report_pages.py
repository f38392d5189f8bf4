"""Reports opened in a real browser, watched for everything they should not do."""

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

from whygap.notes import Note
from whygap.render import report

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "report"
ALERT = "</script><script>alert(2)</script>"
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
        "notes": (Note("model_warned", "warning", {"value": ALERT}),),
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
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need the package playwright"
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
LOOKS = ((1200, "light", "desktop"), (360, "light", "phone"), (1200, "dark", "dark"))


def check_every_width(name: str, page: Path, visit: Any) -> None:
    """Small, quiet, and never wider than the screen; screenshots are kept to be looked at."""
    assert page.stat().st_size < 2_000_000
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for width, scheme, label in LOOKS:
        watched = visit(name, width, color_scheme=scheme)
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{label} scrolls sideways: {wide} pixels"
        take_picture(watched.page, ARTEFACTS / f"{name}_{label}.png")
        assert watched.problems == []


def take_picture(page: Any, path: Path) -> None:
    """Kept to be looked at; a busy machine's browser may need to be asked again."""
    from playwright.sync_api import Error

    for _ in range(2):
        try:
            page.screenshot(path=path, full_page=True)
        except Error:
            page.wait_for_timeout(500)
        else:
            return
    page.screenshot(path=path, full_page=True)


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
    """What axe-core finds on the whole page, everything unfolded."""
    for unfold in page.locator("details").all():
        unfold.evaluate("node => { node.open = true; }")
    page.evaluate(axe_source)
    found = page.evaluate("axe.run(document)")["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0]['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
