"""Points and mechanisms: the same numbers without edges, different ones in a chain."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from experiments import graph
from experiments.simulation import Order
from experiments.worlds.graphs import NAMES, GraphWorld, _accuracy
from whygap.domains import ByDomain


def test_the_two_estimands_coincide_without_edges():
    world = GraphWorld("independent")
    points, mechanisms = world.points(), world.mechanisms()
    assert points == pytest.approx(mechanisms, abs=6e-4)
    assert mechanisms["x4"] == pytest.approx(0.0, abs=1e-12), "nothing of x4 shifts"


def test_they_differ_in_a_chain_and_both_add_up_to_the_change():
    world = GraphWorld("chain")
    points, mechanisms = world.points(), world.mechanisms()
    assert abs(points["x2"] - mechanisms["x2"]) > 0.005
    noise = np.random.default_rng(0).standard_normal((400_000, 4))
    change = _accuracy(world, world.features(["target"] * 4, noise)) - _accuracy(
        world, world.features(["source"] * 4, noise)
    )
    assert math.fsum(mechanisms.values()) == pytest.approx(change, abs=1e-9)
    assert math.fsum(points.values()) == pytest.approx(change, abs=2e-3)


def test_draws_follow_the_graph_and_have_no_baseline():
    design = GraphWorld("chain").draw(ByDomain(4000, 10), np.random.default_rng(0))
    correlation = np.corrcoef(design.features.source.T)
    assert correlation[0, 1] == pytest.approx(0.7 / math.hypot(0.7, 1), abs=0.04)
    assert abs(correlation[0, 3]) < 0.05
    assert design.baseline == ()
    assert [player.name for player in design.players] == list(NAMES)


def test_a_replicate_is_near_the_truth():
    line = graph.replicate(graph._config("independent"), 1)
    truth = GraphWorld("independent").points()
    for name, (value, low, high) in line["points"].items():
        assert abs(value - truth[name]) < 2 * (high - low)


def test_the_page_compares_errors_with_each_methods_own_truth(tmp_path):
    folder = tmp_path / "graph-quick"
    folder.mkdir()
    truth = GraphWorld("independent").points()
    line = {"config": graph._config("independent").label, "seed": 0, "engine": 2}
    line["points"] = {name: [truth[name] + 0.01, truth[name], truth[name] + 0.02] for name in NAMES}
    (folder / "replicates.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    page = graph.run(Order(tmp_path, quick=True, jobs=0)).read_text(encoding="utf-8")
    row = next(text for text in page.splitlines() if text.startswith("| whygap"))
    assert row.count("1.00 (+1.00)") == 4
    assert row.endswith("| 1.00 | 1.00 1.00 1.00 1.00 | 1 |")
