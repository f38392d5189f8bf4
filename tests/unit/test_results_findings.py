"""Findings: every decision on what may be said, and every interval computed once."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from result_factory import make_gap, many_players

from whygap.domains import ByDomain
from whygap.estimate import Estimate
from whygap.estimate.combine import joint_covariance
from whygap.notes import Note
from whygap.render import tables
from whygap.results import (
    Finding,
    Gap,
    Gaps,
    Part,
    RatioRecord,
    Rule,
    details,
    gaps,
    load,
    points,
)
from whygap.results.finding import MAX_NAMED_VARIABLES
from whygap.results.gaps import JOINT_KINDS

NOTHING = (0.0001, 0.0001, 0.0001)
SAME_OUTCOMES = (0.804, 0.76, 0.732, 0.732)
PLAIN = {"culprits": (), "outcome": None, "covariate": None}


def of_kind(gap: Gap, *kinds: str, level: float = 0.95) -> list[Finding]:
    return [f for f in gap.findings(level) if f.kind in kinds]


def parts_of(gap: Gap, level: float = 0.95) -> dict[str, Finding]:
    return {f.part: f for f in of_kind(gap, "part", level=level)}


def named(gap: Gap, fact: str, *kinds: str) -> list[str]:
    return [f.variable or f.group for f in of_kind(gap, *kinds) if f.facts[fact]]


def actions(gap: Gap) -> list[tuple[str, str]]:
    return [(f.facts["action"], f.facts["reason"]) for f in of_kind(gap, "advice")]


# -- order, levels, intervals ----------------------------------------------------------------------


def test_kinds_come_in_the_order_they_are_said() -> None:
    problem = Note("gives_outcome", "problem", {"column": "age"})
    kinds = dict.fromkeys(f.kind for f in make_gap(notes=[problem]).findings())
    assert " ".join(kinds) == (
        "problem change part points points_rest rule group recoverable share share_base overlap "
        "trust warning advice"
    )


def test_every_finding_has_its_own_interval_at_the_level() -> None:
    gap = make_gap()
    for level in (0.8, 0.99):
        for f in gap.findings(level):
            pointwise = f.kind in ("change", "part", "points", "recoverable", "share")
            if pointwise and f.estimate is not None:
                assert f.interval == f.estimate.interval(level)
                assert f.significant == f.estimate.excludes_zero(level)
            assert f.level == (0.95 if f.kind == "rule" else level) or f.interval is None
    groups = of_kind(gap, "group", level=0.9)
    assert [f.interval for f in groups] == list(gap.affected["outcome"].simultaneous(0.9))


def test_the_level_of_the_settings_is_the_default() -> None:
    gap = make_gap()
    gap = replace(gap, about=replace(gap.about, settings={"level": 0.8}))
    assert gap.findings()[0].interval == gap.total.interval(0.8)


def test_every_interval_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gap, seen, joint = make_gap(), Counter(), []
    interval, simultaneous = Estimate.interval, details.simultaneous_intervals

    def counted(self: Estimate, level: float = 0.95) -> object:
        seen[id(self)] += 1
        return interval(self, level)

    def counted_joint(estimates: list[Estimate], covariance: object, level: float) -> object:
        joint.append(tuple(map(id, estimates)))
        return simultaneous(estimates, covariance, level)

    monkeypatch.setattr(Estimate, "interval", counted)
    monkeypatch.setattr(details, "simultaneous_intervals", counted_joint)
    monkeypatch.setattr(points.inference, "simultaneous_intervals", counted_joint)
    findings = gap.findings(0.9)
    own = [f.estimate for f in findings if f.estimate and f.kind not in ("rule", "group")]
    assert {seen[id(e)] for e in own} == {1}
    # besides: both metrics, a share of the gap per part, differences of parts that may tie
    assert sum(seen.values()) <= len({id(e) for e in own}) + 2 + 2 * len(gap.parts)
    # groups, their excess, and one for each part that has shares
    assert len(joint) == 2 + len(gap.shares)


# -- parts -----------------------------------------------------------------------------------------


def test_percentages_are_left_out_where_they_mislead() -> None:
    assert all(f.facts["share"] is not None for f in parts_of(make_gap()).values())
    against = make_gap(corners=(0.8, 0.83, 0.78, 0.70), noise=0.5)
    assert all(f.facts["share"] is None for f in parts_of(against).values())
    hardly = make_gap(corners=(0.80, 0.803, 0.803, 0.70), noise=0.3)
    assert parts_of(hardly)["outcome"].facts["share"].value > 1
    unclear = make_gap(corners=(0.8, 0.81, 0.80, 0.795))
    assert all(f.facts["share"] is None for f in parts_of(unclear).values())


@pytest.mark.parametrize("third", [0.769, 0.764])
def test_near_ties_keep_the_order_of_the_decomposition(third: float) -> None:
    parts = parts_of(make_gap(corners=(0.804, 0.80, third, 0.732), **PLAIN))
    ranks = {name: f.facts["rank"] for name, f in parts.items()}
    assert ranks == {"covariate": 1, "outcome": 2, "baseline": 3}
    assert parts["outcome"].facts["tied_with"] == ("covariate",)
    assert [f.facts["largest"] for f in parts.values()] == [False, True, True]


def test_a_near_tie_is_named_although_it_is_not_significant_itself() -> None:
    corners = (0.804, 0.804, 0.766, 0.729)
    parts = parts_of(make_gap(corners=corners, noise=1.6, baseline=(), culprits=()))
    assert [parts[name].significant for name in ("covariate", "outcome")] == [True, False]
    assert parts["outcome"].facts["named"]


def test_ties_are_the_same_in_a_result_read_back_from_its_file(tmp_path: object) -> None:
    gap = make_gap(corners=(0.804, 0.80, 0.768, 0.732))
    read = load(gap.save(tmp_path / "gap.json"))
    assert read.total.influence is None
    assert [f.facts["tied_with"] for f in parts_of(read).values()] == [
        f.facts["tied_with"] for f in parts_of(gap).values()
    ]
    assert read.summary() == gap.summary()


def test_a_part_that_nobody_knew_appears_everywhere() -> None:
    gap = make_gap()
    part = Part.named(gap.parts["outcome"] * 0.5, "Prediction", "Other predictions.")
    more = {**gap.parts, "prediction": part}
    gap = replace(gap, parts=more, part_covariance=joint_covariance(list(more.values())))
    assert list(parts_of(gap)) == ["baseline", "covariate", "outcome", "prediction"]
    text = " ".join(gap.summary().split())
    assert "Prediction (other predictions): -2.5 points (95% interval -4.0 to -0.9)" in text
    assert "prediction" in list(gap.to_frame()["part"])
    for format_ in ("text", "md"):
        assert "Prediction" in tables.render(gap, format_)
    assert "\nprediction,,part,-0.0245" in tables.render(gap, "csv")


# -- variables -------------------------------------------------------------------------------------


def test_significant_variables_are_named_and_the_rest_stands_together() -> None:
    gap = make_gap()
    assert named(gap, "named", "points") == ["age", "sex", "schooling", "ancestry"]
    rest = {f.part: f for f in of_kind(gap, "points_rest")}
    assert rest["baseline"].variable == "race"
    assert rest["covariate"].facts == {"n": 4, "n_significant": 0}
    left_out = ["mobility", "marital status", "parents' employment", "military"]
    pooled = gap.points["covariate"].combined(dict.fromkeys(left_out, 1.0))
    assert rest["covariate"].value == pytest.approx(pooled.value)
    assert rest["covariate"].interval == pytest.approx(pooled.interval(0.95))


def test_at_most_three_variables_are_named() -> None:
    gap = make_gap(covariate=many_players(30), outcome=None, corners=(0.8, 0.79, 0.70, 0.65))
    names = [f for f in of_kind(gap, "points") if f.part == "covariate"]
    assert sum(f.facts["named"] for f in names) == MAX_NAMED_VARIABLES
    assert [f.significant for f in names] == sorted((f.significant for f in names), reverse=True)


def test_where_no_variable_is_named_the_rest_has_the_interval_of_the_part() -> None:
    gap = make_gap(noise=3.0)
    (rest,) = [f for f in of_kind(gap, "points_rest") if f.part == "covariate"]
    assert rest.interval == parts_of(gap)["covariate"].interval


def test_variables_that_may_be_the_largest_are_tied() -> None:
    gap = make_gap(baseline=("age", "sex"), corners=(0.8, 0.75, 0.74, 0.7))
    tied = [f.variable for f in of_kind(gap, "points") if f.part == "baseline" and f.facts["tied"]]
    assert tied == ["age", "sex"]


def test_the_headline_names_variables_only_where_the_metric_moved() -> None:
    assert named(make_gap(), "headline", "points") == ["schooling"]
    assert named(make_gap(corners=(0.8, 0.81, 0.80, 0.795)), "headline", "points") == []


# -- affected groups -------------------------------------------------------------------------------


def of_shares(gap: Gap, share: float, rules: tuple[Rule, ...] = ()) -> Gap:
    """The same groups with the same points, each of so many rows."""
    affected = gap.affected["outcome"]
    groups = tuple(replace(group, target_share=share) for group in affected.groups)
    return replace(gap, affected={"outcome": replace(affected, groups=groups, rules=rules)})


def test_telling_rows_come_first_and_one_of_them_leads_the_headline() -> None:
    found = of_kind(make_gap(), "rule", "group")
    assert sorted(f.facts["place"] for f in found) == list(range(1, len(found) + 1))
    order = sorted(found, key=lambda f: f.facts["place"])
    telling = [f for f in order if f.facts["telling"]]
    assert order[: len(telling)] == telling
    assert [f.kind for f in telling] == ["rule", "group", "group"]
    assert [f for f in found if f.facts["headline"]] == order[:1]
    assert all(f.significant and f.facts["excess_significant"] for f in telling)


def test_rows_that_only_carry_their_share_are_told_apart() -> None:
    half = of_shares(make_gap(rules=0), 0.45)
    assert [f.kind for f in of_kind(half, "no_group", "no_excess", "no_rule")] == [
        "no_excess",
        "no_rule",
    ]
    headline = [f for f in of_kind(half, "group") if f.facts["headline"]]
    assert [f.facts["excess_significant"] for f in headline] == [False]


def test_most_rows_are_no_answer_to_who_is_affected() -> None:
    for gap in (make_gap(rules=0), make_gap()):
        rules = tuple(replace(r, target_share=0.7) for r in gap.affected["outcome"].rules)
        most = of_shares(gap, 0.7, rules)
        assert named(most, "headline", "rule", "group") == []


def test_without_significant_groups_that_is_said() -> None:
    (no_group, no_rule) = of_kind(make_gap(noise=4.0, rules=0), "no_group", "no_rule")
    assert (no_group.kind, no_rule.kind) == ("no_group", "no_rule")
    assert no_group.facts == {"n_groups": 30, "n_rules_tested": 5}


def test_equal_rows_are_telling_once_whatever_they_are_called() -> None:
    gap = make_gap()
    affected = gap.affected["outcome"]
    (rule, *_), (group, *others) = affected.rules, affected.groups
    twin = replace(group, target_share=rule.target_share, points=rule.points)
    doubled = replace(gap, affected={"outcome": replace(affected, groups=(twin, *others))})
    telling = [f for f in of_kind(doubled, "rule", "group") if f.facts["telling"]]
    assert (twin.variable, twin.label) not in [(f.variable, f.group) for f in telling]
    assert sum(f.kind == "rule" for f in telling) == 1


def test_the_change_within_a_group_is_widened_as_its_points_are() -> None:
    for f in of_kind(make_gap(), "group", level=0.9)[:5]:
        points_width = (f.interval.high - f.interval.low) / f.estimate.standard_error
        change, ends = f.facts["change"], f.facts["change_interval"]
        assert (ends.high - ends.low) / change.standard_error == pytest.approx(points_width)


def test_rows_of_a_metric_that_is_no_mean_are_compared_with_the_average_row() -> None:
    gap = make_gap(metric="auc")
    for f in of_kind(gap, "group"):
        assert f.facts["change"] is None
        expected = f.value / f.facts["target_share"] / gap.parts["outcome"].value
        assert f.facts["times_average"] == pytest.approx(expected)


# -- recoverable error and shares ------------------------------------------------------------------


def test_recoverable_terms() -> None:
    terms = of_kind(make_gap(), "recoverable")
    by_term = {f.facts["term"]: f for f in terms if not f.variable}
    assert list(by_term) == [
        *("total", "recalibration", "irreducible", "reweighted", "source", "added"),
    ]
    inner = sum(f.value for f in terms if f.variable) + by_term["recalibration"].value
    assert inner == pytest.approx(by_term["total"].value, abs=1e-12)
    assert by_term["total"].facts["of_error"] == pytest.approx(0.07)
    assert [f.variable for f in terms if f.facts.get("named")] == ["age", "sex", "race"]
    assert [f.variable for f in terms if f.facts.get("leads")] == ["age"]


def test_shares_come_largest_first_with_ranks_and_ties() -> None:
    gap = make_gap()
    shares = [f for f in of_kind(gap, "share") if f.part == "outcome"]
    assert [f.variable for f in shares] == list(gap.shares["outcome"].players)
    ranks = gap.shares["outcome"].ranking(0.95)
    assert [f.facts["rank"] for f in shares] == [(r.best, r.worst) for r in ranks.values()]
    assert [f.variable for f in shares if f.facts["tied"]] == ["schooling", "ancestry"]


def test_shares_lead_the_headline_only_where_nothing_plainer_does() -> None:
    assert named(make_gap(), "headline", "share") == []
    assert named(make_gap(culprits=()), "headline", "share") == [
        *("schooling", "schooling", "ancestry"),
    ]


# -- advice ----------------------------------------------------------------------------------------

ADVICE = [
    ({}, [("revise", "")]),
    ({"recalibration": 0.8}, [("recalibrate", ""), ("revise", "")]),
    ({"won_back": NOTHING, "corners": SAME_OUTCOMES}, [("leave", "harder_rows")]),
    ({"won_back": NOTHING}, [("leave", "outcome_differs")]),
    ({"won_back": NOTHING, "corners": (0.7, 0.72, 0.74, 0.8)}, [("leave", "no_gain")]),
    ({"rows": (60, 40), "rules": 0}, [("collect_labels", ""), ("more_rows", "")]),
    ({"won_back": (0.03, 0.02, 0.0001)}, [("revise", "")]),
    (
        {"won_back": (0.03, 0.02, 0.0001), "corners": SAME_OUTCOMES},
        [("revise", ""), ("reweight", "")],
    ),
    (
        {"won_back": (0.0112, 0.0306, 0.0001), "corners": SAME_OUTCOMES},
        [("revise", "")],
    ),
    ({"notes": [Note("gives_outcome", "problem", {"column": "age"})]}, [("resolve_problems", "")]),
    (PLAIN, [("ask_recoverable", "outcome_differs")]),
    (PLAIN | {"corners": SAME_OUTCOMES}, [("ask_recoverable", "mix_differs")]),
    (PLAIN | {"corners": (0.7, 0.72, 0.74, 0.8)}, [("leave", "better")]),
]


@pytest.mark.parametrize(("case", "steps"), ADVICE)
def test_advice_follows_from_what_is_significant(
    case: dict[str, object], steps: list[tuple[str, str]]
) -> None:
    assert actions(make_gap(**case)) == steps


def test_reweighting_is_no_advice_where_tables_hardly_overlap() -> None:
    gap = make_gap(won_back=(0.03, 0.02, 0.0001), corners=SAME_OUTCOMES)
    ratio = RatioRecord("pi_wz", "baseline and covariates", 40.0, 1600, 300.0, 0.0, 0.99)
    thin = replace(gap, diagnostics=replace(gap.diagnostics, ratios=(ratio,)))
    assert ("reweight", "") in actions(gap)
    assert ("reweight", "") not in actions(thin)


def test_tables_that_cannot_be_compared_are_compared_again_first() -> None:
    gap = replace(make_gap(culprits=("recoverable",)), parts={}, reason="They share nothing.")
    assert gap.findings()[0].facts == {"reason": "They share nothing."}
    assert actions(gap) == [("resolve_problems", "not_comparable"), ("revise", "")]


# -- several targets -------------------------------------------------------------------------------

TARGETS = {
    "March": make_gap(corners=(0.80, 0.80, 0.79, 0.78), seed=1),
    "April": make_gap(corners=(0.80, 0.79, 0.77, 0.70), seed=2),
    "May": make_gap(corners=(0.80, 0.79, 0.77, 0.77), seed=3),
}


def together(by_target: dict[str, Gap], kind: str) -> dict[str, Finding]:
    return {f.facts["target"]: f for f in gaps.findings_on_all(by_target, 0.95) if f.kind == kind}


def test_intervals_of_all_targets_cover_together_whatever_the_source_does() -> None:
    """The source's error is in every gap: they are correlated, and the product bound holds."""
    gap, rng, covered, rounds = make_gap(**PLAIN), np.random.default_rng(0), 0, 400
    for _ in range(rounds):
        values = rng.normal(0, 1, 12) + rng.normal(0, 1)
        by_target = {
            str(k): replace(gap, total=Estimate(v, math.sqrt(2)), parts={})
            for k, v in enumerate(values)
        }
        covered += not any(f.significant for f in together(by_target, "target_change").values())
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / rounds) < covered / rounds < 0.985


