"""`python -m experiments NAME [--quick] [--data DIR] [--jobs N]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import EXPERIMENTS
from whygap.errors import WhygapError


def main(arguments: list[str] | None = None) -> int:
    """Run one experiment; prints where its page is."""
    words = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    words.add_argument("name", nargs="+", help=f"one of: {', '.join(EXPERIMENTS)}")
    words.add_argument("--quick", action="store_true", help="a small size, for a first look")
    words.add_argument("--data", type=Path, metavar="DIR", help="folder with the real data")
    words.add_argument("--jobs", type=int, default=1, metavar="N", help="parallel workers")
    words.add_argument("--output", type=Path, default=Path("evidence"), metavar="DIR")
    given = words.parse_args(arguments)
    name = " ".join(given.name)
    if name not in EXPERIMENTS:
        words.error(f"there is no experiment '{name}'; there are: {', '.join(EXPERIMENTS)}")
    try:
        page = EXPERIMENTS[name](given.output, given.data, given.quick, given.jobs, _say)
    except WhygapError as error:
        _say(str(error))
        return 2
    print(page)
    return 0


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
