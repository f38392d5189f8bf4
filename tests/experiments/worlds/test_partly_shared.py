"""A world with partial overlap: its truth, and parts that add up to the gap exactly."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.analysis import draw
from experiments.partial_overlap import PARTS, plan
from experiments.worlds.by_name import make_world, truths
from experiments.worlds.partly_shared import ALONE
from whygap._explain import explain_design
from whygap.domains import DOMAINS, ByDomain


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_the_truth_is_what_many_rows_show(metric):
    world = make_world("partly_shared", metric, {})
    design = world.draw(ByDomain(200_000, 200_000), np.random.default_rng(0))
    corners = world.corners()
    inside = design.features.map(lambda x: np.abs(x[:, -1]) < 4)
    for domain, whole, inner in (
        ("source", corners.source_mean, corners.mean_000),
        ("target", corners.target_mean, corners.mean_111),
    ):
        loss = design.loss[domain]
        assert loss.mean() == pytest.approx(whole, abs=0.005)
        assert loss[inside[domain]].mean() == pytest.approx(inner, abs=0.005)
        assert 1 - inside[domain].mean() == pytest.approx(ALONE[domain], abs=0.005)


def test_the_parts_are_the_steps_between_the_means():
    found = truths(make_world("partly_shared", "accuracy", {}), (), None)
    steps = [found[f"aggregate {name}"] for name in PARTS]
    assert sum(steps) == pytest.approx(found["aggregate gap"], abs=1e-12)
    assert min(map(abs, steps)) > 0.005


def test_a_draw_finds_the_region_and_adds_up_to_the_gap_exactly():
    config = plan(quick=True)[0][0]
    design = draw(make_world(config.world, config.metric, {}), config.rows, 0)
    gap = explain_design(design, (), config.settings_of(0))
    found = gap.aggregate
    assert tuple(found.parts()) == PARTS
    plain = design.loss.target.mean() - design.loss.source.mean()
    assert sum(part.value for part in found.parts().values()) == pytest.approx(plain, abs=1e-12)
    for domain in DOMAINS:
        assert gap.about.kept_share[domain] == pytest.approx(1 - ALONE[domain], abs=0.05)
