"""Rules: how they are read, how their errors are spread, what an alarm says."""

from __future__ import annotations

import math

import pytest
from watch_stream import MONTHS, SHIFTED, month, watched

from whygap._watch.rules import allowance, read_rules
from whygap.errors import InputError

RULE = {"name": "outcome slipped", "part": "outcome", "below": -0.02}
DETAIL = ("points", "affected")


@pytest.mark.parametrize("looks", [1, 10, 52])
def test_the_errors_of_all_looks_add_up_to_no_more_than_one(looks):
    spent = math.fsum(allowance(look, 0.05, looks) for look in range(1, 200 * looks + 1))
    assert 0.0495 < spent <= 0.05


def test_the_first_looks_are_treated_alike_and_later_ones_more_strictly():
    assert allowance(1, 0.05, 52) == allowance(52, 0.05, 52) == 0.05 * 6 / math.pi**2 / 52
    assert allowance(53, 0.05, 52) == pytest.approx(allowance(52, 0.05, 52) / 4)


def test_rules_are_read_from_a_file(tmp_path):
    file = tmp_path / "alerts.toml"
    file.write_text(
        'level = 0.9\nlooks = 12\nacknowledged = ["2025-01"]\n'
        '[[rule]]\npart = "outcome"\nbelow = -0.02\n'
        '[[rule]]\nname = "age"\npart = "baseline"\nvariable = "age"\nabove = 0.1\nlevel = 0.99\n'
    )
    rules = read_rules(file)
    first, second = rules.rule
    assert (first.title, first.below, first.above) == ("outcome below -0.02", -0.02, None)
    assert rules.error(first, 1) == pytest.approx(allowance(1, 0.05, 12))  # half of the file's
    assert rules.error(second, 13) == pytest.approx(allowance(13, 0.01, 12))
    assert (second.title, second.variable, second.above) == ("age", "age", 0.1)
    assert rules.acknowledged == ("2025-01",)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (3, "The rules must map keys to values. Got an object of type int."),
        ({}, "The key 'rule' is missing in the rules."),
        ({"rules": []}, "There is no key 'rules' in the rules. Did you mean 'rule'?"),
        ({"rule": [3]}, "Rule 1 of the rules must map keys to values. Got an object of type int."),
        (
            {"rule": [{"prat": "gap"}]},
            "There is no key 'prat' in rule 1 of the rules. Did you mean",
        ),
        (
            {"rule": [{"part": "outcme", "below": 0}]},
            "The key 'part' in rule 1 of the rules must be 'total', ",
        ),
        ({"rule": [RULE, {}]}, "The rule on the total needs either below or above."),
        ({"rule": [{"below": 0, "above": 1}]}, "The rule on the total needs either below or above"),
        (
            {"rule": [{"below": "-2"}]},
            "The key 'below' in rule 1 of the rules must be a number. Got '-2'",
        ),
        ({"rule": [{"below": True}]}, "The key 'below' in rule 1 of the rules must be a number."),
        (
            {"rule": [{"above": math.inf}]},
            "The key 'above' in rule 1 of the rules must be a finite number.",
        ),
        ({"rule": [RULE, RULE]}, "Rules must have different names. Got 'outcome slipped', "),
        ({"rule": [RULE], "level": 2}, "The key 'level' in the rules must be less than 1. Got 2."),
        (
            {"rule": [RULE | {"level": 0}]},
            "The key 'level' in rule 1 of the rules must be greater than 0.",
        ),
        (
            {"rule": [RULE], "looks": 0},
            "The key 'looks' in the rules must be greater than or equal to 1.",
        ),
        (
            {"rule": [RULE], "acknowledged": "a"},
            "The key 'acknowledged' in the rules must be a valid tuple.",
        ),
        (
            {"rule": [RULE | {"variable": "a"}]},
            "The rule on the outcome of a needs part = 'baseline' or 'covariate'.",
        ),
        ("alert.toml", "The rule file 'alert.toml' does not exist. Did you mean 'alerts.toml'?"),
        ("alerts.toml", "The rule file 'alerts.toml' is not valid TOML. Got "),
    ],
)
def test_rules_that_make_no_sense_are_refused(tmp_path, monkeypatch, rules, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.toml").write_text("[[rule")
    with pytest.raises(InputError) as caught:
        read_rules(rules)
    assert str(caught.value).startswith(words)


def test_a_wrong_part_is_met_with_the_closest():
    with pytest.raises(InputError, match=r"Got 'outcme'. Did you mean 'outcome'\?$"):
        read_rules({"rule": [{"part": "outcme", "below": 0}]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("alarms")


@pytest.fixture(scope="module")
def found(folder):
    return watched(folder, detail=DETAIL, rules={"rule": [RULE]})


def test_the_planted_shift_alone_raises_an_alarm_that_names_everything(found):
    [alarm] = found.alarms
    assert found.exit_code == 1
    assert (alarm.target, alarm.rule) == (SHIFTED, "outcome slipped")
    assert (alarm.part, alarm.metric, alarm.limit) == ("outcome", "accuracy", -0.02)
    assert alarm.variables == ("a", "w")  # bent along a; 300 rows do not tell it from w
    text = str(alarm)
    assert text.startswith(f"{SHIFTED}: rule 'outcome slipped' is broken. The outcome part of ")
    assert "over all looks, below -2.0 points; most of it through a or w, which cannot be " in text
    assert "rule 'outcome slipped' is broken" in found.summary()


def test_an_alarm_leaves_out_the_limit_at_the_look_s_own_level(found):
    [alarm] = found.alarms
    outcome = found.gaps[SHIFTED].parts["outcome"]
    assert alarm.estimate == outcome
    assert alarm.level == 1 - 2 * allowance(3, 0.05, 52)
    assert alarm.interval == outcome.interval(alarm.level)
    assert outcome.interval(0.95)[1] < alarm.interval[1] < -0.02


def test_an_alarm_that_is_acknowledged_counts_no_more(found, folder):
    rules = {"rule": [RULE], "acknowledged": [SHIFTED]}
    again = watched(folder, detail=DETAIL, rules=rules)
    assert again.newly_explained == ()
    assert len(again.alarms) == 1
    assert again.exit_code == 0
    assert "(acknowledged)" in " ".join(again.summary().split())


@pytest.mark.parametrize(
    ("rule", "first"),
    [
        ({"part": "total", "below": -0.02}, "a"),
        ({"part": "covariate", "variable": "a", "above": -1.0}, "a"),
        ({"part": "baseline", "above": -1.0}, "w"),
    ],
)
def test_rules_of_any_part_and_of_a_variable_s_points(found, folder, rule, first):
    again = watched(folder, detail=DETAIL, rules={"rule": [rule]})
    alarm = next(alarm for alarm in again.alarms if alarm.target == SHIFTED)
    assert alarm.variables[0] == first


def test_a_rule_on_points_needs_points_and_a_variable_that_has_them(found, folder, tmp_path):
    rule = {"name": "a", "part": "covariate", "variable": "aa", "above": 0.0}
    with pytest.raises(InputError, match="is about points, which are not asked for"):
        watched(tmp_path / "none", detail="affected", rules={"rule": [rule]})
    assert not (tmp_path / "none").exists()
    with pytest.raises(InputError, match=r"which has no points there. Did you mean 'a'\?"):
        watched(folder, detail=DETAIL, rules={"rule": [rule]})


ODD = 'site "B"\\north\nward {1}, ü'


def test_prometheus_reads_every_number_back(tmp_path):
    parser = pytest.importorskip("prometheus_client.parser")
    targets = {ODD: month(MONTHS[0]), SHIFTED: month(SHIFTED), "spoilt": month(SHIFTED)[["w"]]}
    seen = watched(tmp_path, targets, detail="points", rules={"rule": [RULE]})
    text = seen.to_prometheus(tmp_path / "metrics.prom", 0.9).read_text(encoding="utf-8")
    samples = [s for family in parser.text_string_to_metric_families(text) for s in family.samples]
    numbers = {(s.name, *s.labels.values()): s.value for s in samples}
    keys = {(s.name, frozenset(s.labels.items())): s.value for s in samples}
    for part, estimate in seen.gaps[ODD].parts.items():
        labels = frozenset({"target": ODD, "kind": "part", "part": part, "term": ""}.items())
        ends = tuple(keys[f"whygap_{name}", labels] for name in ("estimate", "low", "high"))
        assert ends == (estimate.value, *estimate.interval(0.9))
    labels = {"target": ODD, "kind": "points", "part": "covariate", "term": "a"}
    assert (
        keys["whygap_estimate", frozenset(labels.items())]
        == seen.gaps[ODD].points["covariate"]["a"].value
    )
    trusted = {key[1]: value for key, value in numbers.items() if key[0] == "whygap_trusted"}
    assert trusted == {ODD: 1.0, SHIFTED: 1.0, "spoilt": 0.0}
    [alarm] = [s.labels for s in samples if s.name == "whygap_alarm"]
    assert (alarm["target"], alarm["rule"], alarm["part"]) == (SHIFTED, RULE["name"], "outcome")
