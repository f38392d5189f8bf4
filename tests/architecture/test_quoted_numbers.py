"""Numbers that prose quotes are printed beside it, or counted in the evidence."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORY = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("start", "points", "where", "recoverable")),
]
OUTPUT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
EVIDENCE = "## Can the intervals be trusted?"


def printed(text: str) -> set[str]:
    """Numbers that the page's examples print."""
    return {number.replace(",", "") for found in OUTPUT.findall(text) for number in
            NUMBER.findall(found)}  # fmt: skip


def quoted(text: str) -> list[str]:
    """Numbers of points and percent in the page's words, other than levels of intervals."""
    prose = re.sub(r"^```.*?^```|^    .*?$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\d+% (?:\w+ )?(?:interval|probability)|\d+ of\s+\d+", "", prose)
    prose = prose.partition("## The formula")[0]
    before, _, rest = prose.partition(EVIDENCE)
    prose = before + rest.partition("\n## ")[2]
    return re.findall(r"(\d+(?:\.\d+)?)(?=%| points|\s+of them)", prose)


def rounds_to(number: str, all_printed: set[str]) -> bool:
    digits = len(number.partition(".")[2])
    return any(f"{float(one):.{digits}f}" == number for one in all_printed)


@pytest.mark.parametrize("page", STORY, ids=lambda page: page.stem)
def test_a_number_in_words_is_printed_on_the_same_page(page):
    text = page.read_text(encoding="utf-8")
    lost = [number for number in quoted(text) if not rounds_to(number, printed(text))]
    assert lost == [], "Run: python docs/run_examples.py, and read the words beside the numbers"


def test_a_number_that_nothing_prints_is_noticed():
    page = "It cost 1.4 points, or 37% of 8%.\n\n```text\n-1.36 and 37% (95% interval)\n```\n"
    assert quoted(page) == ["1.4", "37", "8"]
    assert [rounds_to(number, printed(page)) for number in quoted(page)] == [True, True, False]


def test_every_page_of_the_story_tells_of_the_same_gap():
    said = {page.stem: re.findall(r"[Ff]ell by (\S+) points", page.read_text("utf-8"))
            for page in STORY}  # fmt: skip
    assert {gap for gaps in said.values() for gap in gaps} == {said["README"][0]}


def mean_coverage(settings: str) -> list[float]:
    """Of what single variables explain, a mean per number of rows."""
    with (ROOT / "evidence" / "coverage" / "summary.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["settings"] == settings]
    rows = [row for row in rows if row["metric"] == "accuracy"]
    rows = [row for row in rows if re.fullmatch(r"\w+ value \{Z\d\}", row["quantity"])]
    sizes = {row["rows_source"] for row in rows}
    found = [[float(r["coverage"]) for r in rows if r["rows_source"] == n] for n in sizes]
    return [sum(one) / len(one) for one in found]


def test_the_readme_says_of_coverage_what_the_evidence_counts():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    ours = mean_coverage("defaults")
    theirs = mean_coverage("risk_uncertainty=False, twins=False")
    assert f"hold in {min(ours):.0%} to {max(ours):.0%} of the draws on average" in text
    assert f"they hold in {min(theirs):.0%} to {max(theirs):.0%}." in text


def rules_found(tool: str) -> str:
    """How often planted rules were found, weak to strong, as the comparison says it."""
    with (ROOT / "evidence" / "rules" / "rules.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["tool"] == tool and float(row["effect"])]
    weak, middling, strong = (f"{float(r['found']):.0%}" for r in
                              sorted(rows, key=lambda row: float(row["effect"])))  # fmt: skip
    return f"{weak}, {middling} and {strong}"


def test_the_comparison_says_of_planted_rules_what_the_evidence_counts():
    text = " ".join((ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").split())
    theirs, ours = rules_found("wise-pizza"), rules_found("whygap")
    assert f"({theirs} of the draws; ours {ours})" in text
