"""An irrelevant column does not turn the headline over: the same parts, in the same order."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from small_study import fast

import whygap as wg
from whygap.render import text

ROWS = 1500


def table(moved: bool, seed: int) -> pd.DataFrame:
    """Covariates and outcome cost about as much: more hard rows, and a turned coefficient."""
    rng = np.random.default_rng(seed)
    w, a = rng.normal(size=ROWS), rng.normal(size=ROWS)
    hard = (rng.random(ROWS) < (0.6 if moved else 0.2)).astype(float)
    risk = 1 / (1 + np.exp(-(1.5 * a + 0.5 * w + 2.0 * (1 - hard) * np.sign(a))))
    turned = 1 / (1 + np.exp(-(0.4 * a + 2.0 * (1 - hard) * np.sign(a))))
    y = (rng.random(ROWS) < (turned if moved else risk)).astype(int)
    return pd.DataFrame({"w": w, "a": a, "hard": hard, "y": y, "risk": risk})


def headline(noise: int) -> str:
    """Of the two tables, with so many columns of noise."""
    source, target = table(False, 1), table(True, 2)
    for k in range(noise):
        for one, seed in ((source, 10 + k), (target, 20 + k)):
            one[f"noise_{k}"] = np.random.default_rng(seed).normal(size=ROWS)
    study = wg.Study(source, target, outcome="y", prediction="risk", baseline=["w"])
    gap = wg.explain(study, detail=(), settings=fast())
    return " ".join(text.headline(gap, gap.findings()))


@pytest.fixture(scope="module")
def plain() -> str:
    return headline(0)


@pytest.mark.parametrize("noise", [1, 3])
def test_columns_of_noise_leave_the_headline_as_it_is(plain: str, noise: int) -> None:
    def without_numbers(text: str) -> str:
        return re.sub(r"-?\d+(?:\.\d+)?", "#", text)

    assert without_numbers(headline(noise)) == without_numbers(plain)


def test_the_tie_is_named_as_one(plain: str) -> None:
    assert "Which part is largest is open: covariates -" in plain
