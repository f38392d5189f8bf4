"""Constraints that pin every dependency of whygap, and of its extras, to the oldest allowed."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """One `name==version` a line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]  # whygap[polars,duckdb,...]
    named = everything.partition("[")[2].rstrip("]").split(",")
    for wanted in project["dependencies"] + [one for name in named for one in extras[name]]:
        found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", wanted)
        if found is None:
            raise SystemExit(f"{wanted}: not of the form name>=version")
        sys.stdout.write(f"{found[1]}=={found[2]}\n")


if __name__ == "__main__":
    main()
