"""The paper's experiments and ours, and what keeps their evidence honest.

python -m experiments coverage --jobs 2     run what is missing, write the page
python -m experiments coverage --jobs 0     write the page from what is kept
python -m experiments canaries --write      store the canaries' numbers anew
python -m experiments recheck --share .01   run a random sample of kept replicates again
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import EXPERIMENTS, canaries, recheck, run
from experiments.simulation import Order
from whygap.errors import WhygapError

OTHERS = {"canaries": canaries.run, "recheck": recheck.run}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; prints what it found, or where its page is."""
    given = _arguments().parse_args(arguments)
    name = " ".join(given.name)
    known = [*EXPERIMENTS, *OTHERS]
    if name not in known:
        _arguments().error(f"there is no experiment '{name}'; there are: {', '.join(known)}")
    order = Order(given.output, given.data, given.quick, given.jobs, given.anew, _say)
    try:
        print(OTHERS[name](order, given) if name in OTHERS else run(name, order))
    except WhygapError as error:
        _say(str(error))
        return 2
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("name", nargs="+", help=f"one of: {', '.join([*EXPERIMENTS, *OTHERS])}")
    add("--quick", action="store_true", help="a small size, for a first look")
    add("--data", type=Path, metavar="DIR", help="folder with the real data")
    add("--jobs", type=int, default=1, metavar="N", help="parallel workers; 0 runs nothing")
    add("--anew", action="store_true", help="also run again what an older engine ran")
    add("--output", type=Path, default=Path("evidence"), metavar="DIR", help="where results are")
    add("--write", action="store_true", help="canaries: store the numbers of today")
    add("--share", type=float, default=0.01, help="recheck: share of the kept replicates")
    add("--seed", type=int, default=0, help="recheck: which sample")
    return parser


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
