"""What `benchmarks/run.py` measures: name -> job, in the order of the page."""

from __future__ import annotations

from typing import Any

BOTH = ["covariate", "outcome"]
COVERAGE_ROWS = (1000, 2000, 4000, 8000)
WIDE_ROWS = (10_000, 30_000, 100_000)
SUBSETS = (174, 300, 600)
MILLION = 1_000_000

Job = dict[str, Any]


def coverage_name(rows: int, learner: str) -> str:
    """The paper's coverage world."""
    return f"coverage world, n={rows}, {learner}"


def wide_name(rows: int) -> str:
    """Fifty columns from arrays, the aggregate terms only."""
    return f"wide, {rows} + {rows} x 50, aggregate, fast"


def insurance_name(what: str) -> str:
    """The paper's insurance case."""
    return f"NE to WV, {what}"


def all_jobs(data: str | None, *, long: bool, large: bool) -> dict[str, Job]:
    """The standard ones; `long` adds reference runs, `large` a million rows."""
    jobs = _coverage() | _demo(long)
    if data:
        jobs |= _insurance(data, long)
    jobs |= _wide() | _players(long)
    return jobs | _million() if large else jobs


def _coverage() -> dict[str, Job]:
    return {
        coverage_name(rows, learner): {
            "case": "coverage",
            "rows": rows,
            "settings": {"learner": learner},
        }
        for learner in ("fast", "auto")
        for rows in COVERAGE_ROWS
    }


def _demo(long: bool) -> dict[str, Job]:
    ways: dict[str, Job] = {"demo, fast": {"learner": "fast"}, "demo, auto": {}}
    if long:
        ways["demo, all subsets, auto"] = {"subsets": "all"}
    return {name: {"case": "demo", "detail": BOTH, "settings": how} for name, how in ways.items()}


def _insurance(data: str, long: bool) -> dict[str, Job]:
    ways: dict[str, Job] = {
        f"{n} subsets, fast": {"learner": "fast", "subsets": n} for n in SUBSETS
    }
    ways |= {
        "fast": {"learner": "fast"},
        "fast, 2 workers": {"learner": "fast", "n_jobs": 2},
        "auto": {},
        "auto, 2 workers": {"n_jobs": 2},
    }
    if long:
        ways["1200 subsets, fast"] = {"learner": "fast", "subsets": 1200}
        ways["1200 subsets, auto"] = {"subsets": 1200}
    base: Job = {"case": "insurance", "data": data}
    jobs = {insurance_name("aggregate only, auto"): {**base, "detail": [], "settings": {}}}
    return jobs | {
        insurance_name(name): {**base, "detail": BOTH, "settings": how}
        for name, how in ways.items()
    }


def _wide() -> dict[str, Job]:
    return {
        wide_name(rows): {
            "case": "wide",
            "rows": rows,
            "columns": 50,
            "players": 20,
            "detail": [],
            "settings": {"learner": "fast"},
        }
        for rows in WIDE_ROWS
    }


def _players(long: bool) -> dict[str, Job]:
    """Very many players, and groups of columns; a few random subsets, or whole runs."""
    fast = {"learner": "fast"}
    groups: Job = {"rows": 20_000, "columns": 50, "players": 20, "settings": fast}
    many: Job = {"rows": 2000, "columns": 203, "players": 200, "settings": fast}
    jobs: dict[str, Job] = {
        "20000 + 20000 x 50, 20 groups, 8 random subsets, fast": {
            **groups,
            "case": "pace",
            "subsets": 8,
        },
        "2000 + 2000 x 203, 200 players, 8 random subsets, fast": {
            **many,
            "case": "pace",
            "subsets": 8,
        },
    }
    if long:
        jobs["2000 + 2000 x 203, 200 players, fast"] = {**many, "case": "wide", "detail": BOTH}
    return jobs


def _million() -> dict[str, Job]:
    """A million rows per domain, from Parquet files."""
    base: Job = {
        "case": "files",
        "rows": MILLION,
        "columns": 50,
        "players": 20,
        "settings": {"learner": "fast"},
    }
    return {
        "files, 1000000 + 1000000 x 50, aggregate, fast": {**base, "detail": []},
        "files, 1000000 + 1000000 x 50, 20 groups, fast, 2 workers": {
            **base,
            "detail": BOTH,
            "settings": {"learner": "fast", "n_jobs": 2},
        },
    }
