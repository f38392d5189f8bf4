"""Rebuild the pages of the studies from kept replicates and copy them into the docs.

    python studies/publish.py                 all studies that have results
    python studies/publish.py coverage        only these
    python studies/publish.py --copy          copy the pages as they are, rebuild nothing

Rebuilding runs no replicates: pages show what is in `studies/NAME/replicates.jsonl(.gz)`. Pages of
the case studies, `true_risk`, `comparators` and `scaling` are copied as their own command wrote
them. The small table of the README is made from the coverage study.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from pathlib import Path

from experiments import EXPERIMENTS
from experiments.semisynthetic import current_pools

STUDIES_FOLDER = Path(__file__).resolve().parent
EVIDENCE = STUDIES_FOLDER.parent / "docs" / "evidence"
SIMULATIONS = ("coverage", "untuned", "shares", "semisynthetic")  # the last one shows all
QUESTIONS = {
    "coverage": "Do 90% intervals cover in the paper's own world, at 500 to 16,000 rows?",
    "semisynthetic": "Do they on real rows with known truth?",
    "untuned": "In a world nobody tuned to? And is nothing found where there is nothing?",
    "true_risk": "Are the numerators unbiased when the source risk is known?",
    "shares": "Do Shapley shares, their ranks and differences hold?",
    "comparators": "What do other methods say where the answer is known?",
    "casestudy_insurance": "The paper's insurance case, on open data",
    "casestudy_readmission": "The paper's readmission case, on open data",
    "scaling": "What does an analysis cost?",
}
README = STUDIES_FOLDER.parent / "README.md"
MARKS = ("<!-- coverage, written by studies/publish.py -->", "<!-- end of coverage -->")
IN_README = {
    "aggregate parts: baseline, covariate, outcome": [
        "aggregate baseline",
        "aggregate covariate",
        "aggregate outcome",
    ],
    "covariate values of {Z1} {Z2} {Z3}": [f"covariate value {{Z{k}}}" for k in (1, 2, 3)],
    "outcome values of {Z1} {Z2} {Z3}": [f"outcome value {{Z{k}}}" for k in (1, 2, 3)],
    "covariate shares of Z1 Z2 Z3": [f"covariate share Z{k}" for k in (1, 2, 3)],
    "outcome shares of Z1 Z2 Z3": [f"outcome share Z{k}" for k in (1, 2, 3)],
}
FIGURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.svg)\)")
INTRODUCTION = """# Evidence

Claims about intervals are only worth something if they can be checked. Each page below is generated
from results kept in `studies/` and ends with the command that makes it again, the date and the
versions.

| study | question |
|---|---|
"""


def rebuild(name: str) -> None:
    """The page anew from kept replicates; a study without any is left alone."""
    folder = STUDIES_FOLDER / name
    kept = [folder / "replicates.jsonl", folder / "replicates.jsonl.gz"]
    borrowed = name == "shares" and (STUDIES_FOLDER / "coverage").exists()
    if not borrowed and not any(path.exists() for path in kept):
        return
    if name == "semisynthetic" and not current_pools(STUDIES_FOLDER / "artefacts" / "pools"):
        print("semisynthetic: its worlds are not here, the page stays as it is")
        return
    EXPERIMENTS[name](STUDIES_FOLDER, jobs=0, report=print)


def copy(name: str) -> bool:
    """Page and figures into the docs; figures of an earlier page that are gone are removed."""
    folder = STUDIES_FOLDER / name
    page = folder / f"{name}.md"
    if not page.exists():
        return False
    EVIDENCE.mkdir(exist_ok=True)
    shown = set(FIGURE.findall(page.read_text(encoding="utf-8")))
    former = EVIDENCE / page.name
    before = set(FIGURE.findall(former.read_text(encoding="utf-8"))) if former.exists() else set()
    for figure in before - shown:
        (EVIDENCE / figure).unlink(missing_ok=True)
    for file in (page.name, *sorted(shown)):
        shutil.copy(folder / file, EVIDENCE / file)
    return True


def coverage_of(lines: list[dict[str, str]], names: list[str], rows: str) -> str:
    """Coverage of several quantities at one size, side by side."""
    by_name = {line["quantity"]: line for line in lines if line["rows_source"] == rows}
    cells = [by_name[name]["coverage"] if name in by_name else "nan" for name in names]
    numbers = ["–" if cell == "nan" else f"{float(cell):.2f}" for cell in cells]
    return " ".join("1.0" if n == "1.00" else n.removeprefix("0") for n in numbers)


def readme_table() -> str:
    """Coverage at each size that was run, from the coverage study's summary."""
    with (STUDIES_FOLDER / "coverage" / "summary.csv").open(encoding="utf-8", newline="") as file:
        lines = [
            line
            for line in csv.DictReader(file)
            if line["metric"] == "accuracy" and line["settings"] == "defaults"
        ]
    counts = {line["rows_source"]: line["replicates"] for line in lines}
    sizes = sorted(counts, key=int)
    head = [f"n = {int(n):,} ({counts[n]} replicates)" for n in sizes]
    body = [
        f"| {title} | " + " | ".join(coverage_of(lines, names, n) for n in sizes) + " |"
        for title, names in IN_README.items()
    ]
    return "\n".join([f"| | {' | '.join(head)} |", "|---" * (len(sizes) + 1) + "|", *body])


def refresh_readme() -> None:
    """The table between the two marks of the README."""
    summary = STUDIES_FOLDER / "coverage" / "summary.csv"
    if not README.exists() or not summary.exists():
        return
    text = README.read_text(encoding="utf-8")
    before, mark, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if mark and end:
        README.write_text(f"{before}{mark}\n{readme_table()}\n{end}{after}", encoding="utf-8")


def main() -> None:
    named = [name for name in sys.argv[1:] if not name.startswith("--")]
    unknown = [name for name in named if name not in QUESTIONS]
    if unknown:
        sys.exit(f"There is no study {unknown[0]!r}. Studies are: {', '.join(QUESTIONS)}.")
    if "--copy" not in sys.argv:
        for name in SIMULATIONS:
            if not named or name in named:
                rebuild(name)
    there = [name for name in QUESTIONS if copy(name)]
    rows = [f"| [{name}]({name}.md) | {QUESTIONS[name]} |\n" for name in there]
    missing = [name for name in QUESTIONS if name not in there]
    note = f"\nNot run yet: {', '.join(missing)}.\n" if missing else ""
    (EVIDENCE / "index.md").write_text(INTRODUCTION + "".join(rows) + note, encoding="utf-8")
    refresh_readme()
    print("published:", ", ".join(there))


if __name__ == "__main__":
    main()
