"""The page's content, without a browser: self-contained, escaped, complete."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from result_factory import NASTY_NAMES, make_gap, many_players

from whygap.errors import InputError, ResultError
from whygap.render import phrases, report
from whygap.render.units import percent, with_minus
from whygap.render.views import Scale, round_ticks
from whygap.results import RatioRecord


def page(**case: object) -> str:
    return report.html({"": make_gap(**case)}, 0.95)


def payloads(html: str) -> list[dict[str, object]]:
    found = re.findall(r'<script type="application/json" data-payload>(.*?)</script>', html)
    return [json.loads(text) for text in found]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(html)
    return parser.seen


def test_loads_nothing_and_says_so_to_the_browser() -> None:
    html = page()
    for tag, attributes in tags(html):
        for name in ("src", "href", "action", "poster"):
            address = attributes.get(name) or "#"
            assert address.startswith(("#", "data:")), f"<{tag} {name}={address}>"
    assert "default-src 'none'" in html
    assert not re.search(r"@import|url\((?!#)", html)


def test_ids_are_unique_even_with_several_targets() -> None:
    html = report.html({"a": make_gap(), "b": make_gap(seed=2)}, 0.9)
    ids = [attributes["id"] for _, attributes in tags(html) if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_level_of_the_switch_is_worked_out() -> None:
    gap = make_gap()
    data = payloads(report.html({"": gap}, 0.95))[0]
    assert list(data["levels"]) == ["0.8", "0.9", "0.95", "0.99"]
    assert data["first"] == "0.95"
    for key, at in data["levels"].items():
        low, high = gap.shares["outcome"].values["schooling"].interval(float(key))
        row = [line[0] for line in data["rows"]["outcome"]].index("schooling")
        assert at["lines"]["outcome"][row][2] == f"{100 * low:.0f}% to {100 * high:.0f}%"


def test_every_group_has_its_own_widening_at_every_level() -> None:
    gap = make_gap(rows=(60, 40))
    data = payloads(report.html({"": gap}, 0.95))[0]
    for key, at in data["levels"].items():
        both = zip(
            gap.affected["outcome"].groups,
            gap.affected["outcome"].simultaneous(float(key)),
            strict=True,
        )
        wide = [(h - low) / (2 * g.points.standard_error) for g, (low, h) in both]
        found = [one for name in gap.affected["outcome"].variables() for one in at["wide"][name]]
        assert found == pytest.approx(wide, abs=1e-6)
        assert len(set(found)) > 1, "degrees of freedom differ from group to group"


def test_another_level_joins_the_switch() -> None:
    data = payloads(report.html({"": make_gap()}, 0.68))[0]
    assert list(data["levels"]) == ["0.68", "0.8", "0.9", "0.95", "0.99"]


def test_hostile_names_cannot_leave_their_place() -> None:
    html = page(
        outcome=dict.fromkeys([*NASTY_NAMES, "</script><!--", "a\u2028b"], 0.1), covariate=None
    )
    scripts = [attributes for tag, attributes in tags(html) if tag == "script"]
    assert len(scripts) == 2
    assert "<script>alert" not in html
    assert "\u2028" not in html.split("data-payload>")[1]
    names = [line[0] for line in payloads(html)[0]["rows"]["outcome"]]
    assert {*NASTY_NAMES, "</script><!--", "a\u2028b"} <= set(names)


@pytest.mark.parametrize(
    "case",
    [
        {"outcome": many_players(60), "covariate": None},
        {"outcome": {"x": 0.3}, "covariate": None},
        {"outcome": None, "covariate": None},
        {"defined": ()},
        {"share_noise": 0.3},
        {"metric": "cost", "corners": (1.2e-8, 1.21e-8, 1.3e-8, 1.53e-8)},
        {"baseline": (), "corners": (0.8, 0.8, 0.75, 0.7)},
    ],
)
def test_awkward_results_make_a_small_whole_page(case: dict[str, object]) -> None:
    html = page(**case)
    assert html.rstrip().endswith("</html>")
    assert len(html.encode()) < 1_000_000
    assert "nan" not in re.sub(r"[a-z]{2,}nan|nan[a-z]{2,}", "", html.lower().split("<main")[1])


def test_size_does_not_grow_with_rows() -> None:
    few = {"outcome": {"a": 0.3, "b": 0.2}, "covariate": None}
    small, large = page(rows=(400, 300), **few), page(rows=(40_000, 30_000), **few)
    assert abs(len(large) - len(small)) < 2_000


def test_two_sentences_come_first_and_association_is_said() -> None:
    html = page()
    assert html.index("Accuracy fell by 7.2 points") < html.index("Where the change comes from")
    assert "They say where the change shows up, not what caused it." in html
    assert "They do not show causes." in html


def test_page_is_the_same_for_the_same_result() -> None:
    assert page() == page()


def test_written_whole_or_refused(tmp_path: Path) -> None:
    gap = make_gap()
    path = gap.report(tmp_path / "gap.html", redact=None)
    assert path.read_text(encoding="utf-8") == page()
    with pytest.raises(ResultError, match="cannot be written"):
        gap.report(tmp_path / "missing" / "gap.html")
    with pytest.raises(InputError, match="at least one result"):
        report.write_many({}, tmp_path / "gap.html")
    with pytest.raises(InputError, match="between 0 and 1"):
        gap.report(tmp_path / "gap.html", level=1.5)


def test_notebook_view_stands_alone() -> None:
    html = make_gap(outcome=dict.fromkeys(NASTY_NAMES, 0.1))._repr_html_()
    assert "<script" not in html
    assert "Accuracy fell by 7.2 points" in html
    assert "&lt;script&gt;alert(1)" in html
    assert html.count('<svg class="walk"') == 1


@pytest.mark.parametrize(
    ("kept", "verdict"), [(0.9, "good"), (0.31, "fair"), (0.02, "poor"), (0.0, "poor")]
)
def test_overlap_in_plain_words(kept: float, verdict: str) -> None:
    ratio = RatioRecord("pi_w", "baseline", 1000 * kept, 1000, 19.4, 0.012, 0.83)
    assert ratio.verdict == verdict
    text = phrases.overlap_sentence(ratio)
    assert f"1,000 rows then count as {1000 * kept:.0f} ({kept:.0%})" in text
    assert "1.2% of the weights were cut off" in text


def test_minus_signs_only_before_numbers() -> None:
    assert with_minus("-3% to non-citizens, a-1 and (-2)") == "−3% to non-citizens, a-1 and (−2)"


def test_scales_have_round_ticks() -> None:
    assert round_ticks(-0.23, 0.9) == pytest.approx([0.0, 0.5])
    assert [text for _, text in Scale(-0.1, 0.45, percent).ticks()] == ["0%", "20%", "40%"]
    assert Scale(0.0, 1.0, percent).at(float("inf")) == 100.0
    assert Scale(0.0, 1.0, percent, first=250, last=26).at(float("-inf")) == 250.0
