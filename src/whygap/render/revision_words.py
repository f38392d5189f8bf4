"""What a revision says, in sentences: is it worth revising, and how much is enough?"""

from __future__ import annotations

from whygap.render.numbers import level_name
from whygap.render.phrases import joined
from whygap.render.reading import excludes_zero
from whygap.render.revision import Choice, Curve

__all__ = ["MEASURED", "label_of", "revision_sentences"]

MEASURED = (
    "Every line is scored on target rows that its fit has not seen. Intervals are those of scoring "
    "these rows; they do not say how the fit itself would vary."
)


def label_of(choice: Choice) -> str:
    """A line's name."""
    if choice.kind == "original":
        return "the model as it is"
    if choice.kind == "retrained":
        return "refitted with all variables"
    if choice.added:
        return f"+ {choice.added}"
    return "recalibrated" if choice.kind == "targeted" else "reweighted by the baseline"


def revision_sentences(curve: Curve, level: float) -> list[str]:
    """Most important first."""
    targeted = curve.of("targeted")
    return [
        *([_targeted(curve, targeted, level)] if targeted else []),
        *(_ceiling(curve, choice, level) for choice in curve.of("retrained")),
        *([_reweighted(curve, level)] if curve.of("reweighted") else []),
    ]


def _targeted(curve: Curve, targeted: tuple[Choice, ...], level: float) -> str:
    start, first, last = curve.choices[0], targeted[0], targeted[-1]
    text = (
        f"Corrected on outcomes from the target, the model's {curve.name} goes from "
        f"{curve.units.mean(start.score.value)} to {_reached(curve, first, level)} by "
        "recalibration alone"
    )
    if last is first:
        return f"{text}."
    names = joined([choice.added for choice in targeted[1:]])
    return f"{text}, and to {_reached(curve, last, level)} with {names} as well."


def _reached(curve: Curve, choice: Choice, level: float) -> str:
    return f"{curve.units.mean(choice.score.value)} ({_gain(curve, choice, level)})"


def _gain(curve: Curve, choice: Choice, level: float) -> str:
    units, gain = curve.units, choice.gain
    span = units.span(*gain.interval(level))
    text = f"gain {units.change(gain.value)}, {level_name(level)} interval {span}"
    if not excludes_zero(gain, level):
        return f"{text}: no clear gain"
    return f"{text}: clearly worse" if gain.value < 0 else text


def _ceiling(curve: Curve, choice: Choice, level: float) -> str:
    return (
        f"Refitted there with every variable, it reaches {_reached(curve, choice, level)}; that is "
        "about all that these rows can give."
    )


def _reweighted(curve: Curve, level: float) -> str:
    best = max(curve.of("reweighted"), key=lambda choice: choice.gain.value)
    return (
        "Without any outcome from the target, retraining on reweighted source rows gets to "
        f"{_reached(curve, best, level)} at best."
    )
