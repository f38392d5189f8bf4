"""`whygap check`: can this study be trusted, and what will it cost?"""

import typer

from whygap.cli import options
from whygap.cli.output import check_writable, print_result, save

EXAMPLES = ("whygap check study.toml",)


def command(
    study_file: options.StudyPath,
    output: options.OutputFile = None,
    level: options.Level = None,
    settings: options.Set = None,
    unsafe_pickle: options.UnsafePickle = False,
    as_json: options.AsJson = False,
) -> None:
    """Check data, roles, overlap and cost; estimate nothing.

    Ends with exit code 1 when an analysis could not be trusted.
    """
    from whygap.checks import check
    from whygap.study_file import read_study_file

    check_writable(output, ".json")
    file = read_study_file(study_file, unsafe_pickle=unsafe_pickle)
    run = options.settings_with(file.settings, settings, level=level)
    result = check(file.study, run)
    save(result, output)
    print_result(result.summary(), result.to_dict(), as_json)
    if not result.ok:
        raise typer.Exit(1)
