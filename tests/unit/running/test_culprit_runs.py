"""Points, where and recoverable: exact sums in every kind of study; what is cut short is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_study import fast, make_study, make_table, tables, warnings_of
from task_tables import LABELS, VALUES
from task_tables import tables as task_tables

import whygap as wg
from whygap.errors import WhygapError
from whygap.progress import Silent
from whygap.results.files import to_dict
from whygap.running import culprits, game
from whygap.running.analysis import Analysis
from whygap.running.game import INTERRUPTED
from whygap.settings import DETAILS

THREE = ("points", "affected", "recoverable")
EXACT = 1e-12


def changed(**columns):
    """Both tables with columns that are functions of a table."""
    return tuple(t.assign(**{n: make(t) for n, make in columns.items()}) for t in tables())


def labels(table):
    return (table["risk"] > 0.5).astype(int)


def uneven(table):
    return 0.1 + np.arange(len(table)) % 7


def always_one(prediction, _):
    return np.ones(len(prediction))


def some_missing(table):
    return table["b"].mask(np.arange(len(table)) % 5 == 0)


CASES = {
    "plain": ({}, {}),
    "two repeats": ({}, {"repeats": 2}),
    "three repeats": ({}, {"repeats": 3}),
    "weights": ({"tables": {"k": uneven}, "weights": "k"}, {}),
    "weights and repeats": ({"tables": {"k": uneven}, "weights": "k"}, {"repeats": 2}),
    "clusters": ({"tables": {"k": lambda t: np.arange(len(t)) // 3}, "clusters": "k"}, {}),
    "no baseline": ({"baseline": []}, {}),
    "two columns of W": ({"baseline": ["w", "b"]}, {}),
    "one player": ({"covariates": ["a"]}, {}),
    "a group of columns": ({"groups": {"ab": ["a", "b"]}}, {}),
    "missing values": ({"tables": {"b": some_missing}}, {}),
    "labels": ({"tables": {"risk": labels}}, {}),
    "a constant score": ({"tables": {"risk": lambda _: 0.7}}, {}),
    "scores of 0 and 1": ({"tables": {"risk": lambda t: t["risk"].round(1)}}, {}),
    "brier": ({"metric": "brier"}, {}),
    "log loss": ({"metric": "log_loss"}, {}),
    "a metric beyond [0, 1]": ({"metric": lambda p, y: 10 * (y - p)}, {}),
    "a constant metric": ({"metric": always_one}, {}),
    "sampled subsets": (
        {"tables": {f"d{k}": lambda t, k=k: np.sin(t["a"] * (k + 2)) for k in range(5)}},
        {"subsets": 24},
    ),
}


def study_of(roles) -> wg.Study:
    roles = dict(roles)
    return make_study(*changed(**roles.pop("tables", {})), **roles)


def test_sums_over_groups_of_rows_are_exact(monkeypatch):
    monkeypatch.setattr("whygap.nuisances.cross_fit.INFLUENCE_GROUPS", 100)
    test_sums_are_exact("plain")


@pytest.mark.parametrize("case", CASES)
def test_sums_are_exact(case):
    roles, settings = CASES[case]
    study = study_of(roles)
    gap = wg.explain(study, detail=THREE, settings=fast(support="all", **settings))
    for name, joint in gap.points.items():
        total = sum(joint.values())
        assert total.value == pytest.approx(gap.parts[name].value, abs=EXACT)
    assert set(gap.points.get("baseline", ())) == set(study.roles.baseline)
    for variable in gap.affected["outcome"].variables():
        total = sum(group.points.value for group in gap.affected["outcome"].groups_of(variable))
        assert total == pytest.approx(gap.parts["outcome"].value, abs=EXACT)
        shares = sum(group.target_share for group in gap.affected["outcome"].groups_of(variable))
        assert shares == pytest.approx(1, abs=EXACT)
    for budget in (gap.recoverable, gap.recoverable.source):
        parts = budget.recalibration + sum(budget.variables.values())
        assert parts.value == pytest.approx(budget.total.value, abs=EXACT)
    assert len(gap.affected["outcome"].simultaneous()) == len(gap.affected["outcome"].groups)


def test_points_of_a_part_have_its_standard_error():
    gap = wg.explain(make_study(baseline=["w", "b"]), detail="points", settings=fast(support="all"))
    for name, joint in gap.points.items():
        part = gap.parts[name]
        assert sum(joint.values()).standard_error == pytest.approx(part.standard_error, rel=1e-9)


@pytest.mark.parametrize("weights", [None, "k"])
def test_squared_error_is_what_can_be_won_back_and_what_cannot(weights):
    study = study_of({"tables": {"k": uneven}, "weights": weights, "covariates": ["a", "b", "c"]})
    gap = wg.explain(study, detail="recoverable", settings=fast(support="all"))
    budgets = {"target": gap.recoverable, "source": gap.recoverable.source}
    for domain, budget in budgets.items():
        table = getattr(study, domain)
        error = np.average((table["y"] - table["risk"]) ** 2, weights=table.get(weights))
        whole = budget.total + budget.irreducible
        assert whole.value == pytest.approx(error, abs=EXACT)
    more = gap.recoverable.added_in_target
    expected = budgets["target"].total.value - budgets["source"].total.value
    assert more.value == pytest.approx(expected, abs=EXACT)


def test_budgets_of_one_table_reach_further_up_and_what_is_made_of_them_does_not(tmp_path):
    gap = wg.explain(make_study(), detail="recoverable", settings=fast(support="all"))
    found = wg.load(gap.save(tmp_path / "gap.json")).recoverable
    for budget in (found, found.source):
        for square in (budget.total, budget.recalibration, *budget.variables.values()):
            low, high = square.interval()
            assert high - square.value > square.value - low > 0
            assert square.growth <= square.standard_error
        assert budget.irreducible.growth == 0
    assert found.reweighted.total.growth == 0
    assert found.added_in_target.growth == 0


def test_a_constant_metric_costs_nothing_and_hits_nobody():
    study = make_study(metric=always_one)
    gap = wg.explain(study, detail=THREE, settings=fast(support="all"))
    for estimate in [
        *gap.points["covariate"].values(),
        *(g.points for g in gap.affected["outcome"].groups),
    ]:
        assert estimate.value == pytest.approx(0, abs=1e-9)
    assert gap.affected["outcome"].rules == ()


ONE_CLASS = (
    "The outcome 'y' equals 0 in too few target rows (0): was it recorded, and were the rows "
    "chosen, as in the source? The gap has its parts all the same, but the target's outcomes teach "
    "a model too little."
)


@pytest.mark.parametrize("metric", ["accuracy", "brier"])
def test_a_target_of_one_class_has_a_gap_with_parts_and_a_warning(metric):
    source, target = tables()
    gap = wg.explain(
        make_study(source, target.assign(y=1), metric=metric), detail=DETAILS, settings=fast()
    )
    assert ONE_CLASS in warnings_of(gap)
    parts = gap.parts
    assert sum(p.value for p in parts.values()) == pytest.approx(gap.total.value, abs=EXACT)
    assert np.isnan({m.name: m.value.target for m in gap.diagnostics.prediction}["AUC"])


def test_a_metric_that_is_no_mean_needs_both_classes_in_the_target():
    source, target = tables()
    with pytest.raises(WhygapError) as caught:
        wg.explain(
            make_study(source, target.assign(y=1), metric="auc"), detail=THREE, settings=fast()
        )
    assert str(caught.value) == (
        "The outcome 'y' equals 0 in too few target rows. Got 0. At least 5 rows of each outcome "
        "value are needed in each domain."
    )


@pytest.mark.parametrize("roles", [LABELS, VALUES], ids=["classes", "amounts"])
def test_a_value_that_the_target_lacks(roles):
    both = task_tables()
    lacking = both["target"][both["target"]["way"] != "foot"].assign(wage=11.0)
    study = wg.Study(both["source"], lacking, **roles)
    gap = wg.explain(study, detail=THREE, settings=fast())
    said = "has one single value in target (11)" if roles is VALUES else "too few target rows (0)"
    assert any(said in text for text in warnings_of(gap))
    total = sum(part.value for part in gap.parts.values())
    assert total == pytest.approx(gap.total.value, abs=EXACT)


def plain(gap: wg.Gap) -> dict:
    return {name: to_dict(gap)[name] for name in THREE}


@pytest.fixture(scope="module")
def study() -> wg.Study:
    return make_study(baseline=["w", "b"])


@pytest.fixture(scope="module")
def serial(study) -> dict:
    return plain(wg.explain(study, detail=THREE, settings=fast()))


def test_workers_and_a_resumed_run_give_the_same_numbers(study, serial, tmp_path):
    kept = fast(checkpoint=str(tmp_path), n_jobs=2)
    assert plain(wg.explain(study, detail=THREE, settings=kept)) == serial
    games = {path.name.rsplit("-", 2)[0] for path in tmp_path.glob("*.npz")}
    expected = {"points-baseline", "points-covariate", "recoverable-here", "recoverable-at-home"}
    assert games == expected
    for lost in ("points-covariate", "recoverable-at-home"):
        next(tmp_path.glob(f"{lost}-0-*.npz")).unlink()
    assert plain(wg.explain(study, detail=THREE, settings=replace(kept, n_jobs=1))) == serial


def test_a_checkpoint_of_another_score_is_refused(tmp_path):
    kept = fast(checkpoint=str(tmp_path))
    wg.explain(make_study(), detail="points", settings=kept)
    squeezed = changed(risk=lambda t: 0.5 + (t["risk"] - 0.5) / 2)
    with pytest.raises(WhygapError, match="a change of study 'prediction'"):
        wg.explain(make_study(*squeezed), detail="points", settings=kept)


def test_learners_do_not_depend_on_what_else_is_asked(study, serial):
    alone = to_dict(wg.explain(study, detail="recoverable", settings=fast()))["recoverable"]
    assert alone == serial["recoverable"]
    covariate = [
        to_dict(wg.explain(study, detail=detail, settings=fast(support="all")))["shares"][
            "covariate"
        ]
        for detail in ("shares", ("points", "shares"))
    ]
    assert covariate[0] == covariate[1]


def interrupt(monkeypatch, name: str, finished: int) -> None:
    """Ctrl-C in a game that has valued so many subsets."""
    compute = game._Values.compute

    def stopped(self, subsets):
        if self.name == name and len(self.done[0]) >= finished:
            raise KeyboardInterrupt
        compute(self, subsets)

    monkeypatch.setattr(game._Values, "compute", stopped)


def warned(gap: wg.Gap) -> str:
    return warnings_of(gap)[-1]


SHARES = "shares of the covariate part and shares of the outcome part."
EARLY = {
    "points baseline": ((), f"no points of the variables, groups, budgets, {SHARES}"),
    "points covariate": (("points",), f"no points of the covariates, groups, budgets, {SHARES}"),
    "recoverable here": (("points", "affected"), f"no budgets, {SHARES}"),
    "recoverable at home": (THREE, f"no variables of the source's budget, {SHARES}"),
    "outcome shares": (DETAILS, "no shares of the outcome part."),
}


@pytest.mark.parametrize("name", EARLY)
def test_ctrl_c_keeps_what_is_finished(study, monkeypatch, name):
    interrupt(monkeypatch, name, 0)
    gap = wg.explain(study, settings=fast(support="all"))
    kept, missing = EARLY[name]
    assert warned(gap) == f"You interrupted the analysis: it has {missing}"
    assert tuple(one for one in DETAILS if getattr(gap, one)) == kept
    assert gap.summary()
    if name == "points covariate":
        assert set(gap.points["baseline"]) == {"w", "b"}
        assert "covariate" not in gap.points
    if name == "recoverable at home":
        assert gap.recoverable.variables
        assert gap.recoverable.source.variables is None
        whole = wg.explain(
            study, detail="recoverable", settings=fast(support="all")
        ).recoverable.source
        assert gap.recoverable.source.total.value == whole.total.value


@pytest.mark.parametrize("name", ["points covariate", "recoverable here", "recoverable at home"])
def test_ctrl_c_late_in_a_game_keeps_its_finished_subsets(monkeypatch, name):
    more = {f"d{k}": lambda t, k=k: np.cos(t["a"] * (k + 1)) for k in range(4)}
    interrupt(monkeypatch, name, 48)
    asked = THREE if name == "points covariate" else "recoverable"
    gap = wg.explain(make_study(*changed(**more)), detail=asked, settings=fast(support="all"))
    if name == "points covariate":
        assert gap.points["covariate"].sampling.stopped == INTERRUPTED
        total = sum(gap.points["covariate"].values()).value
        assert total == pytest.approx(gap.parts["covariate"].value, abs=EXACT)
        assert warned(gap) == "You interrupted the analysis: it has no groups and budgets."
        return
    here, at_home = gap.recoverable, gap.recoverable.source
    budget = here if name.endswith("here") else at_home
    assert budget.sampling.stopped == INTERRUPTED
    parts = budget.recalibration + sum(budget.variables.values())
    assert parts.value == pytest.approx(budget.total.value, abs=EXACT)
    assert (at_home.variables is None) == name.endswith("here")


def test_ctrl_c_among_the_groups_keeps_the_points(study, monkeypatch):
    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(culprits, "find_rules", stopped)
    gap = wg.explain(study, detail=THREE, settings=fast(support="all"))
    assert gap.points["covariate"]
    assert (gap.affected, gap.recoverable) == ({}, None)
    assert warned(gap) == "You interrupted the analysis: it has no groups and budgets."


def test_a_time_budget_counts_from_the_start_of_the_analysis():
    settings = fast(support="all", time_budget=60.0)
    analysis = Analysis.begin(make_study().design, settings, Silent())
    assert not analysis._run().out_of_time()
    analysis.started -= 61.0
    assert analysis._run().out_of_time()


def test_a_time_budget_ends_every_game_early():
    more = {f"d{k}": lambda t, k=k: np.cos(t["a"] * (k + 1)) for k in range(5)}
    wide = make_study(*changed(**more))
    gap = wg.explain(wide, detail=THREE, settings=fast(support="all", time_budget=1e-3))
    budgets = (gap.recoverable, gap.recoverable.source)
    for sampling in [gap.points["covariate"].sampling, *(b.sampling for b in budgets)]:
        assert sampling.stopped == "the time budget of 0.001 s ended"
        assert sampling.evaluated < sampling.possible
    for budget in budgets:
        parts = budget.recalibration + sum(budget.variables.values())
        assert parts.value == pytest.approx(budget.total.value, abs=EXACT)


def test_many_targets_have_the_new_answers(tmp_path: Path):
    source, target = tables()
    targets = {"b": target, "c": make_table(300, 0.6, 8)}
    settings = fast(support="all", checkpoint=str(tmp_path))
    many = wg.explain_many(make_study(source, target), targets, detail=THREE, settings=settings)
    for gap in many.gaps.values():
        total = sum(gap.points["covariate"].values()).value
        assert total == pytest.approx(gap.parts["covariate"].value, abs=EXACT)
        assert gap.recoverable.total.value > 0
    used = [{r.name: r for r in gap.diagnostics.nuisances} for gap in many.gaps.values()]
    for name in ("mu_wzs", "m_s, source"):
        assert used[0][name] is used[1][name], "chosen once"
    assert used[0]["m_s, target"] is not used[1]["m_s, target"]
