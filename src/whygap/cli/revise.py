"""`whygap revise`: how much of the gap a targeted revision wins back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whygap.cli.options import Json, OutputFile, Quiet, Seed, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker, check_writable

Top = Annotated[int, typer.Option("--top", metavar="K", help="Revise with the K largest shares.")]
Given = Annotated[
    Path | None,
    typer.Option("--gap", metavar="GAP.json", help="A result of explain; else it is computed."),
]
Variables = Annotated[
    str | None,
    typer.Option("--variables", metavar="A,B", help="These variables instead of the shares'."),
]
ModelFile = Annotated[
    Path | None,
    typer.Option("--save-model", metavar="FILE", help="Write the revised model (.skops or .pkl)."),
]
EXAMPLES = ("whygap revise study.toml --top 3",)


def command(
    study_file: StudyFile,
    top: Top = 3,
    given: Given = None,
    variables: Variables = None,
    output: OutputFile = None,
    model_file: ModelFile = None,
    seed: Seed = None,
    settings: Set = None,
    unsafe_pickle: UnsafePickle = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Refit on the variables that matter; measure the gain.

    Fits the outcome on the source risk, the baseline and the K variables with the largest
    outcome shares, on part of the target rows, and measures it on the rest.
    """
    from whygap import storage
    from whygap.cli.frames import csv_of
    from whygap.cli.inputs import names_in, read_study
    from whygap.explain import explain
    from whygap.repair import check_model_file, revise, save_model

    speaker = Speaker(as_json, quiet, verbose)
    check_writable(output, model_file)
    if model_file is not None:
        check_model_file(model_file)
    study, chosen = read_study(
        study_file,
        settings,
        unsafe_pickle=unsafe_pickle,
        progress=False if quiet else None,
        seed=seed,
    )
    ranking = names_in(variables)
    gap = None
    if ranking is None:
        gap = storage.load(given) if given else explain(study, settings=chosen)
    revision = revise(study, gap, top=top, settings=chosen, ranking=ranking)
    if output is not None:
        storage.write_whole(output, csv_of(revision.to_frame()))
        speaker.note(f"Wrote {output}")
    if model_file is not None:
        speaker.note(f"Wrote {save_model(revision.model, model_file)}")
    speaker.result(str(revision).rstrip(), revision.to_mapping())
