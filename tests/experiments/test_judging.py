"""The worlds that judge."""

from experiments import judging, semisynthetic, simulation


def test_the_worlds_that_judge_are_none_of_those_that_rules_were_chosen_on(tmp_path):
    planned = judging.plan(quick=False, folder=tmp_path)
    assert [count for _, count in planned] == [0] * 12
    assert {p.name for p in judging.KNOWN} & {p.name for p in semisynthetic.KNOWN} == set()
    page = judging.run(simulation.Order(tmp_path, jobs=0)).read_text()
    assert page.count("Not run.") == 4
