"""Figures: what is drawn is what the findings say, nothing overlaps, for every awkward case."""

# ruff: noqa: S314 - SVG that matplotlib wrote
from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from result_factory import NASTY_NAMES, make_gap, many_players, not_comparable, with_parts

from whygap.errors import InputError
from whygap.estimate import Estimate
from whygap.render import drawing, figures, svg
from whygap.render.drawing import Row
from whygap.render.figures import DecompositionDisplay, IntervalsDisplay, TrendDisplay
from whygap.render.formats import visible
from whygap.render.style import COLOURS
from whygap.results import Gap, Gaps, Part

CONTROL = ("bell \x07", "escape \x1b[31mred", "turned \u202etxt.exe", "two\nlines\tand a tab")
HOSTILE = (*NASTY_NAMES, *CONTROL, "</svg><script>2</script>", "$x^2$ and $", "--> <!--")
LONG = {
    f"a_name_{k:02d}_that_is_so_long_that_it_fits_nowhere_at_all_{k}": 0.02 + 0.001 * k
    for k in range(30)
}
OUTCOME = "Outcome: \u22124.9 (\u22128.1 to \u22121.7)"
AWKWARD: dict[str, dict[str, object]] = {
    "story": {},
    "one player": {"outcome": {"x": 0.3}, "covariate": {"x": 1.0}},
    "thirty players": {"outcome": None, "covariate": many_players(30)},
    "long names": {"outcome": LONG, "covariate": None, "names": (next(iter(LONG)), "b" * 90)},
    "hostile names": {
        "outcome": dict.fromkeys(HOSTILE, 0.1),
        "covariate": None,
        "names": HOSTILE[:2],
    },
    "tiny": {"metric": "cost", "corners": (1.2e-8, 1.21e-8, 1.3e-8, 1.53e-8)},
    "huge": {"metric": "cost", "corners": (2e12, 2e12, 3e12, 4e12)},
    "no change": {"corners": (0.8, 0.8, 0.8, 0.8)},
    "no baseline": {"baseline": (), "corners": (0.8, 0.8, 0.75, 0.7)},
    "unbounded": {"share_noise": 0.3},
}


def decomposition(gap: Gap, level: float = 0.95, **options: object) -> DecompositionDisplay:
    return DecompositionDisplay.from_gap(gap, gap.findings(level), **options)


def intervals(gap: Gap, what: str, part: str = "", level: float = 0.95) -> IntervalsDisplay:
    return IntervalsDisplay.from_gap(gap, gap.findings(level), what, part)


def displays(gap: Gap) -> list[figures.Display]:
    """Everything a page draws of one target."""
    found: list[figures.Display] = [decomposition(gap, line=w) for w in (0.0, drawing.WIDTH, 760.0)]
    kinds = {f.kind for f in gap.findings()}
    present = [what for what, of in figures.KINDS.items() if kinds & set(of)]
    return [*found, *(intervals(gap, what) for what in present)]


# -- what is drawn ---------------------------------------------------------------------------------


def test_the_decomposition_goes_from_source_to_target() -> None:
    gap = make_gap()
    display = decomposition(gap, 0.9, variables=False)
    assert display.plot() is display
    source, *parts, target = display.rows
    assert [row.name for row in parts] == [part.label for part in gap.parts.values()]
    assert (source.end, target.end) == (gap.source.value, gap.target.value)
    assert [row.start for row in parts] == pytest.approx([0.804, 0.797, 0.781])
    assert parts[-1].end == pytest.approx(target.end)
    for row, part in zip(parts, gap.parts.values(), strict=True):
        low, high = part.interval(0.9)
        assert row.interval == pytest.approx((row.start + low, row.start + high))
        assert row.is_significant == part.excludes_zero(0.9)
    bars = [bar.get_width() for bar in display.ax_.patches]
    assert bars == pytest.approx([part.value for part in gap.parts.values()])


