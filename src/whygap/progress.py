"""Progress on stderr: shown on a terminal or in a notebook, silent in pipes and files."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Reporter(Protocol):
    """Receive what the main path tells while it works."""

    def stage(self, text: str) -> None:
        """Start a new stage.

        Args:
            text: what the stage does.
        """

    def update(self, finished: int, total: int, text: str) -> None:
        """Report how much of a stage's work is done.

        Args:
            finished: pieces of work that are done.
            total: pieces of work of the stage.
            text: a few words on how far it is; may be empty.
        """


class Silent:
    """Tell nothing."""

    def stage(self, text: str) -> None:
        """Start a new stage."""

    def update(self, finished: int, total: int, text: str) -> None:
        """Report how much of a stage's work is done."""


class _Rich:
    """Show a bar with counts, time left and a text."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self.progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.fields[count]}"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[text]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task("", total=None, text="", count="")

    def stage(self, text: str) -> None:
        self.progress.reset(self.task, total=None, description=text, text="", count="")

    def update(self, finished: int, total: int, text: str) -> None:
        self.progress.update(
            self.task, completed=finished, total=total, text=text, count=f"{finished}/{total}"
        )


class _Lines:
    """Write plain lines to a pipe or a file: stages, and a line a minute."""

    def __init__(self) -> None:
        self.name = ""
        self.spoken = time.monotonic()

    def stage(self, text: str) -> None:
        self.name = text
        sys.stderr.write(f"{text}\n")

    def update(self, finished: int, total: int, text: str) -> None:
        if finished < total and time.monotonic() - self.spoken < 60:
            return
        self.spoken = time.monotonic()
        sys.stderr.write(f"{self.name}: {finished} of {total}{', ' if text else ''}{text}\n")


def notebook_shell() -> Any:
    """Return the shell of a running notebook, or None; packages import IPython without any."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell if hasattr(shell, "kernel") else None


@contextmanager
def reporter(show: bool | None) -> Iterator[Reporter]:
    """Make a reporter for the length of a run.

    Args:
        show: True, False, or None, which shows progress only where somebody can watch.
    """
    watched = sys.stderr.isatty() or notebook_shell() is not None
    if not (watched if show is None else show):
        yield Silent()
        return
    if not watched:
        yield _Lines()
        return
    bar = _Rich()
    with bar.progress:
        yield bar
