"""The worlds that judge."""

import json

from experiments import judging, semisynthetic, simulation
from experiments.worlds import VERSION


def test_the_worlds_that_judge_are_none_of_those_that_rules_were_chosen_on(tmp_path):
    planned = judging.plan(quick=False, folder=tmp_path)
    assert [count for _, count in planned] == [0] * 9
    assert {p.name for p in judging.KNOWN} & {p.name for p in semisynthetic.KNOWN} == set()
    page = judging.run(simulation.Order(tmp_path, jobs=0)).read_text()
    assert page.count("Not run.") == 4
    assert "outcome denominator" not in page


def test_a_world_says_how_large_its_outcome_denominator_is_and_how_wide_its_interval(tmp_path):
    config = judging.plan(quick=False, folder=tmp_path)[0][0]
    truths = dict.fromkeys(("outcome denominator", *PARTS), 0.5)
    estimates = {name: [0.4, 0.1, 0.3, 0.6, 0.4] for name in truths}
    line = {"config": config.label, "engine": 5, "cpu_seconds": 1.0, "estimates": estimates}
    draws = [{**line, "seed": k, "defined": {"outcome": k < 3}} for k in range(4)]
    folder = tmp_path / "judging"
    folder.mkdir()
    (folder / "replicates.jsonl").write_text("".join(json.dumps(d) + "\n" for d in draws))
    kept = {"worlds": VERSION, "truths": {config.label: truths}}
    (folder / "truths.json").write_text(json.dumps(kept))
    page = judging.run(simulation.Order(tmp_path, jobs=0)).read_text()
    assert "is .5000 and .4000 in the mean of the draws; the median width" in page
    assert "of its intervals is .3000." in page
    assert "| outcome denominator | .5000 | 1.00 (–) |" in page
    assert page.count("Not run.") == 3


PARTS = [f"aggregate {name}" for name in ("gap", "baseline", "covariate", "outcome")]
