"""A revision as it is shown: one line per choice, its score, its gain over the model as it is.

Reads what `whygap revise --json` prints, or the `Revision` itself through its `to_mapping`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whygap.errors import ResultError, did_you_mean, require_known
from whygap.estimate import Estimate
from whygap.estimate.student import as_student, normal_quantile
from whygap.render.lines import padded
from whygap.render.phrases import joined
from whygap.render.units import Units, level_name, units_for
from whygap.results import Gap

SCORE_NAMES = {"accuracy": "accuracy", "auc": "AUC", "brier": "Brier score", "log_loss": "log loss"}
SCORE_OF_METRIC = {"zero_one": "accuracy", **{name: name for name in SCORE_NAMES}}
LOSSES = ("brier", "log_loss")
_BY_BASELINE = {"targeted": "corrected", "reweighted": "reweighted"}
MEASURED = (
    "Every line is scored on target rows whose outcomes its fit has not seen. Intervals are those "
    "of scoring these rows; they do not say how the fit itself would vary."
)
HOW_TO_WRITE = "Write one with: whygap revise study.toml --gap gap.json --json > revision.json"


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to change the model, measured on target rows whose outcomes its fit has not seen.

    Attributes:
        kind: "original", "targeted", "reweighted" or "retrained".
        k: how many variables it uses beside the baseline.
        added: the variable it has more than the line before; empty for none.
        score: its score.
        gain: how much better it scores than the model as it is; positive is better, also for
            losses.
    """

    kind: str
    k: int
    added: str
    score: Estimate
    gain: Estimate

    @property
    def label(self) -> str:
        """The line's name."""
        if self.kind == "original":
            return "the model as it is"
        if self.kind == "retrained":
            return "refitted with all variables"
        if self.added:
            return f"+ {self.added}"
        return f"{_BY_BASELINE[self.kind]} by the baseline"


@dataclass(frozen=True, slots=True)
class Curve:
    """All choices in one score.

    Attributes:
        score: "accuracy", "auc", "brier" or "log_loss".
        choices: the model as it is first.
        variables: that the revised model uses, most important first.
    """

    score: str
    choices: tuple[Choice, ...]
    variables: tuple[str, ...]

    @property
    def name(self) -> str:
        """The score as people say it."""
        return SCORE_NAMES[self.score]

    @property
    def units(self) -> Units:
        """Digits from the gains' standard errors: their first one, as is usual for scores."""
        errors = [c.gain.standard_error for c in self.of("targeted") + self.of("retrained")]
        scores = [abs(choice.score.value) for choice in self.choices]
        share = self.score == "accuracy"
        error = (100 if share else 10) * min(errors, default=0.0)
        return units_for(share, error, (100 if share else 1) * max(scores))

    def groups(self) -> dict[str, tuple[Choice, ...]]:
        """Heading -> its choices, from the top down; those without a heading come first."""
        kinds = {
            "": ("original",),
            "Corrected on target outcomes": ("targeted", "retrained"),
            "Retrained, no target outcomes": ("reweighted",),
        }
        found = {title: [c for kind in of for c in self.of(kind)] for title, of in kinds.items()}
        return {title: tuple(choices) for title, choices in found.items() if choices}

    def limits(self, level: float) -> tuple[float, float]:
        """Gains from the lowest to the highest end of an interval, 0 among them."""
        ends = [end for choice in self.choices for end in choice.gain.interval(level)]
        return padded([*ends, 0.0], 0.06)

    def of(self, kind: str) -> tuple[Choice, ...]:
        """The choices of one kind."""
        return tuple(choice for choice in self.choices if choice.kind == kind)


def load_revision(path: str | Path) -> Mapping[str, Any]:
    """Read a file that `whygap revise --json` printed."""
    try:
        mapping = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as err:
        raise ResultError(f"The revision file '{path}' cannot be read", got=err.strerror) from err
    except (UnicodeDecodeError, json.JSONDecodeError) as err:
        raise ResultError(
            f"The file '{path}' is not a whole revision", got=str(err), hint=HOW_TO_WRITE
        ) from err
    curve_of(mapping)
    return dict(mapping)


