"""What the docs name exists: functions in the paper map, tests in the errata, commands, links."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from whygap.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "evidence").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
]


def names_in(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return sorted(set(re.findall(r"`(whygap(?:\.\w+)+)`", text)))


def found(name: str) -> object:
    """The module, class, function or method of that full name."""
    parts = name.split(".")
    thing: object = importlib.import_module(parts[0])
    for place, part in enumerate(parts[1:], start=2):
        # A submodule is imported when it is first named; `whygap.explain` is a function.
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(".".join(parts[:place]))
    return thing


PAGES_THAT_NAME_CODE = ("paper_map.md", "architecture.md")


def test_every_name_of_the_paper_map_and_the_architecture_exists():
    lost = []
    for name in sorted({name for page in PAGES_THAT_NAME_CODE for name in names_in(page)}):
        try:
            found(name)
        except (ImportError, AttributeError):
            lost.append(name)
    assert lost == []


def test_a_name_that_does_not_exist_is_noticed():
    assert found("whygap.equations.corners.mean_110").__name__ == "mean_110"
    for wrong in ("whygap.equations.corners.mean_011", "whygap.equations.corner"):
        with pytest.raises(ModuleNotFoundError):
            found(wrong)


def test_the_architecture_names_functions_of_every_subpackage_on_the_main_path():
    named = names_in("architecture.md")
    subpackages = {name.split(".")[1] for name in named}
    main_path = {"study", "tables", "_metrics", "running", "nuisances", "learning", "equations"}
    assert main_path | {"estimate", "shapley", "results", "render"} <= subpackages


MAX_PAGES = 26
MAX_WORDS = 25_000  # README, CONTRIBUTING, code and printed outputs included


def test_the_documentation_stays_short():
    pages = sorted((ROOT / "docs").rglob("*.md"))
    own = [*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in own)
    assert len(pages) <= MAX_PAGES
    assert words <= MAX_WORDS


def named_tests(page: str) -> list[tuple[str, str]]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)))


PAGES_THAT_NAME_TESTS = ("docs/errata.md", "evidence/log.md")


def test_every_test_of_the_errata_and_the_log_exists():
    lost = []
    for page in PAGES_THAT_NAME_TESTS:
        assert len(named_tests(page)) >= 10, page
        for file, test in named_tests(page):
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
            lost += [] if test in functions else [f"{page}: {file} has no {test}"]
    assert lost == []


def test_every_command_is_documented_with_its_examples():
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    flat = " ".join(text.replace("\\\n", " ").split())
    lost = []
    for module in main.COMMANDS:
        name = module.__name__.rpartition(".")[2]
        lost += [] if f"## whygap {name}\n" in text else [name]
        for example in module.EXAMPLES:
            words = " ".join(example.replace("\\\n", " ").split())
            lost += [] if words in flat else [example]
    assert lost == []


def links(text: str) -> list[str]:
    """Where a page's links and pictures lead, code left out."""
    prose = re.sub(r"^```.*?^```|^    .*?$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)[^)]*\)", prose)


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as mkdocs makes them."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    found: list[str] = []
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\s-]", "", plain).strip().lower()
        name = re.sub(r"[-\s]+", "-", name)
        found.append(f"{name}_{found.count(name)}" if name in found else name)
    return set(found)


def broken(page: Path, text: str) -> list[str]:
    """Links of a page's text that lead nowhere: no such file, or no such heading."""
    found = []
    for link in links(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        there = page.parent / file if file else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            found.append(link)
    return found


def test_links_between_pages_lead_somewhere():
    lost = {page.name: broken(page, page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: links for name, links in lost.items() if links} == {}


def test_a_broken_link_is_noticed():
    page = ROOT / "docs" / "start.md"
    text = "[a](nowhere.md) ![b](images/none.svg) [c](cli.md#no-such-thing) [d](cli.md) `[e](x)`"
    assert broken(page, text) == ["nowhere.md", "images/none.svg", "cli.md#no-such-thing"]


def test_outside_links_are_whole_addresses():
    wrong = [
        f"{page.name}: {link}"
        for page in PAGES
        for link in links(page.read_text(encoding="utf-8"))
        if "://" in link and not re.fullmatch(r"https://[\w.-]+\.\w+(/\S*)?", link)
    ]
    assert wrong == []


LONGEST_SENTENCE = 30
FOR_TEN_MINUTES = (ROOT / "README.md", ROOT / "docs" / "start.md", ROOT / "docs" / "index.md")


def sentences(text: str) -> list[str]:
    """What a page says in prose: without code, tables, headings and pictures."""
    code = r"^```.*?^```|<!-- begin.*?<!-- end[^>]*>"
    text = re.sub(code, "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(    |\||#|!\[).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    paragraphs = re.split(r"\n\s*\n|^\s*- ", text, flags=re.MULTILINE)
    return [s for part in paragraphs for s in re.split(r"(?<=[.?!])\W*\s+", part) if s.strip()]


def test_no_sentence_is_long_where_readers_have_ten_minutes():
    for page in FOR_TEN_MINUTES:
        said = sentences(page.read_text(encoding="utf-8"))
        assert len(said) > 20, page.name
        assert [s for s in said if len(s.split()) > LONGEST_SENTENCE] == [], page.name


def test_a_long_sentence_is_noticed():
    long = "word " * 31 + "end."
    assert [len(s.split()) for s in sentences(f"Short. {long}\n\n    {long}\n\n- {long}")] == [
        1,
        32,
        32,
    ]


FOR_DEVELOPERS = {
    "architecture.md",
    "learning.md",
    "paper_map.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
}


def test_pages_for_users_are_no_diary_of_the_laboratory():
    diary = r"\b(?:engine \d+|R ?= ?\d+|\d+ (?:replicates|seeds))\b"
    pages = [p for p in PAGES if "evidence" not in p.parts and p.name not in FOR_DEVELOPERS]
    wrong = {page.name: re.findall(diary, page.read_text(encoding="utf-8")) for page in pages}
    assert {name: words for name, words in wrong.items() if words} == {}


PLAIN = ["index", "start", "numbers", "roles", "check", "rehearse", "report", "comparison", "cli"]
PLAIN_PAGES = [
    *(ROOT / "docs" / f"{name}.md" for name in PLAIN),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    ROOT / "README.md",
]


def test_pages_for_newcomers_use_no_word_of_the_workshop():
    puzzles = r"\b(players?|domains?|nuisances?|stratum|told from 0|worth about)\b"
    wrong = {p.name: re.findall(puzzles, p.read_text(encoding="utf-8")) for p in PLAIN_PAGES}
    assert {name: words for name, words in wrong.items() if words} == {}


def test_the_reference_names_everything_that_is_public_and_nothing_else():
    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"whygap\.(\w+)", text)
    public = {*importlib.import_module("whygap").__all__}
    assert public <= {*named}
    for name in re.findall(r"^::: (\S+)", text, re.MULTILINE):
        assert not any(part.startswith("_") for part in name.split(".")), name
        assert found(name).__doc__, name
