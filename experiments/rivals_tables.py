"""Compute what is missing and write the tables of docs/rivals.md, between its markers.

    python studies/rivals_tables.py --data DIR             both tables; seeds and analyses that are
                                                           kept in studies/ are not computed again
    python studies/rivals_tables.py                        the comparators alone (no data needed)
    python studies/rivals_tables.py --jobs 0               the comparators' tables from kept seeds
    python studies/rivals_tables.py --data DIR --quick --page copy.md     small sizes, for a trial

A stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import comparators
from experiments.comparator_page import tables
from experiments.markers import fill
from experiments.revisions import revision_tables
from experiments.simulation import study_folder

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "rivals.md"


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write the tables of docs/rivals.md.")
    parser.add_argument("--data", type=Path, default=None, help="folder with the census tables")
    parser.add_argument("--jobs", type=int, default=1, help="parallel workers; 0 runs no seeds")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a trial")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to fill")
    parser.add_argument("--output", type=Path, default=HERE, help="where results are kept")
    return parser.parse_args()


def main() -> None:
    given = read_arguments()
    if given.quick and given.page == PAGE:
        raise SystemExit("Quick sizes are for trials: name another page with --page.")
    comparators.run(given.output, None, given.quick, given.jobs, print)
    folder = study_folder(given.output, "comparators", given.quick)
    scenes = comparators.seeds_of(folder, comparators.plan(quick=given.quick))
    fill(given.page, "comparators", tables(scenes))
    if given.data is not None:
        found = revision_tables(
            given.output, given.data, quick=given.quick, jobs=given.jobs, report=print
        )
        fill(given.page, "revisions", found)
    print(f"Wrote {given.page}")


if __name__ == "__main__":
    main()
