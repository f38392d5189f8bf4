"""`whygap rehearse`: coverage of the intervals on simulated data like these."""

from typing import Annotated

from whygap.cli import options
from whygap.cli.options import option
from whygap.cli.output import check_writable, print_result, save

Replicates = Annotated[int, option("--replicates -r", "R", "How often to repeat the analysis.")]
Detail = Annotated[str, option("--detail", "NAMES", "points (or all), or none.")]
EXAMPLES = (
    "whygap rehearse study.toml --replicates 50",
    "whygap rehearse study.toml --detail none --set learner=fast",
)


def command(
    study_file: options.StudyPath,
    output: options.OutputFile = None,
    replicates: Replicates = 50,
    detail: Detail = "all",
    level: options.Level = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    settings: options.Set = None,
    unsafe_pickle: options.UnsafePickle = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure coverage on simulated data like yours.

    Simulates tables with known truth from your own, repeats the analysis on them, and counts how
    often the intervals of the gap, its parts, and points hold.
    """
    from whygap._rehearse import rehearse
    from whygap.study_file import read_study_file

    check_writable(output, ".json")
    file = read_study_file(study_file, unsafe_pickle=unsafe_pickle)
    values = {"level": level, "seed": seed, "n_jobs": jobs}
    run = options.settings_with(file.settings, settings, **values)
    result = rehearse(file.study, replicates, options.details_in(detail, ()), run)
    save(result, output)
    print_result(result.summary(), result.to_dict(), as_json)
