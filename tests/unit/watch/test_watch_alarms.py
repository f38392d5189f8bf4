"""Rules: how they are read, how their errors are spread, what an alarm says."""

from __future__ import annotations

import math

import pytest
from watch_stream import MONTHS, SHIFTED, month, watched

from whygap._watch.rules import allowance, read_alerts
from whygap.errors import InputError

RULE = {"name": "outcome slipped", "part": "outcome", "below": "-2 points"}


@pytest.mark.parametrize("looks", [1, 10, 52])
def test_the_errors_of_all_looks_add_up_to_no_more_than_one(looks):
    spent = math.fsum(allowance(look, 0.05, looks) for look in range(1, 200 * looks + 1))
    assert 0.0495 < spent <= 0.05


def test_the_first_looks_are_treated_alike_and_later_ones_more_strictly():
    assert allowance(1, 0.05, 52) == allowance(52, 0.05, 52)
    assert allowance(53, 0.05, 52) == pytest.approx(allowance(52, 0.05, 52) / 4)


def test_rules_are_read_from_a_file(tmp_path):
    file = tmp_path / "alerts.toml"
    file.write_text(
        'level = 0.9\nlooks = 12\nacknowledged = ["2025-01"]\n'
        '[[rule]]\npart = "outcome"\nbelow = "-2 points"\n'
        '[[rule]]\nname = "age"\npart = "baseline"\nvariable = "age"\nabove = 0.1\nlevel = 0.99\n'
    )
    alerts = read_alerts(file)
    first, second = alerts.rules
    assert (first.name, first.below, first.above) == ("outcome below -2 points", -0.02, None)
    assert first.error == pytest.approx(0.05)  # half of what the file allows
    assert (second.variable, second.above, second.error) == ("age", 0.1, pytest.approx(0.01))
    assert (alerts.looks, alerts.acknowledged) == (12, ("2025-01",))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({}, "The rules: there is no rule. Begin one with [[rule]]."),
        ({"rules": []}, "The rules: there is no key 'rules'. Did you mean 'rule'?"),
        ({"rule": [3]}, "The rules: a rule must be a table. Got 3."),
        ({"rule": [{"prat": "gap"}]}, "The rules: a rule has no key 'prat'. Did you mean 'part'?"),
        ({"rule": [{"part": "outcme"}]}, "The rules: there is no part 'outcme'. Did you mean"),
        ({"rule": [{"part": "gap"}]}, "The rules: a rule says either below or above. Got neither."),
        (
            {"rule": [{"below": 0, "above": 1}]},
            "The rules: a rule says either below or above. Got below and above.",
        ),
        ({"rule": [{"below": "low"}]}, "The rules: below must be a number in the metric's units"),
        ({"rule": [{"below": True}]}, "The rules: below must be a number in the metric's units"),
        ({"rule": [{"below": math.nan}]}, "The rules: below must be a number in the metric's un"),
        ({"rule": [{"above": math.inf}]}, "The rules: above must be a number in the metric's un"),
        ({"rule": [RULE, RULE]}, "The rules: two rules have one name. Got outcome slipped, "),
        ({"rule": [RULE], "level": 2}, "The rules: level must lie between 0 and 1. Got 2."),
        ({"rule": [RULE | {"level": 2}]}, "The rules: level must lie between 0 and 1. Got 2."),
        ({"rule": [RULE], "looks": 0}, "The rules: looks must be a whole number from 1. Got 0."),
        ({"rule": [RULE], "acknowledged": "a"}, "The rules: acknowledged must be a list of target"),
        (
            {"rule": [RULE | {"variable": "a"}]},
            "The rules: only the baseline and the covariate part have points of variables. Got 'a'",
        ),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules, words):
    with pytest.raises(InputError) as caught:
        read_alerts(rules)
    assert str(caught.value).startswith(words)


def test_a_rule_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "alerts.toml").write_text("[[rule")
    with pytest.raises(InputError, match="is not valid TOML"):
        read_alerts(tmp_path / "alerts.toml")
    with pytest.raises(InputError, match=r"does not exist. Did you mean 'alerts.toml'\?"):
        read_alerts(tmp_path / "alert.toml")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alarms")
    return watched(folder, detail=("points", "affected"), rules={"rule": [RULE]})


def test_the_planted_shift_alone_raises_an_alarm_that_names_everything(found):
    [alarm] = found.alarms
    assert found.code == 1
    assert (alarm.target, alarm.look, alarm.rule) == (SHIFTED, 3, "outcome slipped")
    assert (alarm.part, alarm.metric, alarm.limit) == ("outcome", "accuracy", -0.02)
    assert alarm.variables == ("a", "w")  # bent along a; 300 rows do not tell it from w
    text = str(alarm)
    assert text.startswith(f"{SHIFTED}: rule 'outcome slipped' is broken. The outcome part of ")
    assert "over all looks, below -2.0 points; most of it through a or w, which cannot be " in text


def test_an_alarm_leaves_out_the_limit_at_the_look_s_own_level(found):
    [alarm] = found.alarms
    outcome = found[SHIFTED].parts["outcome"]
    high = outcome.interval(1 - 2 * allowance(3, 0.05, 52))[1]
    assert alarm.bound == high < -0.02
    assert outcome.interval(0.95)[1] < high


def test_an_alarm_that_is_acknowledged_counts_no_more(found):
    rules = {"rule": [RULE], "acknowledged": [SHIFTED]}
    again = watched(found.folder, detail=("points", "affected"), rules=rules)
    assert again.fresh == ()
    assert len(again.alarms) == 1
    assert again.code == 0
    assert "(acknowledged)" in again.summary()


@pytest.mark.parametrize(
    ("rule", "first"),
    [
        ({"part": "gap", "below": -0.02}, "a"),
        ({"part": "covariate", "variable": "a", "above": -1.0}, "a"),
        ({"part": "baseline", "above": -1.0}, "w"),
    ],
)
def test_rules_of_any_part_and_of_a_variable_s_points(found, rule, first):
    again = watched(found.folder, detail=("points", "affected"), rules={"rule": [rule]})
    alarm = next(alarm for alarm in again.alarms if alarm.target == SHIFTED)
    assert alarm.variables[0] == first


@pytest.mark.parametrize(
    ("detail", "got"), [((), "no details"), (("affected",), "the details 'where'")]
)
def test_a_rule_on_points_that_are_not_asked_for_is_refused(tmp_path, detail, got):
    rule = {"name": "a", "part": "covariate", "variable": "a", "above": 0.0}
    with pytest.raises(InputError) as caught:
        watched(tmp_path / "none", detail=detail, rules={"rule": [rule]})
    assert str(caught.value) == (
        f"The rule 'a' is about the points of 'a', which are not asked for. Got {got}. Add "
        "'points' to the details, or leave out the rule."
    )
    assert not (tmp_path / "none").exists()


def test_a_variable_without_points_is_refused(found):
    rule = {"part": "covariate", "variable": "aa", "above": 0.0}
    with pytest.raises(InputError, match=r"which has no points there. Did you mean 'a'\?"):
        watched(found.folder, detail=("points", "affected"), rules={"rule": [rule]})


def test_points_are_refused_where_the_metric_is_no_share(tmp_path):
    from small_study import fast
    from watch_stream import stream_study

    import whygap as wg

    study = stream_study(metric="log_loss")
    with pytest.raises(InputError, match="is in points, which 'log_loss' does not have"):
        wg.watch(
            study,
            {"a": month(MONTHS[0])},
            into=tmp_path,
            detail=(),
            settings=fast(),
            rules={"rule": [RULE]},
        )
