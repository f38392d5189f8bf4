"""What the page says about overlap and computing, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.domains import Domain
from whygap.render.numbers import count, percent, weight
from whygap.render.phrases import metric_name
from whygap.results import About, Gap, RatioRecord

GOOD, POOR = 0.5, 0.1  # of the source rows that effectively remain: good from, poor below


def kept_share(ratio: RatioRecord) -> float:
    """Source rows that effectively remain when weighted like the target."""
    return ratio.effective_size / ratio.rows if ratio.rows else 0.0


def overlap_verdict(ratio: RatioRecord) -> str:
    """Good, fair or poor."""
    kept = kept_share(ratio)
    return "good" if kept >= GOOD else "fair" if kept >= POOR else "poor"


def overlap_sentence(ratio: RatioRecord) -> str:
    """One density ratio in words."""
    kept = kept_share(ratio)
    text = (
        f"To look like the target in {ratio.columns}, source rows are weighted: "
        f"{count(ratio.rows)} rows then count as {count(ratio.effective_size)} "
        f"({percent(kept, 1.0 if kept >= 0.02 or not kept else 0.001)}). "
        f"The heaviest row counts {weight(ratio.largest_weight)} times. "
    )
    if ratio.clipped_share > 0:
        text += f"{percent(ratio.clipped_share, 0.001)} of the weights were cut off. "
    return text + (
        f"A classifier tells the two domains apart with an AUC of {ratio.domain_auc:.2f} "
        "(0.5: not at all; 1: always)."
    )


def how(gap: Gap) -> list[tuple[str, str]]:
    """How the numbers were computed: name and value."""
    about = gap.about
    rows = [
        ("Metric", metric_name(about)),
        ("Outcome", about.outcome),
        ("Source", f"{about.source_name}: {_rows(about, 'source')}"),
        ("Target", f"{about.target_name}: {_rows(about, 'target')}"),
        ("Baseline variables", ", ".join(about.baseline) or "none"),
        ("Covariates", f"{len(about.players)} (single variables or groups)"),
    ]
    rows += [(f"Subsets, {name} part", text) for name, text in _sampling(gap)]
    rows += [(f"Setting: {name}", str(value)) for name, value in sorted(about.settings.items())]
    rows += [(f"Version: {name}", value) for name, value in sorted(about.versions.items())]
    rows += [(f"Seconds: {name}", f"{value:,.1f}") for name, value in about.seconds.items()]
    return [*rows, *([("Made", about.created)] if about.created else [])]


def models(gap: Gap) -> list[tuple[str, str, str, str]]:
    """Per nuisance: what, from which columns, the model chosen, its score beside the others'."""
    return [
        (
            record.target,
            record.columns,
            record.chosen,
            ", ".join(f"{name} {score:.4g}" for name, score in record.scores.items())
            + (f" ({record.score_name})" if record.scores else ""),
        )
        for record in gap.diagnostics.nuisances
    ]


def _rows(about: About, domain: Domain) -> str:
    rows, effective = about.rows[domain], about.effective_rows[domain]
    weighted = f", counting as {count(effective)} after weights" if effective < rows - 0.5 else ""
    return f"{count(rows)} rows{weighted}"


def _sampling(gap: Gap) -> Iterator[tuple[str, str]]:
    for name, detail in gap.details().items():
        if detail.sampling is None:
            continue
        found = detail.sampling
        possible = f"{found.possible:,.0f}" if found.possible < 1e6 else f"{found.possible:.1e}"
        error = "exact" if found.exact else f"largest sampling error {found.largest_error:.4f}"
        yield name, f"{found.evaluated:,} of {possible}; {error}; {found.stopped}"
