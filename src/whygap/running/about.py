"""What a result says of itself: names, sizes, settings, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from whygap._version import ENGINE
from whygap.domains import ByDomain
from whygap.results import About
from whygap.running.checkpoint import digest_of
from whygap.settings import Settings
from whygap.study import Study
from whygap.tables.design import Design

HARDLY = 0.999  # of the rows: a loss that no one would notice
EPOCH = "SOURCE_DATE_EPOCH"  # reproducible-builds.org: seconds since 1970


@dataclass(frozen=True, slots=True)
class Caption:
    """What a result calls things; a design has only numbers."""

    outcome: str = "outcome"
    metric: str = "metric"
    higher_is_better: bool | None = None
    is_share: bool = False
    is_mean: bool = True
    metric_words: str = ""
    task: str = "binary"
    source_name: str = "source"
    target_name: str = "target"
    table_kind: str = "pyarrow"

    @classmethod
    def of(cls, study: Study) -> Caption:
        """The study's own words."""
        metric, names = study.design.metric, study.names
        return cls(
            outcome=study.outcome,
            metric=metric.name,
            higher_is_better=metric.higher_is_better,
            is_share=metric.is_share,
            is_mean=metric.is_mean,
            metric_words=metric.words,
            task=study.design.task,
            source_name=names.source,
            target_name=names.target,
            table_kind=study.table_kind,
        )


def about_of(
    caption: Caption,
    design: Design,
    settings: Settings,
    seconds: Mapping[str, float],
    kept: ByDomain[float],
) -> About:
    """Enough to repeat the analysis."""
    names = [c.name for c in design.columns]
    words = {name: word for name, word in asdict(caption).items() if name != "table_kind"}
    return About(
        **words,
        rows=design.rows,
        effective_rows=_counted(design),
        baseline=tuple(names[c] for c in design.baseline),
        players={p.name: tuple(names[c] for c in p.columns) for p in design.players},
        settings=settings.to_mapping(),
        versions=_versions(),
        seconds={} if EPOCH in os.environ else dict(seconds),
        created=_now().isoformat(timespec="seconds"),
        data=digest_of(design),
        kept_share=kept,
    )


def _counted(design: Design) -> ByDomain[float]:
    """Rows of equal weight; weights that hardly differ from 1, as a sample has them, are none."""
    counted = design.sample().effective_size()
    return counted.zip(design.rows, lambda c, rows: c if c < rows * HARDLY else float(rows))


def _now() -> datetime:
    """Now; or, so that the same run gives the same bytes, the time that is set from outside."""
    set_ = os.environ.get(EPOCH, "")
    return datetime.fromtimestamp(int(set_), UTC) if set_.isdigit() else datetime.now(UTC)


def _versions() -> dict[str, str]:
    found = {"engine": str(ENGINE), "python": platform.python_version()}
    for name in ("whygap", "numpy", "scipy", "scikit-learn", "lightgbm"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
