"""`whygap revise`: how much of the gap a targeted revision wins back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whygap.cli.options import Json, OutputFile, Quiet, Seed, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker, check_writable

if TYPE_CHECKING:
    from whygap.repair import Revision
    from whygap.settings import Settings
    from whygap.study import Study

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
    from whygap.cli.inputs import names_in, read_study
    from whygap.repair import check_model_file

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
    revision = _revised(study, chosen, top, given, names_in(variables))
    _write(revision, output, model_file, speaker)
    speaker.result(str(revision).rstrip(), revision.to_mapping())


def _revised(
    study: Study, settings: Settings, top: int, given: Path | None, ranking: list[str] | None
) -> Revision:
    """What cannot be revised is refused before anything is explained."""
    from whygap import storage
    from whygap._explain import explain
    from whygap.repair import check_revisable, revise

    check_revisable(study.design, 0 if ranking else top)
    gap = None
    if ranking is None:
        gap = storage.load(given) if given else explain(study, settings=settings)
    return revise(study, gap, top=top, settings=settings, ranking=ranking)


def _write(
    revision: Revision, output: Path | None, model_file: Path | None, speaker: Speaker
) -> None:
    from whygap import storage
    from whygap.cli.frames import csv_of
    from whygap.repair import save_model

    if output is not None:
        storage.write_whole(output, csv_of(revision.to_frame()))
        speaker.note(f"Wrote {output}")
    if model_file is not None:
        speaker.note(f"Wrote {save_model(revision.model, model_file)}")
