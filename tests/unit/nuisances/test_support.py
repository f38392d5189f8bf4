"""Where the tables can be compared: the region, the parts beside it, and what separates them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from learning_designs import make_design, shifted_design
from scipy import special

import whygap as wg
from whygap._explain import explain_design
from whygap.domains import ByDomain
from whygap.nuisances.overlap import fit_ratios_alone
from whygap.nuisances.separators import find_separators
from whygap.nuisances.support import Edges, Region, find_region
from whygap.settings import Settings
from whygap.tables.design import Column

FAST = Settings(learner="fast", progress=False)
EDGES = Edges(0.05, 0.95)


def partly_shared():
    """A tenth of the source and a fifth of the target lie where the other table has no rows."""
    rng = np.random.default_rng(0)
    source, target = rng.normal(size=(600, 2)), rng.normal(size=(600, 2))
    source[:60, 1] += 20
    target[:120, 1] -= 20
    return make_design(source, target)


def region_of(design):
    return find_region(fit_ratios_alone(design, FAST).wz)


def test_what_is_kept_is_counted_by_weight():
    design = partly_shared()
    heavy = np.where(np.arange(600) < 120, 3.0, 1.0)  # those that lie elsewhere
    design = replace(design, weights=ByDomain(np.ones(600), heavy))
    region = region_of(design)
    assert region.kept.source == pytest.approx(0.9, abs=0.02)
    assert region.kept.target == pytest.approx(480 / (480 + 360), abs=0.02)
    assert region.largest_ratio == pytest.approx(19 * 0.9 / (480 / 840), rel=0.05)


def test_rows_without_weight_have_no_say_in_where_the_region_ends():
    design = partly_shared()
    nothing = np.where(np.arange(600) < 120, 0.0, 1.0)
    region = region_of(replace(design, weights=ByDomain(np.ones(600), nothing)))
    assert region.kept.target == pytest.approx(1.0, abs=0.02)
    assert region.edges.high == 0.95


def test_the_region_holds_rows_that_either_domain_could_have_produced():
    design = partly_shared()
    region = region_of(design)
    assert region.kept.source == pytest.approx(0.9, abs=0.02)
    assert region.kept.target == pytest.approx(0.8, abs=0.02)
    inner = design.take(region.rows)
    assert np.abs(inner.features.source[:, 1]).max() < 10
    assert not region.is_too_small


def test_no_ratio_within_the_region_exceeds_what_its_definition_allows():
    rng = np.random.default_rng(1)
    region = Region(ByDomain(np.arange(90), np.arange(80)), ByDomain(0.9, 0.8), EDGES)
    assert region.largest_ratio == pytest.approx(19 * 0.9 / 0.8)
    # Exactly so in a world of atoms: p_1 / p_0 on the atoms where 5% < P(target) < 95%
    source, target = rng.dirichlet(np.full(400, 0.3), size=2)
    inside = np.abs(target / (source + target) - 0.5) < 0.45
    kept = ByDomain(float(source[inside].sum()), float(target[inside].sum()))
    ratio = (target[inside] / kept.target) / (source[inside] / kept.source)
    bound = Region(ByDomain(np.arange(1), np.arange(1)), kept, EDGES).largest_ratio
    assert 0.8 * bound < ratio.max() <= bound


@pytest.mark.parametrize("support", ["auto", "common"])
def test_five_parts_add_up_to_the_plain_gap(support):
    design = partly_shared()
    gap = explain_design(design, (), replace(FAST, support=support))
    assert list(gap.parts) == ["source_only", "baseline", "covariate", "outcome", "target_only"]
    plain = design.loss.target.mean() - design.loss.source.mean()
    assert gap.total.value == pytest.approx(plain, abs=1e-12)
    total = sum(gap.parts.values(), gap.total * 0)
    assert total.value == pytest.approx(plain, abs=1e-12)
    assert total.standard_error == pytest.approx(gap.total.standard_error, rel=1e-9)


def test_the_outer_parts_are_plain_means_with_plain_errors():
    design = partly_shared()
    part = explain_design(design, (), replace(FAST, support="common")).parts["target_only"]
    loss = design.loss.target
    rows = region_of(design).rows.target
    inside = np.isin(np.arange(len(loss)), rows)
    share = inside.mean()
    influence = (loss - loss.mean()) - inside * (loss - loss[inside].mean()) / share
    assert part.value == pytest.approx(loss.mean() - loss[inside].mean(), abs=1e-12)
    expected = influence.std(ddof=1) / np.sqrt(len(loss))
    assert part.standard_error == pytest.approx(expected, rel=1e-6)


def test_good_overlap_needs_no_region():
    design = shifted_design((500, 400))
    one, other = (
        explain_design(design, (), replace(FAST, support=support)) for support in ("auto", "all")
    )
    assert list(one.parts) == ["baseline", "covariate", "outcome"]
    assert one.parts["covariate"].value == other.parts["covariate"].value


def test_tables_that_share_nothing_have_a_gap_and_a_reason():
    rng = np.random.default_rng(0)
    source = np.column_stack([rng.normal(size=300), rng.normal(50, 5, size=300)])
    target = np.column_stack([rng.normal(size=300), 1000 * rng.normal(50, 5, size=300)])
    gap = explain_design(make_design(source, target), ("points", "recoverable"), FAST)
    assert not gap.comparable
    assert gap.parts == {}
    assert gap.total.standard_error > 0
    assert gap.points == {}
    assert gap.recoverable is not None
    assert gap.recoverable.reweighted is None
    assert gap.reason.startswith("The tables share too little to compare them: only ")
    assert "other units: the target's median is" in gap.reason


def columns(source, target, **changes):
    design = make_design(source, target)
    return replace(design, columns=(design.columns[0], replace(design.columns[1], **changes)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda x: x * 1000, "other units: the target's median is "),
        (lambda x: x + 40, "other units: the target's median is "),
        (lambda x: x - 60, "another origin: the target's values lie -"),
        (lambda x: np.ones_like(x), "constant in the target"),
        (lambda x: x * np.nan, "empty in the target"),
    ],
)
def test_what_a_column_looks_like(change, text):
    rng = np.random.default_rng(1)
    source = np.column_stack([rng.normal(size=400), rng.normal(50, 2, size=400)])
    target = np.column_stack([rng.normal(size=400), change(rng.normal(50, 2, size=400))])
    (found,) = find_separators(make_design(source, target))
    assert found.looks_like.startswith(text)


def test_codes_and_levels_that_are_written_differently():
    rng = np.random.default_rng(2)
    first = rng.normal(size=400)
    source = np.column_stack([first, rng.integers(0, 2, 400)])
    target = np.column_stack([first, rng.integers(1, 3, 400) + 2])
    (codes,) = find_separators(make_design(source, target))
    assert codes.values == "0 and 1 in the source, 3 and 4 in the target"
    levels = ("Yes", "no", "yes", "No")
    target = np.column_stack([first, rng.integers(2, 4, 400)])
    design = make_design(source, target)
    named = (design.columns[0], Column(design.columns[1].name, "category", levels))
    (text,) = find_separators(replace(design, columns=named))
    assert text.values == "'no' in the source, 'No' in the target"


def label_shift(rows, positives, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < positives).astype(int)
    a, b = rng.normal(size=(2, rows)) + 0.5 * y
    return pd.DataFrame({"a": a, "b": b, "y": y, "risk": special.expit(0.5 * a + 0.5 * b - 3)})


@pytest.mark.parametrize("metric", ["auc", "brier"])
def test_ratios_that_know_the_outcome_have_no_bound_in_a_region(metric):
    """p_1(y) / p_0(y) may be anything however alike W and Z are: here it is 40 of the positives."""
    tables = {"source": label_shift(4000, 0.015, 1), "target": label_shift(2000, 0.6, 2)}
    roles = {"outcome": "y", "prediction": "risk", "metric": metric, "order": "outcome first"}
    study = wg.Study(**tables, **roles)
    everywhere, region = (
        wg.explain(study, detail="points", settings=replace(FAST, support=support))
        for support in ("all", "common")
    )
    assert region.about.kept_share == everywhere.about.kept_share == ByDomain(1.0, 1.0)
    for name, part in everywhere.parts.items():
        assert region.parts[name].value == pytest.approx(part.value, abs=1e-9)
    shown = {record.name: record.largest_weight for record in region.diagnostics.ratios}
    assert list(shown) == ["pi_w", "pi_wy", "pi_wz"]
    assert shown["pi_wy"] > 30
