"""Numbers that prose quotes are printed beside it, or counted in the evidence."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORY = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("start", "numbers")),
]
OUTPUT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
EVIDENCE = "## Coverage of the intervals"


def printed(text: str) -> set[str]:
    """Numbers that the page's examples print."""
    return {number.replace(",", "") for found in OUTPUT.findall(text) for number in
            NUMBER.findall(found)}  # fmt: skip


def quoted(text: str) -> list[str]:
    """Numbers of points and percent in the page's words, other than levels of intervals."""
    prose = re.sub(r"^```.*?^```|^    .*?$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\d+% (?:\w+ )?(?:interval|probability)|\d+ of\s+\d+", "", prose)
    before, _, rest = prose.partition(EVIDENCE)
    prose = before + rest.partition("\n## ")[2]
    return re.findall(r"(\d+(?:\.\d+)?)(?=%| points|\s+of them)", prose)


def rounds_to(number: str, all_printed: set[str]) -> bool:
    digits = len(number.partition(".")[2])
    return any(f"{float(one):.{digits}f}" == number for one in all_printed)


def test_a_number_in_words_is_printed_on_the_same_page():
    texts = {page.stem: page.read_text(encoding="utf-8") for page in STORY}
    lost = {
        name: [number for number in quoted(text) if not rounds_to(number, printed(text))]
        for name, text in texts.items()
    }
    wrong = {name: numbers for name, numbers in lost.items() if numbers}
    assert wrong == {}, "Run: python docs/run_examples.py, and read the words beside the numbers"


def test_a_number_that_nothing_prints_is_noticed():
    page = "It cost 1.4 points, or 37% of 8%.\n\n```text\n-1.36 and 37% (95% interval)\n```\n"
    assert quoted(page) == ["1.4", "37", "8"]
    assert [rounds_to(number, printed(page)) for number in quoted(page)] == [True, True, False]


def test_every_page_of_the_story_tells_of_the_same_gap():
    said = {page.stem: re.findall(r"[Ff]ell by (\S+) points", page.read_text("utf-8"))
            for page in STORY}  # fmt: skip
    assert {gap for gaps in said.values() for gap in gaps} == {said["README"][0]}


def counted(experiment: str, **asked: str) -> list[dict[str, str]]:
    """Rows of the table behind a page that have all of these values."""
    with (ROOT / "evidence" / experiment / "summary.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file)
                if all(row[name] == value for name, value in asked.items())]  # fmt: skip


def words(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def mean_coverage(settings: str) -> list[float]:
    """Of what single variables explain, a mean per number of rows."""
    rows = counted("coverage", settings=settings, metric="accuracy")
    rows = [row for row in rows if re.fullmatch(r"\w+ value \{Z\d\}", row["quantity"])]
    sizes = {row["rows_source"] for row in rows}
    found = [[float(r["coverage"]) for r in rows if r["rows_source"] == n] for n in sizes]
    return [sum(one) / len(one) for one in found]


def test_the_readme_says_of_coverage_what_the_evidence_counts():
    text = words("README.md")
    ours = mean_coverage("defaults")
    theirs = mean_coverage("risk_uncertainty=False, twins=False")
    assert f"hold in {min(ours):.0%} to {max(ours):.0%} of the draws on average" in text
    assert f"they hold in {min(theirs):.0%} to {max(theirs):.0%}." in text


def test_the_errata_say_of_the_source_risk_what_the_evidence_counts():
    without = ("risk_uncertainty=False", "risk_uncertainty=False, twins=False")
    term, both = (
        float(counted("coverage", settings=settings, metric="accuracy", rows_source="2000",
                      quantity="outcome numerator {Z1}")[0]["coverage"])
        for settings in without
    )  # fmt: skip
    text = words("docs/errata.md")
    assert f"for the numerator of {{Z1}} covered {term:.0%} of the time" in text
    assert f"without twins as well {both:.0%}." in text


def denominators(experiment: str, rows: str) -> list[str]:
    """How often intervals of the outcome denominator hold, world by world, as pages write it."""
    asked = counted(experiment, quantity="outcome denominator", rows_source=rows)
    held = [row for row in asked if row["settings"] == "defaults"]
    return [f"{float(row['coverage']):.3f}".lstrip("0").removesuffix("0") for row in held]


def test_the_page_of_intervals_says_of_denominators_what_the_evidence_counts():
    first, second, third = denominators("judging", "3000")
    (readmission,) = denominators("semisynthetic", "3750")
    text = words("docs/intervals.md")
    assert f"90% intervals of the denominator cover {first}, {second} and {third}," in text
    assert f"(readmission, a difference of .0023) it is {readmission}," in text


def rules_found(tool: str) -> str:
    """How often planted rules were found, weak to strong, as the comparison says it."""
    with (ROOT / "evidence" / "rules" / "rules.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["tool"] == tool and float(row["effect"])]
    weak, middling, strong = (f"{float(r['found']):.0%}" for r in
                              sorted(rows, key=lambda row: float(row["effect"])))  # fmt: skip
    return f"{weak}, {middling} and {strong}"


def test_the_comparison_says_of_planted_rules_what_the_evidence_counts():
    text = words("docs/comparison.md")
    theirs, ours = rules_found("wise-pizza"), rules_found("whygap")
    assert f"({theirs} of the draws; ours {ours})" in text
