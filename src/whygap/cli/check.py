"""`whygap check`: can this study be trusted, and what will it cost?"""

from __future__ import annotations

import typer

from whygap.cli.options import AsJson, Level, OutputFile, Set, StudyPath, UnsafePickle, read_study
from whygap.cli.output import check_writable, print_result, save

EXAMPLES = ("whygap check study.toml",)


def command(
    study_file: StudyPath,
    output: OutputFile = None,
    level: Level = None,
    settings: Set = None,
    unsafe_pickle: UnsafePickle = False,
    as_json: AsJson = False,
) -> None:
    """Check data, roles, overlap and cost; estimate nothing.

    Ends with exit code 1 when an analysis could not be trusted.
    """
    from whygap.checks import check

    check_writable(output, ".json")
    file = read_study(study_file, settings, unsafe_pickle, level=level)
    result = check(file.study, file.settings)
    save(result, output)
    print_result(result.summary(), result.to_dict(), as_json)
    if not result.ok:
        raise typer.Exit(1)
