"""Make the pictures in docs/images: figures of the demo's gap and a screenshot of its report.

    python scripts/make_doc_images.py

Without arguments the script explains the demo's gap; `demo/gap.json` as an argument uses a demo
that was run before. Figures need whygap alone; the screenshot also needs the package playwright and
Chromium (`WHYGAP_CHROMIUM` names its program where it is not on the path).
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

import whygap as wg

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FIRST_SCREEN = {"width": 1280, "height": 800}  # pixels
RESOLUTION = 110  # dots per inch, so that a figure is about as wide as a page of text
COLOURS = 200  # of a stored picture, which make it a third of the size without a visible change


def main(result: Path | None, folder: Path) -> None:
    """Draw the figures, then take the screenshot."""
    folder.mkdir(parents=True, exist_ok=True)
    gap = demo_gap() if result is None else wg.load(result)
    for name in ("decomposition", "points"):
        png = io.BytesIO()
        gap.plot(what=name).savefig(png, format="png", dpi=RESOLUTION, bbox_inches="tight")
        (folder / f"figure_{name}.png").write_bytes(smaller(png.getvalue()))
    program = os.environ.get("WHYGAP_CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("No Chromium found: the figures were made, the screenshot was not.")
    (folder / "report_desktop.png").write_bytes(smaller(screenshot(gap, program)))


def demo_gap() -> wg.Gap:
    """Explain what `whygap demo` explains, with its settings."""
    settings = wg.Settings(support="common", learner="fast", n_jobs=min(4, os.cpu_count() or 1))
    return wg.explain(wg.datasets.load_employment().study(), settings=settings)


def screenshot(gap: wg.Gap, program: str) -> bytes:
    """Return the first screen of the report as PNG."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        page = gap.report(Path(place) / "gap.html")
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        view = browser.new_context(viewport=FIRST_SCREEN).new_page()
        view.goto(page.resolve().as_uri())
        png = view.screenshot()
        browser.close()
    return png


def smaller(png: bytes) -> bytes:
    """Return a picture with fewer colours."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Make every picture in docs/images.")
    words.add_argument("result", nargs="?", type=Path, help="demo/gap.json of an earlier demo")
    words.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    chosen = words.parse_args()
    main(chosen.result, chosen.folder)
