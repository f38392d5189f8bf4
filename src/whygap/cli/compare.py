"""`whygap compare`: what other methods would have said."""

from __future__ import annotations

from typing import Annotated

import typer

from whygap.cli.options import Json, OutputFile, Quiet, Seed, Set, StudyFile, UnsafePickle, Verbose
from whygap.cli.output import Speaker, check_writable

Methods = Annotated[
    str | None, typer.Option("--methods", metavar="A,B", help="Only these methods.")
]
EXAMPLES = ("whygap compare study.toml",)


def command(
    study_file: StudyFile,
    methods: Methods = None,
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
    from whygap.cli.frames import csv_of, records_of, text_of
    from whygap.cli.inputs import names_in, read_study
    from whygap.rivals import compare

    speaker = Speaker(as_json, quiet, verbose)
    check_writable(output)
    study, chosen = read_study(study_file, settings, unsafe_pickle=unsafe_pickle, seed=seed)
    table = compare(study, methods=names_in(methods), settings=chosen)
    if output is not None:
        storage.write_whole(output, csv_of(table))
        speaker.note(f"Wrote {output}")
    speaker.result(text_of(table), records_of(table))