def test_parts_open_into_variables_that_end_where_the_part_ends() -> None:
    gap = make_gap(covariate=many_players(30), outcome=None)
    rows = decomposition(gap).rows
    place = next(k for k, row in enumerate(rows) if row.part == "covariate")
    inside = list(itertools.takewhile(lambda row: not row.is_heading, rows[place + 1 :]))
    named = [f.variable for f in gap.findings() if f.facts.get("named") and f.kind == "points"]
    assert [row.name for row in inside[:-1]] == [n for n in named if n in gap.points["covariate"]]
    assert inside[-1].name == f"{30 - len(inside) + 1} others"
    assert inside[0].start == rows[place].start
    assert inside[-1].end == pytest.approx(rows[place].end, abs=1e-12)
    assert all(a.end == b.start for a, b in itertools.pairwise(inside))


def test_what_is_not_significant_is_hollow() -> None:
    bars = decomposition(make_gap(), variables=False).plot().ax_.patches
    card = mpl.colors.to_rgba(COLOURS["card"])
    assert [bar.get_facecolor() == card for bar in bars] == [False, True, False]


@pytest.mark.parametrize("what", figures.KINDS)
def test_a_row_per_finding_with_its_interval(what: str) -> None:
    gap = make_gap()
    wanted = [f for f in gap.findings(0.9) if f.kind in figures.KINDS[what]]
    wanted = [f for f in wanted if f.facts.get("term") != "irreducible"]
    display = intervals(gap, what, level=0.9).plot()
    rows = [row for row in display.rows if row.end == row.end]
    assert len(rows) + display.n_left_out == len(wanted)
    assert {(r.end, *r.interval) for r in rows} <= {(f.value, *f.interval) for f in wanted}
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([r.end for r in rows])
    headings = [row.name for row in display.rows if row.end != row.end]
    parts = list(dict.fromkeys(f.part for f in wanted))
    assert headings == ([gap.parts[p].label for p in parts] if len(parts) > 1 else [])


def test_groups_stand_with_the_most_telling_first() -> None:
    gap = make_gap()
    rows = intervals(gap, "affected").rows
    first = min(
        (f for f in gap.findings() if f.kind in ("rule", "group")), key=lambda f: f.facts["place"]
    )
    assert rows[0].end == first.value
    assert rows[0].note.endswith("% of rows")


def test_a_made_up_part_is_drawn_without_any_change() -> None:
    gap = make_gap()
    extra = Part.named(gap.parts["outcome"] * 0.5, "Prediction", "another model")
    parts = {**gap.parts, "prediction": extra, "outcome": gap.parts["outcome"]}
    rows = decomposition(replace(gap, parts=parts, part_covariance=np.eye(4))).rows
    assert next(row for row in rows if row.part == "prediction").colour == "other"


@pytest.mark.parametrize("n_targets", [2, 10])
def test_a_trend_has_a_panel_for_the_change_and_each_part(n_targets: int) -> None:
    ends = {f"month {k}": 0.76 - 0.01 * k for k in range(n_targets)}
    gaps = Gaps({name: bare(corners=(0.8, 0.79, 0.77, end)) for name, end in ends.items()})
    findings = gaps.findings(0.9)
    display = TrendDisplay.from_gaps(gaps, findings).plot()
    assert list(display.series) == ["Change", "Baseline", "Covariates", "Outcome"]
    together = {f.facts["target"]: f for f in findings if f.kind == "target_change"}
    for name, row in display.series["Change"].items():
        assert (row.end, row.interval) == (gaps[name].total.value, together[name].interval)
    panels = display.figure_.axes
    assert len(panels) == 4
    assert len(panels[-1].get_xticks()) <= drawing.MAX_TARGET_NAMES
    alone = Figure().add_subplot()
    assert TrendDisplay.from_gaps(gaps, findings).plot(alone).ax_ is alone


# -- how -------------------------------------------------------------------------------------------


