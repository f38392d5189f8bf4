"""What a result says of itself: names, sizes, settings, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from whygap._version import ENGINE
from whygap.domains import ByDomain
from whygap.equations.corners import Decomposition
from whygap.results import About, Part
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


def parts_of(found: Decomposition, about: About) -> dict[str, Part]:
    """Return the parts that a study has, with what they are called and what they mean.

    Args:
        found: the gap and its parts; the baseline part is left out where there is no baseline.
        about: names of the columns.
    """
    order = list(found.parts)
    outcome_first = "outcome" in order and order.index("outcome") < order.index("covariate")
    baseline, outcome = _joined(about.baseline), about.outcome
    alike = f" among rows alike in {baseline}" if baseline else ""
    mix = f"A different mix of {_joined(list(about.players)) or 'the variables'}"
    texts = {
        "source_only": (
            "Source-only rows",
            "Source rows that have no counterpart in the target.",
        ),
        "baseline": ("Baseline", f"A different mix of {baseline}."),
        "covariate": ("Covariates", f"{mix}{alike}."),
        "outcome": ("Outcome", f"A different '{outcome}' for rows alike in every variable."),
        "target_only": (
            "Target-only rows",
            "Target rows that have no counterpart in the source.",
        ),
    }
    if outcome_first:
        known = _joined([*about.baseline, outcome])
        texts["covariate"] = ("Covariates", f"{mix} among rows alike in {known}.")
        texts["outcome"] = ("Outcome", f"A different mix of '{outcome}'{alike}.")
    return {
        name: Part.named(estimate, *texts[name])
        for name, estimate in found.parts.items()
        if name != "baseline" or about.baseline
    }


def _joined(names: Sequence[str], most: int = 4) -> str:
    """a, b and c; of more than `most`: a, b, c and 7 others."""
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


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
