"""`whygap compare`: what other methods would have said."""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from whygap.cli.options import GivenResult, OutputFile, Seed, StudyOptions, names_in, option
from whygap.cli.output import Speaker, check_writable, records_of

PARTS = ("aggregate", "covariate", "outcome")
Methods = Annotated[str | None, option("--methods", "A,B", "Only these methods.")]
OthersOnly = Annotated[bool, option("--others-only", None, "Leave our own shares out.")]
GraphFile = Annotated[
    Path | None,
    option(
        "--graph", "FILE", "Causal graph (.toml or .json, variable to parents); adds graph_shapley."
    ),
]
EXAMPLES = ("whygap compare study.toml", "whygap compare study.toml --graph graph.toml")


def command(
    asked: StudyOptions,
    methods: Methods = None,
    given: GivenResult = None,
    others_only: OthersOnly = False,
    graph_file: GraphFile = None,
    output: OutputFile = None,
    seed: Seed = None,
    *,
    speaker: Speaker,
) -> None:
    """Print our shares beside the importances of other methods."""
    from whygap.results import files
    from whygap.rivals import compare, read_graph

    check_writable(output)
    found = asked.read(speaker.quiet, seed=seed)
    wanted = names_in(methods)
    table = compare(
        found.study,
        methods=wanted if wanted is None or others_only else [*wanted, "whygap"],
        settings=found.settings,
        gap=files.load(given) if given else None,
        graph=read_graph(graph_file) if graph_file else None,
        others_only=others_only,
    )
    speaker.write_csv(output, table)
    records = records_of(table)
    speaker.result(_words(records), records)


def _words(records: list[dict[str, Any]]) -> str:
    from whygap.render.formats import text_table

    lines = ["Importances of different methods have different units: compare ranks."]
    by_part = sorted(records, key=lambda r: (PARTS.index(r["part"]), r["method"] != "whygap"))
    for (part, method, unit), rows in groupby(by_part, itemgetter("part", "method", "unit")):
        cells = [_cells(row) for row in sorted(rows, key=itemgetter("rank"))]
        header = ("variable", "rank", "importance", "interval")
        lines += ["", f"{part} part, {method} ({unit})", text_table(header, cells)]
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    low, high = row["low"], row["high"]
    missing = low is None or high is None or math.isnan(low) or math.isnan(high)
    interval = "" if missing else f"({low:.4f} to {high:.4f})"
    return row["term"], str(row["rank"]), f"{row['importance']:.4f}", interval
