"""A check as text, readable in 80 columns."""

from collections.abc import Iterable, Iterator

from whygap.checks.result import Check
from whygap.domains import ByDomain
from whygap.errors import large
from whygap.render.formats import text_table, wrapped
from whygap.render.units import level_name


def summary(check: Check, level: float) -> str:
    """Write every section that has something to say.

    Args:
        check: what was found.
        level: of the metrics' intervals.
    """
    sections = {
        "Rows": _rows(check, level),
        "Roles": "\n".join(_roles(check)),
        "Predictions": text_table(
            ("", *check.names), [(m.name, *map(m.text, m.value)) for m in check.prediction]
        ),
        "Columns": "\n".join(map(wrapped, _columns(check))),
        "Overlap": _overlap(check),
        "Cost": wrapped(_cost(check)),
        "Groups": _groups(check),
        "Notes": _bullets(str(note) for note in check.notes if note.level == "info"),
        "Verdict": verdict(check),
    }
    return "\n".join(
        f"{title}\n{'-' * len(title)}\n{text}\n" for title, text in sections.items() if text
    )


def verdict(check: Check) -> str:
    """Write problems first, then what to keep in mind.

    Args:
        check: what was found.
    """
    problems = _bullets(check.problems())
    warnings = _bullets(check.warnings())
    title = "Also:" if problems else "An analysis is possible. Keep in mind:"
    parts = [f"An analysis could not be trusted:\n{problems}"] if problems else []
    parts += [f"{title}\n{warnings}"] if warnings else []
    return "\n".join(parts) or "Nothing stands in the way of an analysis."


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(wrapped(text, "- ", "  ") for text in texts)


def _rows(check: Check, level: float) -> str:
    spec = ".1%" if check.is_share else ".4g"
    binary = check.domains.source.positive_share is not None
    rows = []
    for name, size in zip(check.names, check.domains, strict=True):
        low, high = size.metric.interval(level)
        share = [f"{size.positive_share:.1%}"] if size.positive_share is not None else []
        metric = f"{size.metric.value:{spec}} ({low:{spec}} to {high:{spec}})"
        clusters = [f"{size.units:,}"] if "clusters" in check.roles else []
        rows.append((name, f"{size.rows:,}", f"{size.effective_rows:,.0f}", *clusters, *share,
                     metric))  # fmt: skip
    header = ["", "rows", "effective", *(["clusters"] if "clusters" in check.roles else [])]
    header += [*(["outcome 1"] if binary else []), f"{check.metric} ({level_name(level)} interval)"]
    return text_table(header, rows)


def _roles(check: Check) -> Iterator[str]:
    indent = min(max(map(len, check.roles)), 24) + 2
    limit = 40  # names of columns: half a screen
    for role, names in check.roles.items():
        more = f" and {len(names) - limit} more" if len(names) > limit else ""
        listed = ", ".join(names[:limit]) + more
        yield wrapped(f"{role:{indent}}{listed or '(none)'}", later=" " * indent)


def _columns(check: Check) -> Iterator[str]:
    missing = {c.name: c.missing for c in check.columns}
    one_sided = {c.name: c.one_sided for c in check.columns}
    yield _worst("Missing values", missing) or "No values are missing in the columns used."
    yield _worst("Rows with a level that the other table lacks", one_sided)


def _worst(title: str, shares: dict[str, ByDomain[float]]) -> str:
    ranked = sorted(shares, key=lambda name: (-max(shares[name]), name))
    names = [name for name in ranked if max(shares[name]) > 0]
    if not names:
        return ""
    limit = 12  # columns with two numbers each: three lines of text
    listed = [f"{n} {shares[n].source:.1%} / {shares[n].target:.1%}" for n in names[:limit]]
    hidden = len(names) - limit
    ending = f"; and {hidden} more column{'s' if hidden > 1 else ''}" if hidden > 0 else ""
    return f"{title} (source / target): {'; '.join(listed)}{ending}."


def _overlap(check: Check) -> str:
    if check.overlap is None:
        return "Unknown: the trial fits were not possible."
    header = ("on", "overlap", "AUC", "count as (source rows)", "largest", "mean", "alone")
    rows = [
        (
            ratio.columns.removesuffix(" variables"),
            ratio.verdict,
            f"{ratio.domain_auc:.3f}",
            f"{ratio.effective_size:,.0f} of {ratio.rows:,}",
            f"{ratio.largest_weight:,.1f}",
            f"{ratio.mean_weight:.2f}",
            f"{ratio.without_counterpart:.1%}",
        )
        for ratio in check.overlap.ratios
    ]
    best = ", ".join(f"{c.name} ({c.domain_auc:.3f})" for c in check.separators)
    text = f"Columns that tell the tables apart best, each alone (AUC): {best}."
    used = check.overlap.rows
    if used != check.domains.map(lambda size: size.rows):
        text += f" Measured on {used.source:,} source and {used.target:,} target rows at random."
    return "\n".join([text_table(header, rows, "llrrrrr"), wrapped(LEGEND), wrapped(text)])


LEGEND = (
    "AUC: how well a classifier tells the tables apart (0.5: not at all). Count as: how many rows "
    "remain when the source rows are weighted to look like the target. Largest: the heaviest "
    "weight; mean: the average weight, which should be 1; alone: target rows without a counterpart."
)


def _cost(check: Check) -> str:
    cost = check.cost
    if cost is None:
        return ""
    minutes = cost.seconds / 60
    time = f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.0f} h"
    time = f"{max(cost.seconds, 1):.0f} s" if minutes < 1.5 else time
    workers = f" with {cost.workers} workers" if cost.workers > 1 else ""
    subsets = f"{cost.subsets:,} of {large(cost.possible)} subsets of the covariates"
    return f"About {time}{workers}, for {subsets} (a forecast, not a promise)."


def _groups(check: Check) -> str:
    if not check.proposals:
        return ""
    n = len(check.roles["covariates"])
    counts = " and ".join(f"{p.players} in groups by {p.by}" for p in check.proposals)
    text = (
        f"{n} covariates make {large(2.0**n)} subsets, and a long list to read; they would be "
        f"{counts}. Paste this into study.toml, or use groups=check(study).proposals[0].groups:"
    )
    return f"{wrapped(text)}\n\n{check.proposals[0].toml()}"
