"""Years of weekly looks: the page, MAPIE's monitor, a planted shift, the law of null years."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from experiments import monitoring
from experiments.simulation import Order
from whygap._version import ENGINE
from whygap._watch.alarms import broken
from whygap._watch.rules import allowance
from whygap.estimate import Estimate

YEARS, WEEKS = 4000, 52


@pytest.mark.parametrize("shared", [0.0, 0.15, 0.8])
def test_at_most_one_null_year_in_twenty_has_a_false_alarm_whatever_looks_share(shared):
    """Estimates of a year by their joint law: `shared` of their variance is the source's."""
    rng = np.random.default_rng(1)
    own = rng.normal(size=(YEARS, WEEKS)) * np.sqrt(1 - shared)
    estimates = own + rng.normal(size=(YEARS, 1)) * np.sqrt(shared)
    share = [allowance(look, 0.05, WEEKS) for look in range(1, WEEKS + 1)]
    false = (estimates + stats.norm.isf(share) < 0).any(axis=1).mean()
    assert false <= 0.05
    rule = monitoring.rule("outcome", 0.0)
    for look, value in enumerate(estimates[0], start=1):
        alarm = broken(rule, Estimate(value, 1.0), share[look - 1]) is not None
        assert alarm == (value + stats.norm.isf(share[look - 1]) < 0)


def test_one_update_of_mapie_s_monitor_speaks_when_weekly_ones_would():
    pytest.importorskip("mapie")
    from mapie.exchangeability_testing import RiskMonitoring

    rng = np.random.default_rng(0)
    source = monitoring.week(400, 1.5, rng)
    weeks = [monitoring.week(60, slope, rng) for slope in (1.5, 0.0, -3.0, -3.0, -3.0)]
    monitor = RiskMonitoring(risk="accuracy", tolerance=monitoring.TOLERATED, warn=False)
    monitor.compute_threshold(*monitoring._labels(source))
    spoke = [monitor.update(*monitoring._labels(one)).harmful_shift_detected for one in weeks]
    first = spoke.index(True) + 1 if True in spoke else len(weeks) + 1
    assert monitoring.mapie_week(source, weeks) == first <= len(weeks)


@pytest.mark.slow
def test_a_large_shift_is_found_no_later_than_mapie_would():
    pytest.importorskip("mapie")
    years = [monitoring.shifted_year("large", seed) for seed in range(2)]
    for year in years:
        assert year["weeks"] <= 1.5 * year["mapie_started_then"]
        assert year["weeks"] <= 1.5 * year["mapie"]


def test_the_page_is_written_from_what_is_kept(tmp_path):
    folder = tmp_path / "monitoring"
    folder.mkdir()
    null = {"kind": "null", "first": {"gap": None, "outcome": 7}, "engine": ENGINE,
            "uncorrected": {"gap": 2, "outcome": 0}}  # fmt: skip
    large = {"kind": "large", "weeks": 2, "mapie": 28, "mapie_started_then": 5, "engine": ENGINE}
    lines = [null | {"seed": 0}, null | {"seed": 1, "first": {"gap": None, "outcome": None}}]
    lines += [large | {"seed": 0, "variables": ["lab"]}]
    lines += [
        large | {"seed": 1, "variables": ["dose", "lab"]},
        large | {"seed": 2, "variables": []},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "years.jsonl").write_text(text, encoding="utf-8")
    page = monitoring.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    assert "| outcome | 2 | 1 | .500 | 0 |" in page
    assert "| gap | 2 | 0 | .000 | 2 |" in page
    weeks = "| 2 (mean 2.0) | 28 (mean 28.0, not in the year: 3) | 5 (mean 5.0) |"
    assert f"{weeks} 1 of 2 | 2 of 2 | 1.5 |" in page
