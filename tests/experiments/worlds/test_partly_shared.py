"""A world with partial overlap: its truth, and parts that add up to the gap exactly."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.analysis import draw
from experiments.partial_overlap import PARTS, plan, replicate
from experiments.worlds.by_name import make_world, truths
from whygap._explain import explain_design
from whygap.domains import DOMAINS, ByDomain


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_the_truth_is_what_many_rows_show(metric):
    world = make_world("partly_shared", metric, {})
    design = world.draw(ByDomain(200_000, 200_000), np.random.default_rng(0))
    corners = world.corners()
    inside = design.features.map(world.shared)
    for domain, whole, inner in (
        ("source", corners.source_mean, corners.mean_000),
        ("target", corners.target_mean, corners.mean_111),
    ):
        loss = design.loss[domain]
        assert loss.mean() == pytest.approx(whole, abs=0.005)
        assert loss[inside[domain]].mean() == pytest.approx(inner, abs=0.005)
        assert 1 - inside[domain].mean() == pytest.approx(world.alone[domain], abs=0.005)


def test_the_parts_are_the_steps_between_the_means():
    found = truths(make_world("partly_shared", "accuracy", {}), (), None)
    steps = [found[f"aggregate {name}"] for name in PARTS]
    assert sum(steps) == pytest.approx(found["aggregate gap"], abs=1e-12)
    assert min(map(abs, steps)) > 0.005


def test_the_truth_of_another_region_is_that_of_its_rows():
    world = make_world("partly_shared", "accuracy", {})
    same, own = world.corners_within(world.shared), world.corners()
    for name in (*PARTS, "gap"):
        assert getattr(same, name) == pytest.approx(getattr(own, name), abs=1e-12)
    design = world.draw(ByDomain(200_000, 200_000), np.random.default_rng(1))
    half = world.corners_within(lambda x: np.abs(x[:, 3]) < 0.5)
    for domain, mean in (("source", half.mean_000), ("target", half.mean_111)):
        inside = np.abs(design.features[domain][:, 3]) < 0.5
        assert design.loss[domain][inside].mean() == pytest.approx(mean, abs=0.006)
    # The place has no part in what W and Z do, so within it nothing else moves
    assert half.baseline == pytest.approx(own.baseline, abs=0.002)
    assert half.covariate == pytest.approx(own.covariate, abs=0.002)


def test_a_replicate_is_measured_against_both_regions():
    config = plan(quick=True)[0][0]
    found = replicate(config, 0)["estimates"]
    assert list(found) == [
        "aggregate gap",
        *(f"{of} {n}" for of in ("aggregate", "found") for n in PARTS),
    ]
    moved = [found[f"found {n}"][0] - found[f"aggregate {n}"][0] for n in PARTS]
    assert 0 < max(map(abs, moved)) < 0.02
    assert sum(moved) == pytest.approx(0, abs=1e-6)


def test_a_draw_finds_the_region_and_adds_up_to_the_gap_exactly():
    config = plan(quick=True)[0][0]
    world = make_world(config.world, config.metric, {})
    design = draw(world, config.rows, 0)
    gap = explain_design(design, (), config.settings_of(0))
    assert list(gap.parts) == ["source_only", *PARTS[1:-1], "target_only"]
    plain = design.loss.target.mean() - design.loss.source.mean()
    assert sum(part.value for part in gap.parts.values()) == pytest.approx(plain, abs=1e-12)
    for domain in DOMAINS:
        assert gap.about.kept_share[domain] == pytest.approx(1 - world.alone[domain], abs=0.05)
