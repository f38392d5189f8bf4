"""The command line, called in this process."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import pytest

from whygap.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capsys, monkeypatch):
    """Run the command line in this process: the same code, without starting Python again."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["whygap", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        seen = capsys.readouterr()
        return Done(code, seen.out, seen.err)

    return run
