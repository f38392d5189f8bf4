"""The comparators' page: tables, figures and findings from the seeds that are there."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.comparator_findings import PAPER_ACCURACY, findings, title_of
from experiments.comparator_seeds import OURS, Mean, Seeds, mean_of
from experiments.figures import Bars, bars_figure
from experiments.markdown import number, table

__all__ = ["importance_csv", "page", "tables"]

TOPS = ("top 1", "top 2", "top 3")


def page(scenes: Sequence[Seeds], folder: Path) -> str:
    """The page without its provenance; draws one figure per scene into the folder."""
    from whygap.render.plot import save_figure

    pictures = {}
    for seeds in scenes:
        bars = [_bars(seeds, m) for m in seeds.methods if len(seeds.importances(m))]
        save_figure(bars_figure(bars, columns=3), folder / seeds.scene.figure)
        pictures[seeds.scene.figure] = f"![{seeds.scene.title}]({seeds.scene.figure})"
    return "\n\n".join([_INTRODUCTION, tables(scenes, "##", pictures)])


def tables(
    scenes: Sequence[Seeds], heading: str = "###", pictures: dict[str, str] | None = None
) -> str:
    """Every table with what it shows, in words; `pictures` by the name of their file."""
    parts: list[str] = []
    for seeds in scenes:
        picture = (pictures or {}).get(seeds.scene.figure)
        parts += [f"{heading} {seeds.scene.title}", _size(seeds), *([picture] if picture else [])]
        parts += [_importances(seeds)]
        if seeds.scene.part == "outcome":
            parts += [f"{heading} Accuracy after a targeted revision", _REVISION]
            parts += [_accuracies(seeds), "Ours minus theirs, paired by seed:", _differences(seeds)]
    told = [f"- {finding}" for seeds in scenes for finding in findings(seeds)]
    return "\n\n".join(
        [*parts, f"{heading} The paper's findings, checked", _VERDICTS, *_joined(told)]
    )


def _joined(lines: list[str]) -> list[str]:
    return ["\n".join(lines)] if lines else []


def _size(seeds: Seeds) -> str:
    return (
        f"{len(seeds.lines)} seeds of {seeds.rows:,} rows in each domain; means over seeds with "
        f"95% intervals. {seeds.scene.words}"
    )


def _importances(seeds: Seeds) -> str:
    truth = ["true shares", *(number(x) for x in seeds.truth), _order(seeds)]
    lines = [truth, *(_line(seeds, method) for method in seeds.methods)]
    return table(["method", *seeds.names, "comes first"], lines)


def _order(seeds: Seeds) -> str:
    return max(zip(seeds.truth, seeds.names, strict=True))[1]


def _line(seeds: Seeds, method: str) -> list[str]:
    values = seeds.importances(method)
    if not len(values):
        return [_name(method), *("–" for _ in seeds.names), "no answer in any seed"]
    missing = len(seeds.lines) - len(values)
    silent = f" (no answer in {missing} of {len(seeds.lines)} seeds)" if missing else ""
    cells = [_cell(mean_of(column)) for column in values.T]
    return [_name(method), *cells, _winners(seeds, method) + silent]


def _winners(seeds: Seeds, method: str) -> str:
    """Who came first how often; equal importances are a tie."""
    values = seeds.importances(method)
    if (abs(values).max(axis=1) - abs(values).min(axis=1)).max() < 1e-6:
        return "a tie"
    shares = sorted(seeds.first_places(method).items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in shares if share > 0)


def _accuracies(seeds: Seeds) -> str:
    original = seeds.original()
    lines = [
        ["the model as it is", *(_cell(original) if k == 0 else "" for k in range(3)), "", "", ""]
    ]
    for method in seeds.methods:
        values = seeds.accuracy(method)
        cells = [_cell(mean_of(column)) for column in values.T] if len(values) else ["–"] * 3
        lines.append([_name(method), *cells, *(number(x, 2) for x in PAPER_ACCURACY[method])])
    return table(["ranking by", *TOPS, *(f"paper, {top}" for top in TOPS)], lines)


def _differences(seeds: Seeds) -> str:
    lines = []
    for method in seeds.scene.rivals:
        behind = seeds.behind_us(method)
        lines.append([_name(method), *([_cell(mean) for mean in behind] or ["–"] * 3)])
    return table(["ranking by", *TOPS], lines)


def _name(method: str) -> str:
    return f"**{title_of(method)}**" if method == OURS else title_of(method)


def _cell(mean: Mean) -> str:
    """Mean and interval; the mean alone where there is but one seed."""
    if not math.isfinite(mean.low):
        return number(mean.value)
    return f"{number(mean.value)} ({number(mean.low)} to {number(mean.high)})"


def _bars(seeds: Seeds, method: str) -> Bars:
    means = [mean_of(column) for column in seeds.importances(method).T]
    return Bars(
        title_of(method),
        seeds.names,
        tuple(mean.value for mean in means),
        tuple(mean.low for mean in means),
        tuple(mean.high for mean in means),
        "share" if method == OURS else "importance",
    )


def importance_csv(scenes: Sequence[Seeds]) -> str:
    """One line per scene, method and variable: mean over seeds and its interval."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["world", "part", "method", "variable", "importance", "low", "high", "first", "seeds"]
    )
    for seeds in scenes:
        writer.writerows(_records(seeds))
    return buffer.getvalue()


def _records(seeds: Seeds) -> Iterator[list[object]]:
    for method in seeds.methods:
        values = seeds.importances(method)
        first = seeds.first_places(method)
        for name, column in zip(seeds.names, values.T, strict=True):
            if len(column):
                mean = mean_of(column)
                numbers = [f"{x:.6g}" for x in (mean.value, mean.low, mean.high, first[name])]
                head = [seeds.scene.world, seeds.scene.part, method, name]
                yield [*head, *numbers, len(column)]


_INTRODUCTION = """# Other methods where the answer is known

The paper's two comparison worlds, drawn as its released code draws them; metric: accuracy.
Importances of different methods have different units: compare the order within each."""

_REVISION = """As in the paper: the source risk is corrected on the target with the top k
variables (Y on Q, W, Z_s) of each method's ranking, and scored on target rows held out of the fit
(five folds). Methods that name the same variables share a number."""

_VERDICTS = """*Yes* and *no*: the 95% interval over seeds lies on that side. *Not told*: it
holds 0."""
