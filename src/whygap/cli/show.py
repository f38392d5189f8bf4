"""`whygap show`: a saved result of any kind, on the terminal or as a file."""

import html
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument

from whygap.cli.options import AsJson, Level, Redact, option
from whygap.cli.output import check_writable, note, print_result
from whygap.errors import InputError, ResultError, require_known, require_level

ResultPath = Annotated[Path, Argument(metavar="RESULT.json", help="A saved result of any kind.")]
ShownFile = Annotated[
    Path | None,
    option("--output -o", "FILE", "A .html, .svg, .png, .pdf, .csv, .md, .tex or .json file."),
]
Part = Annotated[
    str | None, option("--part", "NAME", "points, affected, recoverable, shares or parts alone.")
]
DETAILS: dict[str, Any] = {"points": {}, "affected": {}, "recoverable": None, "shares": {}}
ENDINGS = (".html", ".svg", ".png", ".pdf", ".csv", ".md", ".tex", ".json")
EXAMPLES = (
    "whygap show gap.json",
    "whygap show gap.json -o gap.html",
    "whygap show gap.json -o points.svg --part points",
    "whygap show gap.json -o gap.csv --level 0.9",
)


def command(
    result_file: ResultPath,
    output: ShownFile = None,
    part: Part = None,
    level: Level = None,
    redact: Redact = None,
    as_json: AsJson = False,
) -> None:
    """Show a saved result: text, page, figure or table.

    The ending of FILE decides; without FILE the summary is printed. In a page, groups of fewer
    than ten rows are not named; --redact sets another number, --redact 1 names all.
    """
    from whygap.results import files
    from whygap.results.redaction import require_rows

    if part is not None:
        require_known(part, (*DETAILS, "parts"), f"There is no part '{part}'", "Parts")
    if level is not None:
        require_level(level, "The level")
    if redact is not None:
        require_rows(redact)
    if output is not None and output.suffix.lower() not in ENDINGS:
        message = f"A result is shown as one of {', '.join(ENDINGS)}"
        raise InputError(message, got=f"'{output.name}'", hint="Without -o it is printed.")
    check_writable(output)
    result = files.load(result_file)
    result = result if part is None else _only(result, part)
    result = result if redact is None else result.redacted(redact)
    if output is not None:
        _write(result, output, part or "parts", level, redact)
        note(f"Wrote {output}")
    if as_json or output is None:
        print_result(result.summary(level), _records(result, level), as_json)


def _only(result: Any, part: str) -> Any:
    """Return a gap with a single detail; without details for "parts"."""
    from whygap.results import Gap, Gaps

    if isinstance(result, Gaps):
        return replace(result, gaps={name: _only(gap, part) for name, gap in result.items()})
    if not isinstance(result, Gap):
        actual = f"--part {part} of a {type(result).__name__.lower()}"
        raise InputError("Only the results of explain have parts to choose from", got=actual)
    if part in DETAILS and not getattr(result, part):
        hint = f"Ask for it: whygap explain study.toml --detail {part}."
        raise ResultError(f"This result has no '{part}'", hint=hint)
    return replace(result, **{name: empty for name, empty in DETAILS.items() if name != part})


def _records(result: Any, level: float | None) -> list[dict[str, Any]]:
    import narwhals as nw

    table = nw.from_native(result.to_frame(level), eager_only=True)
    return list(table.iter_rows(named=True))


def _write(result: Any, path: Path, part: str, level: float | None, redact: int | None) -> None:
    """Write a result as the kind of file that the ending names."""
    from whygap.render import tables
    from whygap.results import Gap, Gaps, files
    from whygap.results.redaction import ROWS

    ending = path.suffix.lower()
    is_gap = isinstance(result, Gap | Gaps)
    if ending == ".json":
        result.save(path)
    elif ending in (".svg", ".png", ".pdf"):
        from whygap.render import svg

        svg.save(_figure(result, part, level), path)
    elif ending == ".html" and is_gap:
        result.report(path, level=level, redact=ROWS if redact is None else None)
    elif ending == ".html":
        result = result.redacted(ROWS) if redact is None else result
        title = type(result).__name__
        text = html.escape(result.summary(level))
        head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>'
        files.write_whole(path, f"{head}\n<pre>\n{text}</pre>\n</html>\n")
    elif is_gap:
        for problem in result.problems() if ending == ".csv" else ():  # it has no room for words
            note(f"Warning: {problem}")
        files.write_whole(path, tables.render(result, ending[1:], level) + "\n")
    else:
        records = _records(result, level)
        title = str(result).partition("\n")[0]
        files.write_whole(path, tables.render_records(records, ending[1:], title) + "\n")


def _figure(result: Any, part: str, level: float | None) -> Any:
    """Return a matplotlib figure."""
    from whygap.results import Gap, Gaps

    if isinstance(result, Gap):
        return result.plot(what="decomposition" if part == "parts" else part, level=level)
    if isinstance(result, Gaps) and part == "parts":
        return result.plot(level=level)
    actual = f"a {type(result).__name__.lower()}" if part == "parts" else f"--part {part}"
    message = "Figures are drawn of a gap, and of the parts of several"
    raise InputError(message, got=actual, hint="Name an .html or .csv file.")
