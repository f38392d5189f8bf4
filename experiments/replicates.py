"""Replicates: draw a world, analyse it, write one line; finished seeds are skipped.

config = Config(world="gaussian", rows=(2000, 2000), metric="accuracy")
line = replicate(config, seed=0)         # a pure function of its arguments
run_missing(config, range(200), Path("coverage.jsonl"), jobs=2)
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from experiments.analysis import Subset, analyse, draw
from experiments.published import analyse_as_published
from experiments.record import engine_of, made_by, newest
from experiments.worlds.by_name import make_world
from whygap._version import ENGINE
from whygap.estimate import Estimate
from whygap.settings import Settings

__all__ = ["Config", "Line", "as_row", "read_lines", "replicate", "run_missing"]

Line = dict[str, Any]


@dataclass(frozen=True)
class Config:
    """What is drawn and how it is analysed; the seed is all that differs between replicates.

    Attributes:
        world: a name of `experiments.worlds.by_name`.
        rows: source and target rows.
        metric: a metric of whygap.
        settings: settings other than the defaults.
        parts: what is asked beyond the aggregate terms: names as in `explain`.
        subsets: player numbers of the subsets to value; None values all and solves for shares.
        level: of the intervals.
        options: what the world needs beyond its name (a file, a kind).
        cuts: who is hit is asked of the rows of a column above its cut.
        published: a learner of `whygap.paper`, which analyses instead, with its own settings.
    """

    world: str = "gaussian"
    rows: tuple[int, int] = (2000, 2000)
    metric: str = "accuracy"
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ("covariate", "outcome")
    subsets: tuple[Subset, ...] | None = None
    level: float = 0.9
    options: Mapping[str, Any] = field(default_factory=dict)
    cuts: Mapping[str, float] = field(default_factory=dict)
    published: str = ""

    def settings_of(self, seed: int) -> Settings:
        """The settings of one replicate."""
        return Settings(**{"seed": seed, "progress": False, "support": "all", **self.settings})

    @property
    def choices(self) -> dict[str, Any]:
        """What differs from whygap's defaults."""
        return {**self.settings, **({"published": self.published} if self.published else {})}

    @property
    def label(self) -> str:
        """A short name that differs between configurations of one study; serves as file name."""
        told = {key: value for key, value in self.options.items() if key != "file"}
        words = [self.world, *(f"{key}-{value}" for key, value in sorted(told.items()))]
        words += [self.metric, f"{self.rows[0]}-{self.rows[1]}"]
        words += [f"{key}-{value}" for key, value in sorted(self.choices.items())]
        text = "_".join(words).lower()
        return "".join(c if c.isalnum() or c in "_-." else "-" for c in text)


def replicate(config: Config, seed: int) -> Line:
    """Draw, analyse, and write down every estimate: [value, standard error, low, high, plug-in]."""
    started = time.process_time()
    design = draw(make_world(config.world, config.metric, config.options), config.rows, seed)
    settings = config.settings_of(seed)
    if config.published:
        asked = config.parts, config.subsets, settings.level
        found = analyse_as_published(design, config.published, seed, *asked)
    else:
        found = analyse(design, settings, config.parts, config.subsets, config.level, config.cuts)
    return {
        "config": config.label,
        "seed": seed,
        **made_by(settings),
        "cpu_seconds": round(time.process_time() - started, 2),
        "defined": dict(found.defined),
        "estimates": {name: as_row(e, config.level) for name, e in found.estimates.items()},
        "ranks": {part: dict(ranks) for part, ranks in found.ranks.items()},
        "learners": dict(found.learners),
        "effective_rows": dict(found.effective_rows),
    }


def as_row(estimate: Estimate, level: float) -> list[float | None]:
    """[value, standard error, low, high, plug-in], in seven digits."""
    low, high = estimate.interval(level)
    row = (estimate.value, estimate.standard_error, low, high, estimate.plugin)
    return [float(f"{x:.7g}") if np.isfinite(x) else None for x in row]


def read_lines(path: Path, label: str | None = None) -> list[Line]:
    """Finished replicates by configuration, seed and engine; a line cut short is dropped."""
    found: dict[tuple[str, int, int], Line] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if label is None or line["config"] == label:
            found[line["config"], line["seed"], engine_of(line)] = line
    return [found[key] for key in sorted(found)]


def run_missing(
    config: Config,
    seeds: Iterable[int],
    path: Path,
    *,
    jobs: int = 1,
    anew: bool = False,
    report: Callable[[str], None] = lambda _: None,
    job: Callable[[Config, int], Line] = replicate,
) -> list[Line]:
    """Run the seeds that have no line yet, append each as it ends, return one line per seed.

    `anew` runs those again that only an older engine ran.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    wanted = list(seeds)
    kept = read_lines(path, config.label)
    done = {line["seed"] for line in kept if not anew or engine_of(line) == ENGINE}
    missing = [seed for seed in wanted if seed not in done]
    workers = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered") if missing else list
    for count, line in enumerate(workers(joblib.delayed(job)(config, s) for s in missing), 1):
        _append(path, line)
        report(f"{config.label}: {count} of {len(missing)} replicates")
    return [line for line in newest(read_lines(path, config.label)) if line["seed"] in set(wanted)]


def _append(path: Path, line: Line) -> None:
    """One write per line; a broken last line of an earlier run is closed first."""
    text = json.dumps(line, sort_keys=True) + "\n"
    with path.open("a+b") as file:
        size = file.seek(0, 2)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                text = "\n" + text
        file.write(text.encode())
