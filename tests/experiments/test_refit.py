"""Refitting: what is won is compared with what was forecast, the errors of both counted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import refit
from experiments.simulation import Order
from experiments.worlds.by_name import make_world
from whygap.domains import ByDomain


@pytest.mark.parametrize(
    ("numbers", "holds"),
    [((1.0, 0.1, 1.2, 0.05), True), ((1.0, 0.1, 1.3, 0.05), False), ((1.0, 0.1, 0.8, 0.1), True)],
)
def test_a_forecast_holds_within_both_errors(numbers, holds):
    assert refit.holds(numbers) is holds


def test_a_refitted_model_wins_on_rows_it_has_not_seen():
    world, rng = make_world("correlated", "accuracy", {}), np.random.default_rng(0)
    train, judge = (world.draw(ByDomain(2, 4000), rng) for _ in range(2))
    alone, alone_error = refit._won(train, judge, [])
    everything, _ = refit._won(train, judge, list(range(12)))
    assert 0 < alone_error < 0.003
    assert everything > alone + 0.005
    assert everything < 0.0330 + 0.006, "no model wins more than there is"


def test_the_page_counts_forecasts_that_held(tmp_path):
    folder = tmp_path / "refit"
    folder.mkdir()
    label = refit.plan(quick=False)[0][0].label
    good, bad = [0.01, 0.001, 0.011, 0.001], [0.01, 0.001, 0.02, 0.001]
    lines = [{"config": label, "seed": seed, "engine": 2, "first": "Z8",
              "steps": {step: good if step != "with all" or seed else bad for step in refit.STEPS}}
             for seed in range(2)]  # fmt: skip
    label = refit.case("insurance, NE to WV").label
    lines.append({**lines[1], "config": label, "seed": 0, "first": "PINCP"})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "replicates.jsonl").write_text(text, encoding="utf-8")
    page = refit.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    assert "| corrected | 1.000 | 1.100 | 1.00 |" in page
    assert "| with all | 1.000 | 1.550 | .50 |" in page
    assert "| insurance, NE to WV, 1 | with PINCP | 1.00 | .80 to 1.20 | 1.10 ± .20 | yes |" in page
