"""Planted rules: rows inside them change and no others; scores count what was planted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import rules
from experiments.simulation import Order
from experiments.worlds.planted import COLUMNS, Planted, Side, planted
from whygap.domains import ByDomain


def test_outcomes_change_inside_the_rule_only():
    world = Planted((Side(0, 1), Side(4, 2)), effect=0.6)
    x = world.draw(ByDomain(10, 4000), np.random.default_rng(0)).features.target
    inside = world.mask(x)
    before, after = world.risk("source", x), world.risk("target", x)
    assert 0.02 < inside.mean() < 0.2
    assert np.array_equal(before[~inside], after[~inside])
    assert after[inside] == pytest.approx(0.6 * (1 - before[inside]) + 0.4 * before[inside])
    assert world.columns == ("x1", "c1")


def test_contributions_of_a_rule_and_of_the_rest_are_the_whole_change():
    world = planted(1.0, 3)
    whole = world.contribution(lambda x, _: np.ones(len(x), bool), 20_000)
    part = world.contribution(lambda x, _: world.mask(x), 20_000)
    rest = world.contribution(lambda x, _: ~world.mask(x), 20_000)
    assert part + rest == pytest.approx(whole)
    assert rest == pytest.approx(0.0)
    assert part < -0.01


def test_rules_have_one_or_two_different_columns():
    found = [planted(0.5, seed).columns for seed in range(40)]
    assert {len(columns) for columns in found} == {1, 2}
    assert all(len(set(columns)) == len(columns) for columns in found)
    assert {name for columns in found for name in columns} == {column.name for column in COLUMNS}


def test_a_large_planted_rule_is_confirmed_with_an_interval_that_holds():
    line = rules.replicate(rules._config(1.0), 4)
    assert line["planted"] == ["b2"]
    best = max(line["rules"], key=lambda rule: rule["jaccard"])
    assert best["columns"] == ["b2"]
    assert best["jaccard"] == 1.0
    assert best["low"] <= best["truth"] <= best["high"] < 0


def test_the_page_counts_what_each_tool_found(tmp_path):
    folder = tmp_path / "rules-quick"
    folder.mkdir()
    label = rules._config(1.0).label
    told = {"columns": ["x1"], "jaccard": 0.9, "low": -0.2, "high": -0.1, "truth": -0.15}
    missed = {**told, "columns": ["x2"], "jaccard": 0.1, "truth": 0.0}
    ours = [{"config": label, "seed": k, "engine": 2, "planted": ["x1"], "rules": found}
            for k, found in enumerate(([told], [missed], [told, missed], []))]  # fmt: skip
    one = {"config": label, "seed": 0, "planted": ["x1"]}
    theirs = [one | {"deepchecks": [missed], "wise_pizza": []}, one | {"divexplorer": [told]}]
    for name, lines in (("replicates", ours), ("peers", theirs)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    page = rules.run(Order(tmp_path, quick=True, jobs=0)).read_text(encoding="utf-8")
    assert "| 1.00 | whygap | 4 | .50 | .50 | .75 | 1.00 |" in page
    assert "| 1.00 | deepchecks, weak segments | 1 | .00 | .00 | 1.00 | 1.00 |" in page
    assert "| 1.00 | DivExplorer | 1 | 1.00 | 1.00 | 1.00 | 1.00 |" in page
    assert "true contribution: 2 of 4 (50.0%)" in page
