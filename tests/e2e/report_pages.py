"""Reports opened in a real browser, watched for everything they should not do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from result_factory import NASTY_NAMES, make_gap

from whygap.notes import Note
from whygap.render import page
from whygap.results import Gap, Gaps

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "report"
ALERT = "</script><script>alert(2)</script>"
HOSTILE = (*NASTY_NAMES, "bell \x07", "escape \x1b[31mred", "turned \u202etxt.exe", ALERT)
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
RESULTS: dict[str, Callable[[], Gap | Gaps]] = {
    "story": make_gap,
    "undefined": lambda: make_gap(defined=("outcome",), culprits=()),
    "nasty": lambda: make_gap(
        outcome=dict.fromkeys(HOSTILE, 0.1),
        covariate=None,
        baseline=("age",),
        levels=HOSTILE[:5],
        names=("<img src=x onerror=alert(1)>", "目标 <b>医院</b>"),
        notes=(Note("model_warned", "warning", {"value": ALERT}),),
    ),
    "several": lambda: Gaps({f"site {ALERT} {k}": make_gap(seed=k) for k in range(2)}),
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
    return {
        name: page.write(make(), folder / f"{name}.html", redact=None)
        for name, make in RESULTS.items()
    }


@pytest.fixture
def visit(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    opened = []

    def go(name: str, width: int = 1280, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        opened.append(context)
        watched = Watched(context.new_page())
        watched.watch()
        watched.page.goto(files[name].as_uri())
        return watched

    yield go
    for context in opened:
        context.close()


def open_all(page: Any) -> None:
    """Open every section."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


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


def findings_of_axe(page: Any, axe_source: str) -> list[str]:
    """What axe-core finds on the whole page, everything unfolded."""
    open_all(page)
    page.evaluate(axe_source)
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0]['failureSummary']}"
        for one in page.evaluate("axe.run(document)")["violations"]
    ]
