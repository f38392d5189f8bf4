"""`whygap demo`: the main job on the shipped data."""

import os
from pathlib import Path
from typing import Annotated

from whygap.cli.options import AsJson, Jobs, Set, option, settings_with
from whygap.cli.output import make_folder, note, print_result, save

DemoFolder = Annotated[Path, option("--output -o", "DIR", "Folder for the files.")]
EXAMPLES = ("whygap demo -o demo",)


def command(
    output: DemoFolder = Path("demo"),
    jobs: Jobs = None,
    settings: Set = None,
    as_json: AsJson = False,
) -> None:
    """Explain a published model's gap on the shipped data.

    Prints why accuracy differs, which groups are affected, what is recoverable and what to do
    next. Writes gap.json and gap.html into DIR.
    """
    from whygap._explain import explain
    from whygap.datasets import load_employment
    from whygap.render import text
    from whygap.settings import Settings

    workers = jobs or min(4, os.cpu_count() or 1)
    defaults = Settings(support="common", learner="fast", n_jobs=workers)
    run = settings_with(defaults, settings)
    folder = make_folder(output)
    note("A published model predicts employment. Why is it less accurate for non-citizens?")
    note("The tables overlap poorly: rows outside the common support are parts of their own.")
    gap = explain(load_employment().study(), settings=run)
    save(gap, folder / "gap.json")
    page = gap.report(folder / "gap.html").resolve()
    files = f"Everything:  whygap show {folder / 'gap.json'}\nThe report:  {page}"
    answer = text.first_screen(gap, gap.findings())
    print_result(f"{answer}\n\n{files}", gap.to_dict(), as_json)
