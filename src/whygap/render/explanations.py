"""What the page says about numbers, overlap and computing, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from whygap.render.numbers import count, percent, weight
from whygap.render.phrases import joined, metric_name
from whygap.results import About, Gap, RatioRecord

__all__ = ["how", "meanings", "models", "not_meanings", "overlap_sentence", "overlap_verdict"]


SHARES_AND_INTERVALS = [
    (
        "Share of a variable",
        (
            "A shift moves the metric further for some rows than for others. The share says how "
            "much of this pattern (of its mean square) this variable's part of the shift "
            "reproduces, averaged over all orders in which variables can be added (Shapley). "
            "Shares add up to 100%, together with the recalibration."
        ),
    ),
    (
        "Recalibration alone",
        (
            "How much of the outcome shift one correction of the predicted risk would explain, "
            "the same for all rows of equal risk."
        ),
    ),
    (
        "Interval",
        (
            "The values that the data do not exclude. An interval that includes 0 means: cannot "
            "tell."
        ),
    ),
]


def meanings(gap: Gap) -> list[tuple[str, str]]:
    """Term and meaning, with this study's own names."""
    about = gap.about
    change = (
        f"Mean {metric_name(about)} in the target minus the same in the source. The parts below "
        "add up to it."
    )
    detailed = SHARES_AND_INTERVALS if gap.details() else SHARES_AND_INTERVALS[-1:]
    return [("The change", change), *_part_meanings(about), *detailed]


def _part_meanings(about: About) -> Iterator[tuple[str, str]]:
    alike = f" among rows alike in {joined(about.baseline, 6)}" if about.baseline else ""
    if about.baseline:
        yield (
            "Baseline",
            (
                f"What would change if only the mix of {joined(about.baseline, 6)} became the "
                "target's, everything else staying as in the source."
            ),
        )
    yield (
        "Covariates",
        (
            f"What changes {'on top of that ' if alike else ''}when the mix of the "
            f"{'other ' if alike else ''}variables{alike} becomes the target's."
        ),
    )
    yield (
        "Outcome",
        (
            f"The rest: '{about.outcome}' itself comes out differently in the target for rows that "
            "are alike in every variable."
        ),
    )


def not_meanings() -> list[str]:
    """What readers must not take from the numbers."""
    return [
        (
            "They do not show causes. A variable with a large share may stand in for something "
            "that was not recorded."
        ),
        (
            "They do not say which variables matter to the model; they say along which variables "
            "the two domains differ in a way that moves the metric."
        ),
        (
            "A share of a variable is not a number of points of the change. It divides up the "
            "shift's squared effect, in which ups and downs do not cancel."
        ),
        "They hold for these two tables, this model and this metric.",
    ]


def overlap_verdict(ratio: RatioRecord) -> str:
    """Good, fair or poor."""
    kept = ratio.effective_size / ratio.rows if ratio.rows else 0.0
    return "good" if kept >= 0.5 else "fair" if kept >= 0.1 else "poor"


def overlap_sentence(ratio: RatioRecord) -> str:
    """One density ratio in words."""
    kept = ratio.effective_size / ratio.rows if ratio.rows else 0.0
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


def _rows(about: About, domain: str) -> str:
    rows = about.rows.source if domain == "source" else about.rows.target
    effective = about.effective_rows.source if domain == "source" else about.effective_rows.target
    weighted = f", counting as {count(effective)} after weights" if effective < rows - 0.5 else ""
    return f"{count(rows)} rows{weighted}"


def _sampling(gap: Gap) -> Iterator[tuple[str, str]]:
    for name, detail in gap.details().items():
        if detail.sampling is None:
            continue
        sampling = detail.sampling
        possible = (
            f" of {sampling.possible:,.0f}"
            if sampling.possible < 1e6
            else f" of {sampling.possible:.1e}"
        )
        exact = (
            "exact" if sampling.exact else f"largest sampling error {sampling.largest_error:.4f}"
        )
        yield name, f"{sampling.evaluated:,}{possible}; {exact}; {sampling.stopped}"
