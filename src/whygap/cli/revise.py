"""`whygap revise`: how much of the gap a targeted revision wins back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whygap.cli.options import GivenResult, OutputFile, Seed, StudyOptions, names_in, option
from whygap.cli.output import Speaker, check_writable

if TYPE_CHECKING:
    from whygap.repair import Revision
    from whygap.study_file import StudyFile

Top = Annotated[int, option("--top", "K", "Revise with the first K of the ranking.")]
Variables = Annotated[
    str | None, option("--variables", "A,B", "These variables instead of the ranking's.")
]
ModelFile = Annotated[
    Path | None, option("--save-model", "FILE", "Write the revised model (.skops or .pkl).")
]
EXAMPLES = ("whygap revise study.toml --top 3",)


def command(
    asked: StudyOptions,
    top: Top = 3,
    given: GivenResult = None,
    variables: Variables = None,
    output: OutputFile = None,
    model_file: ModelFile = None,
    seed: Seed = None,
    *,
    speaker: Speaker,
) -> None:
    """Refit on the variables that matter; measure the gain.

    Fits the outcome on the source risk, the baseline and the K variables through which most can
    be won back, on part of the target rows, and measures it on the rest.
    """
    from whygap.repair import check_model_file, save_model

    check_writable(output, model_file)
    if model_file is not None:
        check_model_file(model_file)
    found = asked.read(speaker.quiet, seed=seed)
    revision = _revised(found, top, given, names_in(variables))
    speaker.write_csv(output, revision.to_frame())
    if model_file is not None:
        speaker.note(f"Wrote {save_model(revision.model, model_file)}")
    speaker.result(str(revision), revision.to_mapping())


def _revised(found: StudyFile, top: int, given: Path | None, ranking: list[str] | None) -> Revision:
    """What cannot be revised is refused before anything is explained."""
    from whygap import storage
    from whygap._explain import explain
    from whygap.repair import check_revisable, revise

    check_revisable(found.study.design, 0 if ranking else top)
    gap = None
    if ranking is None:
        wanted = ("recoverable", "covariate")
        gap = (
            storage.load(given)
            if given
            else explain(found.study, detail=wanted, settings=found.settings)
        )
    return revise(found.study, gap, top=top, settings=found.settings, ranking=ranking)
