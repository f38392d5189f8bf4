"""The page's content, without a browser: self-contained, escaped, complete, computed once."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from result_factory import make_gap, many_players, not_comparable
from test_render_figures import HOSTILE

from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.notes import Note
from whygap.render import page, tables, text
from whygap.render.formats import visible
from whygap.results import Gap, Gaps, details
from whygap.shapley import inference

PROBLEM = Note("gives_outcome", "problem", {"column": "months at work"})
CASES: dict[str, dict[str, object]] = {
    "story": {},
    "undefined": {"defined": ("outcome",)},
    "one player": {"outcome": {"x": 0.3}, "covariate": {"x": 1.0}},
    "no details": {"outcome": None, "covariate": None, "culprits": ()},
    "problem": {"notes": (PROBLEM,)},
    "hostile names": {
        "outcome": dict.fromkeys(HOSTILE, 0.1),
        "covariate": None,
        "names": ("<img src=x onerror=alert(1)>", "目标 <b>\x07医院</b>"),
        "levels": HOSTILE[:5],
        "notes": (Note("model_warned", "warning", {"value": "</script><script>alert(2)"}),),
    },
}


class Page(HTMLParser):
    """Tags with their attributes, and the texts between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(" ".join(data.split()))

    def of(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: page.html(make_gap(**case)) for name, case in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_page_is_one_file_that_asks_for_nothing(name: str, pages: dict[str, str]) -> None:
    html = Page(pages[name])
    used = {tag for tag, _ in html.tags}
    assert not used & {"link", "img", "iframe", "base", "object", "form"}
    assert not html.of("src")
    assert all(link.startswith("#") for link in html.of("href"))
    scripts = re.findall(r"<script>(.*?)</script>", pages[name], re.DOTALL)
    assert len(scripts) == len([tag for tag, _ in html.tags if tag == "script"]) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    (policy,) = [text for text in html.of("content") if "default-src" in text]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert not [name for _, attrs in html.tags for name in attrs if name.startswith("on")]


@pytest.mark.parametrize("name", CASES)
def test_ids_are_unique_and_links_lead_somewhere(name: str, pages: dict[str, str]) -> None:
    html = Page(pages[name])
    ids = html.of("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in html.of("href")} <= set(ids)


@pytest.mark.parametrize("name", CASES)
def test_the_page_says_and_tables_everything(name: str, pages: dict[str, str]) -> None:
    gap, html = make_gap(**CASES[name]), Page(pages[name])
    findings = gap.findings()
    said = " ".join(html.texts).replace("\u2212", "-")
    for key, texts in text.section_texts(gap, findings).items():
        for sentence in texts:
            assert " ".join(visible(sentence).split()) in said, key
    lines = [tag for tag, attrs in html.tags if tag == "th" and attrs.get("scope") == "row"]
    assert len(lines) >= len(tables.rows(findings))


def test_everything_is_computed_once(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """The page asks for no interval beyond those of the findings."""
    calls = {"interval": 0, "simultaneous": 0}
    interval, simultaneous = Estimate.interval, inference.simultaneous_intervals

    def counted(name: str, function):
        def call(*args, **options):
            calls[name] += 1
            return function(*args, **options)

        return call

    monkeypatch.setattr(Estimate, "interval", counted("interval", interval))
    together = counted("simultaneous", simultaneous)
    for module in (inference, details):
        monkeypatch.setattr(module, "simultaneous_intervals", together)
    gap = make_gap()
    gap.findings()
    once = dict(calls)
    gap.report(tmp_path / "gap.html", redact=None)
    assert all(calls[name] <= 2 * number for name, number in once.items())
    assert once["interval"] < 150


def test_the_first_screen_says_what_why_who_and_what_to_do(pages: dict[str, str]) -> None:
    html = pages["story"]
    top = Page(html.partition("<nav")[0]).texts
    gap = make_gap()
    head = [part.replace("-", "\u2212") for part in text.headline(gap, gap.findings())[2:]]
    assert [t for t in top if t in ("Why", "Who", "What to do")] == ["Why", "Who", "What to do"]
    assert any(t.startswith("Accuracy fell by 7.2 points (95% interval 3.9 to 10.5)") for t in top)
    assert any(t.startswith("The largest part is concept shift") for t in top)
    assert head[0].split(" (")[0] in " ".join(top)
    assert any(t.startswith("Revise the model on age, sex") for t in top)


def test_problems_come_first(pages: dict[str, str]) -> None:
    assert pages["problem"].index(text.BANNER) < pages["problem"].index("Accuracy fell")
    reason = "The tables share too little."
    html = page.html(not_comparable(make_gap(), reason))
    assert html.index(reason) < html.index("Accuracy fell")
    assert "cannot be estimated" in html


def test_hostile_names_are_text_everywhere(pages: dict[str, str]) -> None:
    html = Page(pages["hostile names"])
    said = " ".join(html.texts)
    for name in HOSTILE:
        assert " ".join(visible(name).split()) in said
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", pages["hostile names"])
    notebook = page.notebook(make_gap(**CASES["hostile names"]))
    assert "<script" not in notebook
    assert "<img" not in notebook


def test_levels_of_few_rows_are_named_only_if_asked_for(tmp_path) -> None:
    gap = make_gap(rows=(900, 300), levels=("RARE", "b", "c"))
    small = gap.affected["outcome"].groups[0].target_share * 300
    redact = round(small) + 50
    assert "RARE" in gap.report(tmp_path / "all.html", redact=None).read_text(encoding="utf-8")
    assert gap.report(tmp_path / "a.html", redact=redact).read_text(encoding="utf-8") == page.html(
        gap.redacted(redact)
    )


def test_the_level_is_that_of_the_settings_unless_given() -> None:
    assert "95% interval" in page.html(make_gap())
    html = page.html(make_gap(), 0.8)
    assert "(80% interval " in html
    assert "(95% interval " not in html.partition(">Who<")[0]


def several(count: int = 3, **case: object) -> Gaps:
    return Gaps({f"site {k} <b>": make_gap(seed=k, **case) for k in range(count)})


def test_several_targets_are_one_page_with_a_section_each() -> None:
    gaps = several()
    html = Page(page.html(gaps))
    targets = [a["id"] for tag, a in html.tags if tag == "details" and a.get("class") == "target"]
    assert targets == ["t1", "t2", "t3"]
    said = " ".join(html.texts).replace("\u2212", "-")
    for sentence in text.targets_headline(gaps, gaps.findings()):
        assert sentence in said
    assert len(html.of("id")) == len(set(html.of("id")))


def test_sizes() -> None:
    players = many_players(30)
    assert len(page.html(several(outcome=players, covariate=players)).encode()) < 1_000_000
    assert len(page.html(make_gap()).encode()) < 250_000


@pytest.mark.parametrize("result", [make_gap(), several(2)], ids=["gap", "gaps"])
def test_a_notebook_gets_the_answer_a_chart_and_a_table_without_scripts(result: Gap | Gaps) -> None:
    html = Page(result._repr_html_())
    assert not {"script", "link", "img"} & {tag for tag, _ in html.tags}
    assert [tag for tag, _ in html.tags].count("svg") == 1
    assert not html.of("src")
    first = result if isinstance(result, Gap) else next(iter(result.values()))
    said = " ".join(html.texts).replace("\u2212", "-")
    answer = text.headline if isinstance(result, Gap) else text.targets_headline
    assert answer(result, result.findings())[0] in said
    assert first.parts["outcome"].label in said


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("x.pdf", {}, "A report is a page of HTML"),
        ("x.html", {"level": 95}, "level of an interval"),
    ],
)
def test_mistakes_are_named(tmp_path, name, options, message) -> None:
    with pytest.raises(InputError, match=message):
        make_gap().report(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())
