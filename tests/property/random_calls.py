"""Random calls of everything public, from a seed: sensible arguments, spoilt ones, and nonsense.

    python tests/property/random_calls.py 2000      that many calls, and what was not our own error

Call number i is the same whenever it is made, so `call(i)` repeats a failure.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
import io
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from result_factory import make_gap
from small_study import make_table

import whygap as wg
from whygap import _explain
from whygap.cli import main as entry
from whygap.errors import WhygapError
from whygap.results import Gaps, files

SECONDS = 120  # of processor time, after which a call counts as hanging
SPOILT = 0.12  # chance that an argument is anything at all
DETAILS = ("points", "affected", "recoverable", "shares")


@dataclass(frozen=True)
class Outcome:
    """How a call ended: "done", the name of our error, or a failure with its traceback."""

    number: int
    what: str  # the call
    ended: str
    failure: str = ""


class HangingError(Exception):
    """A call that does not come back."""


def nonsense() -> list[Any]:
    return [
        *(None, True, False, 0, 1, -1, 7, 10**30, 0.5, -0.5, 1.5, float("nan"), float("inf")),
        *("", " ", "y", "w", "risk", "nope", "\0", "é" * 300, "all", "none", "../x", "a,b"),
        *([], [None], [1, 2], ["w"], ["nope"], [[]], (), ("a", "a"), {}, {"a": 1}, {"a": ["a"]}),
        *({1: 2}, set(), {"w"}, b"w", object(), object, len, print, range(3), 1j, Ellipsis),
        *(Path("nope.csv"), Path(), datetime.date(2020, 1, 1), np.float64(0.5), np.int64(2)),
        *(np.zeros(3), np.zeros((3, 2)), pd.Series([1.0]), pd.DataFrame(), pd.DataFrame({"y": []})),
        *((i for i in range(3)), "https://host/a.csv", "SELECT nothing", "module:name", lambda: 1),
    ]


@cache
def folder() -> Path:
    """Tables and results on disk; gone when the process ends."""
    place = tempfile.TemporaryDirectory(prefix="whygap-random-calls-")
    folder.keep = place  # type: ignore[attr-defined]
    path = Path(place.name)
    for name, shift, seed in (("source", 0.0, 1), ("target", 1.0, 2)):
        table = make_table(120, shift, seed)
        table.to_csv(path / f"{name}.csv", index=False)
        table.to_csv(path / f"{name}-office.csv", sep=";", decimal=",")
        table.to_parquet(path / f"{name}.parquet")
    (path / "broken.csv").write_text("w,a\n1,2\n3\n")
    (path / "empty.csv").write_text("")
    (path / "broken.json").write_text('{"schema": "whygap/1"')
    (path / "other.json").write_text("[1, 2]")
    (path / "broken.toml").write_text("source = \n")
    head = 'source = "source.csv"\ntarget = "target.parquet"\noutcome = "y"\n'
    quick = '[settings]\nlearner = "fast"\nfolds = 3\n'
    (path / "study.toml").write_text(f'{head}prediction = "risk"\nbaseline = ["w"]\n{quick}')
    (path / "odd.toml").write_text(f'{head}prediction = "risk"\nbaseline = 3\n{quick}')
    make_gap().save(path / "gap.json")
    (path / "out" / "here").mkdir(parents=True)
    return path


def tables(rng: random.Random, shift: float) -> Any:
    rows, seed = rng.choice([60, 90, 120, 120]), rng.randrange(9)
    table = make_table(rows, shift, seed)
    path = folder() / rng.choice(["source.csv", "target-office.csv", "source.parquet"])
    odd = [
        table.assign(a=np.nan),
        table.assign(a="x"),
        table.assign(y=1),
        table.assign(y=range(rows)),
        table.assign(risk=-3.0),
        table.assign(risk="p"),
        table.assign(c=[[]] * rows),
        table.head(rng.choice([0, 1, 5])),
        table.drop(columns=rng.choice(list(table.columns))),
        table.rename(columns={"a": 7}),
        pd.concat([table, table], axis=1),
        str(folder() / "broken.csv"),
        folder() / "empty.csv",
        folder(),
    ]
    usual = [table, pl.from_pandas(table), pl.from_pandas(table).lazy(), pa.table(table), path]
    return rng.choice(odd) if rng.random() < 0.15 else rng.choice(usual)


def study_arguments(rng: random.Random) -> dict[str, Any]:
    usual: dict[str, list[Any]] = {
        "baseline": [["w"], [], "w", ("w",)],
        "covariates": [None, ["a", "b"], ["a", "b", "c"], "a"],
        "metric": ["accuracy", "brier", "log_loss", "zero_one", lambda p, y: (p - y) ** 2],
        "threshold": [0.5, 0, 1],
        "groups": [None, {"g": ["a"]}],
        "weights": [None, "b"],
        "clusters": [None, "c"],
        "source_risk": [None, "risk", "a"],
        "positive": [None, 1, "1", 2],
        "source_name": ["source", "", "<b>"],
        "target_name": ["target", "source"],
    }
    given = {"source": tables(rng, 0.0), "target": tables(rng, 1.0), "outcome": "y"}
    scored = {"prediction": "risk"} if rng.random() < 0.8 else {"model": rng.choice(MODELS)}
    some = {name: rng.choice(pool) for name, pool in usual.items() if rng.random() < 0.2}
    return spoilt(rng, {**given, **scored, **some})


MODELS = [
    lambda table: np.full(len(table), 0.3),
    lambda table: [0.2] * len(table),
    lambda _: "no",
    lambda table: table["nope"],
    "nope.onnx",
    "nope.pkl",
    "json:dumps",
    dict,
]


def settings_arguments(rng: random.Random) -> dict[str, Any]:
    usual: dict[str, list[Any]] = {
        "folds": [3, 4, 5, 2, 50],
        "repeats": [1, 2],
        "subsets": ["auto", "all", 2, 5],
        "sampling_error": [None, 0.2, 1e-9, 9.9],
        "time_budget": [None, 1e-9],
        "clip": [None, 1e-9, 2.0, 1e300],
        "support": ["auto", "all", "common"],
        "checkpoint": [None, str(folder() / "kept")],
        "level": [0.95, 1e-9, 0.999999999, 0.5],
        "seed": [0, 10**12],
    }
    base = {"learner": rng.choice(["fast"] * 9 + ["auto", "boosted"]), "folds": 3}
    some = {name: rng.choice(pool) for name, pool in usual.items() if rng.random() < 0.15}
    return spoilt(rng, {**base, "subsets": 6, **some, "progress": False}, 0.03)


def spoilt(rng: random.Random, given: dict[str, Any], chance: float = 0.06) -> dict[str, Any]:
    """Some values replaced by anything at all, now and then under a name that is not there."""
    found = {n: rng.choice(nonsense()) if rng.random() < chance else v for n, v in given.items()}
    if rng.random() < chance / 2:
        found[rng.choice(["lerner", "outcom", "x y", ""])] = rng.choice(nonsense())
    return found


def sound(rng: random.Random) -> wg.Study:
    pair = make_table(120, 0.0, rng.randrange(9)), make_table(90, 1.0, rng.randrange(9))
    return wg.Study(*pair, outcome="y", baseline=["w"], prediction="risk")


def make_study(rng: random.Random) -> Any:
    return wg.Study(**study_arguments(rng)) if rng.random() < 0.5 else sound(rng)


def anything(rng: random.Random, *usual: Any) -> Any:
    return rng.choice(nonsense()) if rng.random() < SPOILT else rng.choice(usual)


def settings(rng: random.Random) -> Any:
    made = wg.Settings(**settings_arguments(rng))
    return rng.choice(nonsense()) if rng.random() < SPOILT / 2 else made


def details(rng: random.Random) -> Any:
    return anything(rng, (), (), "all", rng.choice(DETAILS), rng.sample(DETAILS, 2))


def explain(rng: random.Random) -> Any:
    study = anything(rng, make_study(rng))
    gap = wg.explain(study, detail=details(rng), settings=settings(rng))
    return [gap.summary(), str(gap), files.to_text(gap), gap.to_frame(), gap._repr_html_()]


def explain_tables(rng: random.Random) -> Any:
    roles = study_arguments(rng)
    pair = [roles.pop("source", None), roles.pop("target", None)][: rng.choice([1, 2, 2, 2])]
    keywords = inspect.signature(wg.explain).parameters  # Python itself refuses other names
    given = {name: value for name, value in roles.items() if name in keywords}
    return wg.explain(*pair, detail=(), settings=settings(rng), **given)


def explain_many(rng: random.Random) -> Any:
    targets = {"b": tables(rng, 1.0), rng.choice(["c", "b/c", "", " ", 3]): tables(rng, 0.5)}
    study = anything(rng, make_study(rng))
    many = wg.explain_many(
        study, anything(rng, targets), detail=details(rng), settings=settings(rng)
    )
    return [many.summary(), str(many), many.to_frame()]


def check(rng: random.Random) -> Any:
    return str(wg.check(anything(rng, make_study(rng)), settings(rng)))


def subset_values(rng: random.Random) -> Any:
    subsets = anything(rng, [["a"]], [[]], ["a"], [["a", "b"], ["nope"]], [[None]])
    part = anything(rng, "covariate", "outcome", ["outcome", "covariate"])
    return _explain.subset_values(anything(rng, make_study(rng)), part, subsets, settings(rng))


def rehearse(rng: random.Random) -> Any:
    parts = anything(rng, (), "points", ["shares"])
    study = anything(rng, sound(rng))
    return wg.rehearse(study, anything(rng, 2, 1), parts, settings(rng)).summary()


def load(rng: random.Random) -> Any:
    names = ("gap.json", "broken.json", "other.json", "study.toml", "source.parquet", "nope")
    gap = wg.load(anything(rng, *(folder() / name for name in names)))
    return gap.summary()


def show(rng: random.Random) -> Any:
    """The methods of results."""
    gap = make_gap(outcome=None) if rng.random() < 0.2 else make_gap()
    level = anything(rng, 0.95, 0.5, 1e-12, 0, 1, 2, "0.9", None)
    path = anything(rng, *(folder() / n for n in ("a.json", "a.html", "a.csv", "no/a.json", "")))
    name, other = (anything(rng, "schooling", "ancestry", "nope") for _ in range(2))
    what = anything(rng, "decomposition", "points", "affected", "recoverable", "shares", "shars")
    calls: list[Callable[[], Any]] = [
        lambda: gap.to_frame(level),
        lambda: gap.summary(level),
        lambda: gap.save(path, influence=anything(rng, True)),
        lambda: gap.report(path, level, anything(rng, None)),
        lambda: gap.plot(None, what, level),
        lambda: gap.plot(what=what),
        lambda: gap.shares[anything(rng, "outcome", "covariates")],
        lambda: gap.shares["outcome"].difference(name, other),
        lambda: gap.shares["outcome"].ranking(level),
        lambda: gap.shares["covariate"].values.simultaneous(level),
        lambda: gap.shares["covariate"].values.adjusted_p_values(
            anything(rng, "holm", "max_t", "bonf")
        ),
        lambda: gap.shares["covariate"].value([name]),
        lambda: gap.shares["covariate"].numerator(name),
        lambda: gap.points[anything(rng, "covariate", "outcom")].difference(name, other),
        lambda: gap.points[anything(rng, "covariate", "baseline")].ranking(level),
        lambda: gap.affected["outcome"].rules[0].mask(tables(rng, 0.0)),
        lambda: gap.affected["outcome"].groups[0].points.interval(level),
        lambda: gap.total.interval(level),
        lambda: gap.total.p_value(anything(rng, 0.0)),
        lambda: Gaps({"b": gap})[name],
        lambda: Gaps({"b": gap}).to_frame(level),
        lambda: Gaps({"b": gap}).summary(level),
        lambda: Gaps({"b": gap}).report(path, level),
    ]
    return rng.choice(calls)()


def only_settings(rng: random.Random) -> Any:
    return wg.Settings(**spoilt(rng, settings_arguments(rng), 0.3))


def only_study(rng: random.Random) -> Any:
    study = wg.Study(**study_arguments(rng))
    return [repr(study), study.design.rows]


def command_line(rng: random.Random) -> Any:
    """One command with random arguments; exit code 3 is a failure of ours."""
    arguments = [str(argument) for argument in command(rng)]
    sys.argv = ["whygap", *arguments]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            entry.main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    if code not in (0, 1, 2):
        raise RuntimeError(f"exit code {code}: whygap {' '.join(arguments)}\n{said.getvalue()}")
    return code


WORDS = (
    *("", "x", "-1", "0", "1", "2", "0.5", "nan", "inf", "1e400", "y", "w,a", ",", "all", "none"),
    *("é", "--", "a b", "9" * 30),
)


def word(rng: random.Random, *usual: Any) -> Any:
    return rng.choice(WORDS if rng.random() < 0.2 else usual)


def command(rng: random.Random) -> list[Any]:
    place = folder()
    study = word(rng, *[place / "study.toml"] * 4, place / "odd.toml", place / "broken.toml", place)
    gap = word(rng, *[place / "gap.json"] * 4, place / "broken.json", place / "other.json", place)
    names = ("", "a.json", "a.html", "a.csv", "a.svg", "a.toml", "no/a")
    out = word(rng, *(place / "out" / name for name in names))
    settings = ("folds=3", "bins=2", "level=.5", "folds", "x=1", "seed=-1", "clip=0")
    quick = ["--set", word(rng, *settings)]
    level = ["--level", word(rng, 0.9, 0, 2)]
    files = [place / name for name in ("source.csv", "target.parquet", "broken.csv", "nope.csv")]
    roles = {
        "--source": files,
        "--target": files,
        "--outcome": ["y", "c", "nope"],
        "--baseline": ["w", "w,a", "nope"],
        "--covariates": ["a,b", "a", "nope"],
        "--prediction": ["risk", "a", "nope"],
        "--metric": ["accuracy", "brier", "acuracy", "json:dumps"],
    }
    needed = ("--source", "--target", "--outcome", "--prediction")
    given = [
        part
        for name, pool in roles.items()
        if rng.random() < (0.95 if name in needed else 0.15)
        for part in (name, word(rng, *pool))
    ]
    detail = ["--detail", word(rng, "none", "none", "points", "affected", "shares", "nope", "all")]
    fast = ["--set", "learner=" + word(rng, "fast", "fast", "fats"), *detail]
    commands: list[list[Any]] = [
        ["explain", study, *fast, *quick, "-o", out],
        ["explain", *given, *fast, "--set", "folds=3"],
        ["explain", *given, *fast, "--set", "folds=3", *level],
        ["check", study, *quick],
        ["init", *given[:4], "-o", out],
        ["init"],
        ["show", gap, *level],
        ["show", gap, "--part", word(rng, "parts", "points", "shares"), "-o", out],
        ["show", gap, "-o", out, *level],
        ["show", gap, "-o", out],
        ["rehearse", study, "-r", word(rng, 2, 1), *fast],
        [word(rng, "explian", "--help", "--version"), study],
    ]
    chosen = rng.choice(commands)
    extra = rng.choice([[], [], [], ["--json"], ["--nope"], ["--seed", word(rng, 1)]])
    return [*chosen, *extra]


FUNCTIONS: dict[Callable[[random.Random], Any], int] = {  # how often each is called
    only_settings: 6,
    only_study: 12,
    explain: 8,
    explain_tables: 5,
    explain_many: 3,
    check: 3,
    subset_values: 4,
    rehearse: 2,
    load: 4,
    show: 14,
    command_line: 30,
}


@contextlib.contextmanager
def bounded(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise HangingError(f"longer than {seconds} seconds")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """In a folder of its own, where names without one end up; what is printed is not shown."""
    quiet = io.StringIO()
    with (
        contextlib.chdir(folder() / "out" / "here"),
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        yield


def half_written() -> list[Path]:
    """Temporary files that a call has left behind."""
    return [path for path in folder().rglob(".*") if path.is_file()]


def call(number: int, seed: int = 0) -> Outcome:
    """Call number so-and-so; what is not our own error is a failure."""
    rng = random.Random(f"{seed}-{number}")  # noqa: S311 - not for secrets
    (function,) = rng.choices(list(FUNCTIONS), list(FUNCTIONS.values()))
    name, argv, shown = function.__name__, sys.argv, warnings.showwarning
    try:
        with bounded(SECONDS), aside(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(rng)
    except WhygapError as err:
        return Outcome(number, name, type(err).__name__)
    except Exception:
        return Outcome(number, name, "failed", traceback.format_exc())
    finally:
        sys.argv, warnings.showwarning = argv, shown
    return Outcome(number, name, "done")


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("agg")
    first, last = (0, int(sys.argv[1])) if len(sys.argv) == 2 else map(int, sys.argv[1:3])
    ended: Counter[str] = Counter()
    for one in range(first, last):
        outcome = call(one)
        ended[outcome.ended] += 1
        if outcome.failure:
            sys.stdout.write(f"--- call {one}, {outcome.what}\n{outcome.failure}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(ended)}, half-written files: {half_written()}\n")
