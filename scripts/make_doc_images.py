"""Make the pictures in docs/images: figures of the demo's gap and screenshots of its report.

    python scripts/make_doc_images.py

With no more words it runs the demo, which takes some minutes; `demo/gap.json` as an argument uses a
demo that was run before. Figures need nothing but whygap; screenshots also need the package
playwright and Chromium (`WHYGAP_CHROMIUM` names its program where it is not on the path).
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

import whygap as wg
from whygap.render.figures import KINDS
from whygap.render.svg import image
from whygap.results.files import write_bytes

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SCREENS = {
    "report_desktop": {"viewport": {"width": 1280, "height": 800}},
    "report_phone": {"viewport": {"width": 390, "height": 800}, "device_scale_factor": 1.5},
    "report_dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}


def main(result: Path | None, folder: Path) -> None:
    """Figures, then screenshots."""
    folder.mkdir(parents=True, exist_ok=True)
    gap = demo_gap() if result is None else wg.load(result)
    for name, figure in figures(gap).items():
        write_bytes(folder / f"{name}.png", smaller(image(figure, "png")))
    program = os.environ.get("WHYGAP_CHROMIUM") or shutil.which("chromium")
    if program is None:
        sys.exit("No Chromium found: the figures were made, the screenshots were not.")
    screenshots(gap, folder, program)


def demo_gap() -> wg.Gap:
    """What `whygap demo` explains, with its own settings."""
    settings = wg.Settings(support="common", learner="fast", n_jobs=min(4, os.cpu_count() or 1))
    return wg.explain(wg.datasets.load_employment().study(), settings=settings)


def figures(gap: wg.Gap) -> dict[str, Figure]:
    """Every kind of figure."""
    return {f"figure_{what}": gap.plot(what=what) for what in ("decomposition", *KINDS)}


def screenshots(gap: wg.Gap, folder: Path, program: str) -> None:
    """The page on a desk, on a phone, in the dark."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        page = gap.report(Path(place) / "gap.html")
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        for name, look in SCREENS.items():
            view = browser.new_context(**look).new_page()
            view.goto(page.as_uri())
            write_bytes(folder / f"{name}.png", smaller(view.screenshot()))
        browser.close()


def smaller(png: bytes) -> bytes:
    """The picture with 200 colours: a third of the size, and nobody sees it."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(200, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Make every picture in docs/images.")
    words.add_argument("result", nargs="?", type=Path, help="demo/gap.json of an earlier demo")
    words.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    given = words.parse_args()
    main(given.result, given.folder)