def wide_outcome() -> Gap:
    """One part known far less well than the others."""
    gap = make_gap()
    part = gap.parts["outcome"]
    return with_parts(gap, outcome=Estimate(part.value, 40 * part.standard_error))


@pytest.mark.parametrize("line", [0.0, 330.0])
def test_one_wide_interval_flattens_nothing_and_ends_in_arrows(line: float) -> None:
    gap = wide_outcome()
    ax = decomposition(gap, variables=False, line=line).plot().ax_
    low, high = ax.get_ylim() if line else ax.get_xlim()
    assert high - low < 5 * abs(gap.total.value)
    marks = [mark.get_marker() for mark in ax.lines]
    arrows = "v^" if line else "<>"
    assert [marks.count(arrow) for arrow in arrows] == [1, 1]
    narrow = decomposition(make_gap(), variables=False, line=line).plot()
    assert set(arrows).isdisjoint(mark.get_marker() for mark in narrow.ax_.lines)


def test_where_most_intervals_have_no_end_the_few_others_do_not_set_the_frame() -> None:
    """As with shares of a whole that is hardly told from 0: two ends at -39,000%, six nowhere."""
    spans = [*[(-math.inf, math.inf)] * 6, (-390.0, 0.2), (-2.0, 0.3)]
    rows = [
        Row("", start=0.0, end=e, interval=s) for e, s in zip([0.85, -0.43] * 4, spans, strict=True)
    ]
    ax = IntervalsDisplay("", tuple(rows), str, 0.95).plot().ax_
    low, high = ax.get_xlim()
    assert -2.5 < low < -0.43
    assert 0.85 < high < 2.5


@pytest.mark.filterwarnings("ignore:Glyph .* missing from")
@pytest.mark.parametrize("case", AWKWARD)
def test_no_text_overlaps_another_or_leaves_the_figure(case: str) -> None:
    """In matplotlib's own font, which is wider than a browser's."""
    gap = make_gap(**AWKWARD[case])
    for display in (decomposition(gap), intervals(gap, "affected"), intervals(gap, "points")):
        figure = display.plot().figure_
        renderer = FigureCanvasAgg(figure).get_renderer()
        texts = [t for t in display.ax_.texts if t.get_text().strip()]
        boxes = [t.get_window_extent(renderer) for t in texts]
        for (one, a), (other, b) in itertools.combinations(zip(texts, boxes, strict=True), 2):
            apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
            assert apart, f"{one} on {other}"
        assert all(box.x0 >= -1 and box.x1 <= figure.bbox.width + 1 for box in boxes)


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_cases_are_drawn_without_warnings(case: str) -> None:
    gap = make_gap(**AWKWARD[case])
    assert svg.image(gap.plot(), "png").startswith(b"\x89PNG")
    for display in displays(gap):
        assert ET.fromstring(svg.svg(display, case, "p")).tag == "svg"


