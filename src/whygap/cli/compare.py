"""`whygap compare`: what other methods would have said."""

from __future__ import annotations

import math
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from whygap.cli.options import Json, OutputFile, Quiet, Seed, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker, check_writable

PARTS = ("aggregate", "covariate", "outcome")
Methods = Annotated[
    str | None, typer.Option("--methods", metavar="A,B", help="Only these methods.")
]
Given = Annotated[
    Path | None,
    typer.Option("--gap", metavar="GAP.json", help="A result of explain; else it is computed."),
]
OthersOnly = Annotated[bool, typer.Option("--others-only", help="Leave our own shares out.")]
GraphFile = Annotated[
    Path | None,
    typer.Option(
        "--graph",
        metavar="FILE",
        help="Causal graph (.toml or .json, variable to parents); adds graph_shapley.",
    ),
]
EXAMPLES = ("whygap compare study.toml", "whygap compare study.toml --graph graph.toml")


def command(
    study_file: StudyFile,
    methods: Methods = None,
    given: Given = None,
    others_only: OthersOnly = False,
    graph_file: GraphFile = None,
    output: OutputFile = None,
    seed: Seed = None,
    settings: Set = None,
    unsafe_pickle: UnsafePickle = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Print our shares beside the importances of other methods."""
    from whygap import storage
    from whygap.cli.frames import csv_of, records_of
    from whygap.cli.inputs import names_in, read_study
    from whygap.rivals import compare, read_graph

    speaker = Speaker(as_json, quiet, verbose)
    check_writable(output)
    study, chosen = read_study(
        study_file,
        settings,
        unsafe_pickle=unsafe_pickle,
        progress=False if quiet else None,
        seed=seed,
    )
    asked = names_in(methods)
    table = compare(
        study,
        methods=asked if asked is None or others_only else [*asked, "whygap"],
        settings=chosen,
        gap=storage.load(given) if given else None,
        graph=read_graph(graph_file) if graph_file else None,
        others_only=others_only,
    )
    if output is not None:
        storage.write_whole(output, csv_of(table))
        speaker.note(f"Wrote {output}")
    records = records_of(table)
    speaker.result(_words(records), records)


def _words(records: list[dict[str, Any]]) -> str:
    """One short table per part and method, the largest importance first."""
    lines = ["Importances of different methods have different units: compare ranks."]
    by_part = sorted(records, key=lambda r: (PARTS.index(r["part"]), r["method"] != "whygap"))
    for (part, method, unit), rows in groupby(by_part, itemgetter("part", "method", "unit")):
        lines += ["", f"{part} part, {method} ({unit})"]
        lines += [_line(row) for row in sorted(rows, key=itemgetter("rank"))]
    return "\n".join(lines)


def _line(row: dict[str, Any]) -> str:
    low, high = row["low"], row["high"]
    missing = low is None or high is None or math.isnan(low) or math.isnan(high)
    interval = "" if missing else f"  ({low:.4f} to {high:.4f})"
    return f"  {row['rank']:>3}  {row['term']:<30} {row['importance']:>9.4f}{interval}"