def test_the_name_of_a_target_replaces_no_fact_of_its_findings() -> None:
    many = gaps.Gaps(TARGETS)
    for name, gap in TARGETS.items():
        own = [f.facts for f in many.findings() if f.facts["target"] == name]
        alone = [f.facts for f in gap.findings()]
        assert not any("target" in facts for facts in alone)
        assert [facts["target_metric"] for facts in own if "target_metric" in facts] == [gap.target]


def test_one_target_has_its_own_findings_alone() -> None:
    findings = Gaps({"B": make_gap()}).findings(0.9)
    assert not [f for f in findings if f.kind in JOINT_KINDS]
    assert [f.kind for f in findings] == [f.kind for f in make_gap().findings(0.9)]


def test_targets_are_looked_at_together() -> None:
    changes = together(TARGETS, "target_change")
    assert list(changes) == list(TARGETS)
    assert [f.facts["most"] for f in changes.values()] == [False, True, False]
    own = 0.95 ** (1 / 3)
    assert changes["May"].interval == TARGETS["May"].total.interval(own)
    without = TARGETS | {"June": make_gap(baseline=())}
    lists = [f for f in Gaps(without).findings() if f.kind == "target_part"]
    assert [f.facts["target"] for f in lists if f.part == "baseline"] == list(TARGETS)
    assert [f.facts["target"] for f in lists if f.part == "outcome"] == list(without)


def test_rows_used_are_facts() -> None:
    gap = make_gap()
    gap = replace(gap, about=replace(gap.about, kept_share=ByDomain(0.8, 0.95)))
    (trust,) = of_kind(gap, "trust")
    assert trust.facts["rows"] == (1600, 700)
    assert trust.facts["kept_share"] == (0.8, 0.95)