def open_figures() -> list[int]:
    """Figures that pyplot keeps, of whatever ran in this process before."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return [] if pyplot is None else pyplot.get_fignums()


def test_given_axes_are_used_and_pyplot_is_never_touched() -> None:
    before = dict(mpl.rcParams)
    figures = open_figures()
    gap, ax = make_gap(), Figure().add_subplot()
    assert gap.plot(ax) is ax.figure
    assert gap.plot(Figure().add_subplot(), what="points") is not None
    assert Gaps({"a": gap, "b": gap}).plot() is not None
    assert dict(mpl.rcParams) == before
    assert open_figures() == figures


def test_part_colours_differ_in_grey() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    ordered = sorted(lightness(COLOURS[part]) for part in ("baseline", "covariate", "outcome"))
    assert all(b - a > 0.12 for a, b in itertools.pairwise(ordered))


def test_the_level_is_that_of_the_settings_unless_given() -> None:
    def words(level: float | None) -> str:
        return " ".join(text.get_text() for text in make_gap().plot(level=level).axes[0].texts)

    assert "95% intervals" in words(None)
    assert "80% intervals" in words(0.8)


def test_a_problem_stands_in_the_title() -> None:
    gap = not_comparable(make_gap(), "The tables share too little.")
    texts = " ".join(text.get_text() for text in gap.plot().axes[0].texts)
    assert texts.find("share too little") >= 0


# -- files and pages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")]
)
def test_files_are_written_by_their_ending_and_are_reproducible(tmp_path, kind, start) -> None:
    gap = make_gap(outcome=None, covariate=None)
    path = svg.save(gap.plot(), tmp_path / f"gap.{kind}")
    assert path.read_bytes().startswith(start)
    assert svg.image(gap.plot(), kind) == path.read_bytes()


def bare(**case: object) -> Gap:
    return make_gap(outcome=None, covariate=None, culprits=(), **case)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda _: make_gap().plot(what="pionts"),
            "There is no figure 'pionts'. Did you mean 'points'?",
        ),
        (
            lambda _: make_gap().plot("points"),
            "ax= takes matplotlib axes. Got 'points'. Try gap.plot(what='points').",
        ),
        (
            lambda folder: svg.save(make_gap().plot(), folder / "gap.bmp"),
            "A figure is written as .svg, .png or .pdf. Got 'gap.bmp'. Try gap.svg.",
        ),
        *(
            (
                lambda _, what=what: bare().plot(what=what),
                (
                    f"This result has no {what} to draw. explain(study, detail='{what}') "
                    "estimates them; the summary says why not."
                ),
            )
            for what in figures.KINDS
        ),
    ],
)
def test_mistakes_are_named(tmp_path, call, message) -> None:
    with pytest.raises(InputError) as caught:
        call(tmp_path)
    assert str(caught.value) == message


def inlined(display: figures.Display) -> ET.Element:
    return ET.fromstring(svg.svg(display, "a & <b>", "p1", {"outcome": "#there"}))


def test_svg_for_pages_takes_colours_and_fonts_from_the_page() -> None:
    for display in displays(make_gap()):
        text = svg.svg(display, "label", "p1")
        assert "#" not in text.replace("#p1-", ""), "every colour is a variable"
        assert "DejaVu" not in text
        root = ET.fromstring(text)
        ids = [node.get("id") for node in root.iter() if node.get("id")]
        assert len(ids) == len(set(ids))
        assert all(name.startswith("p1-") for name in ids)
        links = {node.get("href")[1:] for node in root.iter() if node.get("href")}
        assert links <= set(ids)
        assert (root.get("role"), root.get("width")) == ("img", None)
        assert len(text) < 25_000


def test_bars_say_their_numbers_and_lead_somewhere() -> None:
    gap = make_gap()
    root = inlined(decomposition(gap, line=330.0))
    titles = [node.text for node in root.iter() if node.tag == "title"]
    assert len(titles) == len(gap.parts) + 2
    (link,) = [node for node in root.iter() if node.tag == "a"]
    assert (link.get("href"), link.get("aria-label")) == ("#there", OUTCOME)
    assert OUTCOME in titles
    assert (root.get("role"), root.get("aria-label")) == ("group", "a & <b>")


def test_hostile_names_stay_text_and_formulas_are_not_read() -> None:
    gap = make_gap(**AWKWARD["hostile names"])
    shown = [" ".join(visible(name).split()) for name in HOSTILE]
    root = inlined(intervals(gap, "points", "covariate"))
    assert {node.tag for node in root.iter()} <= {
        "svg",
        "g",
        "path",
        "text",
        "defs",
        "use",
        "title",
    }
    texts = [" ".join((node.text or "").split()) for node in root.iter() if node.tag == "text"]
    assert set(shown) & set(texts) == set(shown[: figures.MAX_ROWS])
    assert not any(ord(letter) < 32 for text in texts for letter in text)
    file = svg.image(intervals(gap, "points").plot().figure_, "svg").decode()
    assert "<script" not in file.lower()
