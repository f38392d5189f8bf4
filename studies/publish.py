"""Rebuild the pages of the studies from kept replicates and copy them into the docs.

    python studies/publish.py                 all studies that have results
    python studies/publish.py coverage        only these
    python studies/publish.py --copy          copy the pages as they are, rebuild nothing

Rebuilding runs no replicates: pages show what is in `studies/NAME/replicates.jsonl(.gz)`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from whygap.studies import STUDIES

STUDIES_FOLDER = Path(__file__).resolve().parent
EVIDENCE = STUDIES_FOLDER.parent / "docs" / "evidence"
SIMULATIONS = ("coverage", "semisynthetic", "untuned", "shares")
QUESTIONS = {
    "coverage": "Do 90% intervals cover in the paper's own world, at 500 to 16,000 rows?",
    "semisynthetic": "Do they on real rows with known truth?",
    "untuned": "In a world nobody tuned to? And is nothing found where there is nothing?",
    "shares": "Do Shapley shares, their ranks and differences hold?",
    "comparators": "What do other methods say where the answer is known?",
    "insurance": "The paper's insurance case, on open data",
    "readmission": "The paper's readmission case, on open data",
    "scaling": "What does an analysis cost?",
}
INTRODUCTION = """# Evidence

Claims about intervals are only worth something if they can be checked. Each page below is generated
from results kept in `studies/` and ends with the command that makes it again, the date and the
versions.

| study | question |
|---|---|
"""


def rebuild(name: str) -> None:
    folder = STUDIES_FOLDER / name
    kept = [folder / "replicates.jsonl", folder / "replicates.jsonl.gz"]
    borrowed = name == "shares" and (STUDIES_FOLDER / "coverage").exists()
    if borrowed or any(path.exists() for path in kept):
        STUDIES[name](STUDIES_FOLDER, jobs=0, report=print)


def copy(name: str) -> bool:
    folder = STUDIES_FOLDER / name
    page = folder / f"{name}.md"
    if not page.exists():
        return False
    EVIDENCE.mkdir(exist_ok=True)
    for file in (page, *folder.glob("*.svg")):
        shutil.copy(file, EVIDENCE / file.name)
    return True


def main() -> None:
    named = [name for name in sys.argv[1:] if not name.startswith("--")]
    if "--copy" not in sys.argv:
        for name in SIMULATIONS:
            if not named or name in named:
                rebuild(name)
    there = [name for name in QUESTIONS if copy(name)]
    rows = [f"| [{name}]({name}.md) | {QUESTIONS[name]} |\n" for name in there]
    (EVIDENCE / "index.md").write_text(INTRODUCTION + "".join(rows), encoding="utf-8")
    print("published:", ", ".join(there))


if __name__ == "__main__":
    main()
