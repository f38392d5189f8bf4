"""The entry point: registers the commands and turns errors into messages and exit codes.

Exit codes: 0 done, 1 a finding (a check failed, an alarm), 2 the user's error, 3 our own, 130 after
Ctrl-C. Commands import what they need when they run, so that `whygap --help` is quick.
"""

import importlib
import importlib.metadata
import inspect
import sys
import traceback
import warnings
from types import ModuleType
from typing import Annotated

import typer
from typer import Option

from whygap.cli.output import STREAMS, note
from whygap.errors import InputError

ORDER = "demo init check explain show rehearse watch"
COMMANDS = tuple(importlib.import_module(f"whygap.cli.{name}") for name in ORDER.split())

app = typer.Typer(
    name="whygap",
    help="Why does a model score differently where it is used? The gap, taken apart.",
    epilog="Start with: whygap demo. Your own data: whygap init, check, explain.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _help(module: ModuleType) -> str:
    """Return a docstring and examples; the backspace sign keeps lines from being joined."""
    lines = "\n".join(f"  {example}" for example in module.EXAMPLES)
    return f"{inspect.getdoc(module.command)}\n\n\b\nExamples:\n{lines}"


for module in COMMANDS:
    name = module.__name__.rpartition(".")[2]
    app.command(name=name, help=_help(module))(module.command)


def main() -> None:
    """Run the command line; never ends in a raw traceback."""
    warnings.showwarning = _show_warning
    try:
        app(prog_name="whygap")
    except InputError as err:
        _stop(f"Error: {err}", err, 2)
    except KeyboardInterrupt as err:
        _stop("Stopped.", err, 130)
    except Exception as err:
        hint = "" if STREAMS["verbose"] else " Run 'whygap --verbose ...' to see where."
        text = " ".join([type(err).__name__ + ":", *str(err).split()]).rstrip(".:")
        _stop(f"whygap failed: {text}.{hint}", err, 3)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"whygap {importlib.metadata.version('whygap')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="No progress, no warnings.")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Show tracebacks on failure.")] = False,
) -> None:
    """Set what goes to stderr."""
    STREAMS.update(quiet=quiet, verbose=verbose)


def _stop(message: str, err: BaseException, code: int) -> None:
    if STREAMS["verbose"]:
        traceback.print_exception(err, file=sys.stderr)
    typer.echo(message, err=True)
    sys.exit(code)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    note(f"Warning: {' '.join(str(message).split())}")