def curve_of(revision: Any, score: str = "auc") -> Curve:
    """One score of a `Revision`, or of the plain values it is saved as."""
    mapping = revision.to_mapping() if hasattr(revision, "to_mapping") else revision
    what = f"There is no score '{score}' in a revision"
    require_known(score, SCORE_NAMES, what, "Scores", ResultError)
    try:
        choices = tuple(_choices(mapping, score))
        variables = tuple(str(name) for name in mapping["variables"])
    except (KeyError, TypeError, ValueError, IndexError) as err:
        missing = f"no field {err}" if isinstance(err, KeyError) else str(err)
        raise ResultError("This is not a revision", got=missing, hint=HOW_TO_WRITE) from err
    if not choices or choices[0].kind != "original":
        raise ResultError(
            f"The revision has no {SCORE_NAMES[score]}",
            hint="A model that gives labels instead of probabilities has no log loss.",
        )
    return Curve(score, choices, variables)


def curve_for(gap: Gap, revision: Any) -> Curve:
    """The revision in the score that the result explains; AUC where it has no such score."""
    curve = curve_of(revision, SCORE_OF_METRIC.get(gap.about.metric, "auc"))
    for name in (choice.added for choice in curve.choices):
        if name and name not in gap.about.players:
            raise ResultError(
                f"The revision uses '{name}', which is no variable of this result",
                hint=did_you_mean(name, gap.about.players)
                or "Give the revision of the same study.",
            )
    return curve


def _choices(mapping: Mapping[str, Any], score: str) -> Iterator[Choice]:
    z = normal_quantile(float(mapping["level"]))
    orders = {"targeted": mapping["ranking"], "reweighted": mapping["covariate_ranking"]}
    for line in mapping["steps"]:
        if line["metric"] != score or line["estimate"] is None:
            continue
        kind, k = str(line["kind"]), int(line["k"])
        gain = _estimate(line, ("gain", "gain_low", "gain_high"), "gain_degrees_of_freedom", z)
        yield Choice(
            kind=kind,
            k=k,
            added=str(orders[kind][k - 1]) if kind in orders and k else "",
            score=_estimate(line, ("estimate", "low", "high"), "degrees_of_freedom", z),
            gain=replace(gain, value=0 - gain.value) if score in LOSSES else gain,
        )


def _estimate(
    line: Mapping[str, Any], names: tuple[str, str, str], freedom: str, z: float
) -> Estimate:
    """The interval's width gives the standard error back; files without freedom are normal."""
    value, low, high = (float(line[name]) for name in names)
    known = float(line.get(freedom) or math.inf)
    return Estimate(value, (high - low) / (2 * as_student(z, known)), degrees_of_freedom=known)


# -- in words --------------------------------------------------------------------------------------


def revision_sentences(curve: Curve, level: float) -> list[str]:
    """Most important first."""

    def reached(choice: Choice) -> str:
        return f"{curve.units.mean(choice.score.value)} ({_gain(curve, choice, level)})"

    said, targeted = [], curve.of("targeted")
    if targeted:
        text = (
            f"Corrected on outcomes from the target, the model's {curve.name} goes from "
            f"{curve.units.mean(curve.choices[0].score.value)} to {reached(targeted[0])} by "
            "the source risk and the baseline alone"
        )
        if len(targeted) > 1:
            names = joined([choice.added for choice in targeted[1:]])
            text += f", and to {reached(targeted[-1])} with {names} as well"
        said.append(f"{text}.")
    said += [
        f"Refitted there with every variable, it reaches {reached(choice)}; that is about all that "
        "these rows can give."
        for choice in curve.of("retrained")
    ]
    if curve.of("reweighted"):
        best = max(curve.of("reweighted"), key=lambda choice: choice.gain.value)
        said.append(
            "Without any outcome from the target, retraining on reweighted source rows gets to "
            f"{reached(best)} at best."
        )
    return said


def _gain(curve: Curve, choice: Choice, level: float) -> str:
    units, gain = curve.units, choice.gain
    text = f"gain {units.change(gain.value)}, {level_name(level)} interval "
    text += units.span(*gain.interval(level))
    if not gain.excludes_zero(level):
        return f"{text}: no clear gain"
    return f"{text}: clearly worse" if gain.value < 0 else text
