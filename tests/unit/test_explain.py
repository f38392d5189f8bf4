"""The main path on small tables with the fast learner: identities, settings, seeds, interrupts."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from small_study import covariate_tables, fast, make_study, make_table, tables, warnings_of

import whygap as wg
from whygap._explain import explain_design, subset_values
from whygap.errors import InputError, SettingsError
from whygap.results.files import to_dict
from whygap.running.analysis import STAGES


@pytest.fixture(scope="module")
def study() -> wg.Study:
    return make_study()


@pytest.fixture(scope="module")
def gap(study) -> wg.Gap:
    return wg.explain(study, settings=fast())


def numbers(gap: wg.Gap) -> dict:
    """Everything that is saved but times and dates and what only says how fast it went."""
    plain = to_dict(gap)
    plain["about"] = {k: v for k, v in plain["about"].items() if k not in ("seconds", "created")}
    harmless = ("n_jobs", "checkpoint", "progress")
    settings = plain["about"]["settings"]
    plain["about"]["settings"] = {k: v for k, v in settings.items() if k not in harmless}
    return plain


def test_the_three_parts_add_up_exactly(gap):
    total = gap.parts["baseline"] + gap.parts["covariate"] + gap.parts["outcome"]
    assert total.value == pytest.approx(gap.total.value, abs=1e-14)
    assert total.standard_error == pytest.approx(gap.total.standard_error, rel=1e-10)


def test_the_gap_is_the_difference_of_the_plain_means(study, gap):
    loss = study.design.loss
    assert gap.total.value == pytest.approx(loss.target.mean() - loss.source.mean())
    error = math.hypot(*(np.std(v, ddof=1) / math.sqrt(len(v)) for v in loss))
    assert gap.total.standard_error == pytest.approx(error, rel=1e-10)


def test_the_outcome_shift_is_found(gap):
    assert gap.parts["outcome"].p_value() < 1e-4
    assert gap.parts["outcome"].value < -0.1
    assert gap.parts["baseline"].p_value() > 0.01


def test_shares_and_base_add_up_to_one(gap):
    shares = sum(gap.shares["outcome"].values.values(), gap.shares["outcome"].base)
    assert shares.value == pytest.approx(1.0, abs=1e-10)
    assert shares.standard_error == pytest.approx(0.0, abs=1e-10)
    assert gap.shares["outcome"].sampling.exact
    assert gap.shares["outcome"].sampling.evaluated == 8


def test_the_full_set_explains_everything_and_the_empty_one_is_the_base(gap):
    assert gap.shares["outcome"].value(["a", "b", "c"]).value == 1.0
    assert gap.shares["outcome"].value([]).value == pytest.approx(
        gap.shares["outcome"].base.value, abs=1e-12
    )


def test_the_whole_of_a_study_can_be_asked_for_or_only_a_part(study):
    only = wg.explain(study, detail="shares", settings=fast())
    assert list(only.shares) == ["covariate", "outcome"]
    assert only.points == only.affected == {}
    assert only.recoverable is None
    none = wg.explain(study, detail=(), settings=fast())
    assert none.shares == {}
    assert none.parts["outcome"].value == only.parts["outcome"].value


def test_a_part_gives_the_same_numbers_alone_and_with_the_other(study, gap):
    alone = explain_design(study.design, "outcome", fast())
    assert list(alone.shares) == ["outcome"]
    for name, share in alone.shares["outcome"].values.items():
        assert share.value == gap.shares["outcome"].values[name].value


def test_an_unknown_part_is_refused(study):
    with pytest.raises(SettingsError) as caught:
        wg.explain(study, detail="share", settings=fast())
    assert str(caught.value) == "There is no detail 'share'. Did you mean 'shares'?"


def test_the_same_seed_gives_the_same_numbers(study, gap):
    assert numbers(wg.explain(study, settings=fast())) == numbers(gap)


def test_another_seed_gives_other_numbers(study, gap):
    other = wg.explain(study, detail=(), settings=fast(seed=1))
    assert other.parts["outcome"].value != gap.parts["outcome"].value
    assert other.parts["outcome"].value == pytest.approx(gap.parts["outcome"].value, abs=0.05)


def test_two_workers_give_the_same_numbers_as_one(study, gap):
    assert numbers(wg.explain(study, settings=fast(n_jobs=2))) == numbers(gap)


def test_a_covariate_shift_is_found_and_its_share_goes_to_its_variable():
    gap = wg.explain(make_study(*covariate_tables()), detail="shares", settings=fast())
    assert gap.parts["covariate"].value < -0.15
    assert gap.parts["covariate"].p_value() < 1e-4
    assert gap.shares["covariate"].values["g"].value == pytest.approx(1.0, abs=0.15)
    assert gap.shares["covariate"].values["h"].value == pytest.approx(0.0, abs=0.15)
    assert gap.shares["covariate"].base.value == 0
    assert not gap.shares["outcome"].defined


@pytest.mark.parametrize("seed", range(2))
def test_covariate_shares_do_not_depend_on_what_else_is_asked(seed):
    tables = (many_columns(600, moved, 10 * seed + moved) for moved in (0, 1))
    study = make_study(*tables, baseline=["w"], covariates=None)
    settings = fast(support="all", subsets=20)
    alone = wg.explain(study, detail="shares", settings=settings).shares["covariate"]
    beside = wg.explain(study, detail=("points", "shares"), settings=settings).shares["covariate"]
    assert alone.defined
    assert [s.numerator.value for s in alone.subsets] == [s.numerator.value for s in beside.subsets]


def many_columns(rows, moved, seed):
    """Six covariates, three of which move; the metric bends in the first."""
    rng = np.random.default_rng(seed)
    w, z = (rng.random(rows) < 0.5).astype(float), rng.normal(size=(rows, 6))
    z[:, 0] += 0.7 * moved * (1 + w)
    z[:, 1] += 0.3 * moved * z[:, 0]
    z[:, 2] *= 1 + 0.2 * moved
    risk = 1 / (1 + np.exp(1.6 * z[:, 0] ** 2 - 0.5 * z[:, 1] - 3))
    columns = {f"z{k}": z[:, k] for k in range(6)}
    return pd.DataFrame({**columns, "w": w, "y": rng.random(rows) < risk, "risk": 0.9 + 0.01 * w})


def test_the_parts_add_up_with_and_without_a_region(gap):
    source, target = tables()
    study = make_study(source, target.assign(a=target["a"] + 2.0))
    moved = wg.explain(study, detail=(), settings=fast(support="common"))
    names = ("source_only", "baseline", "covariate", "outcome", "target_only")
    assert list(gap.parts) == list(names[1:4])
    assert list(moved.parts) == list(names)
    for found in (gap, moved):
        whole = sum(found.parts.values(), found.total * 0)
        assert whole.value == pytest.approx(found.total.value, abs=1e-12)
        assert whole.standard_error == pytest.approx(found.total.standard_error, rel=1e-9)


@pytest.mark.parametrize("changed", [{"order": "outcome first"}, {}])
def test_learners_of_budgets_are_told_whatever_else_is_fitted(changed):
    found = wg.explain(make_study(**changed), detail="recoverable", settings=fast(support="common"))
    names = [record.name for record in found.diagnostics.nuisances]
    assert {"m_s, target", "m_s, source"} <= set(names)
    assert len(names) == len(set(names))


def test_workers_inherit_the_choice_of_learners():
    study = make_study(*covariate_tables())
    one, two = (wg.explain(study, detail="shares", settings=fast(n_jobs=jobs)) for jobs in (1, 2))
    assert numbers(one) == numbers(two)
    assert {"mu_00_wzs", "pi_wzs (shares)"} <= {r.name for r in two.diagnostics.nuisances}


def test_subset_values_agree_with_the_whole_analysis(study, gap):
    empty, single = subset_values(study, "outcome", [[], ["a"]], settings=fast())
    assert empty.value == pytest.approx(gap.shares["outcome"].base.value, abs=1e-12)
    assert single.value == pytest.approx(gap.shares["outcome"].value(["a"]).value, abs=1e-12)
    assert single.interval() == pytest.approx(
        gap.shares["outcome"].value(["a"]).interval(), abs=1e-9
    )


def test_subset_values_name_unknown_players(study):
    with pytest.raises(InputError) as caught:
        subset_values(study, "outcome", [["aa"]], settings=fast())
    assert str(caught.value) == "There is no player named 'aa'. Did you mean 'a'?"


def test_subset_values_without_a_shift_say_so():
    same = make_table(400, 0.0, 5)
    with pytest.raises(InputError, match="The outcome values are undefined: their denominator"):
        subset_values(make_study(same, same.copy()), "outcome", [["a"]], settings=fast())
    with pytest.raises(InputError, match=r"\(99\.9%: "):
        subset_values(make_study(same, same.copy()), "outcome", [["a"]], settings=fast(level=0.999))


def test_one_table_twice_has_no_gap_and_no_shares():
    same = make_table(400, 0.0, 5)
    gap = wg.explain(make_study(same, same.copy()), detail="shares", settings=fast())
    assert gap.total.value == 0
    for part in gap.parts.values():
        low, high = part.interval(0.99)
        assert low <= 0 <= high
    for detail in gap.shares.values():
        assert not detail.defined
        assert detail.values == {}
        assert detail.reason.startswith(f"Shares divide up the effect of the {detail.part} shift")


def test_repeats_combine_by_the_median(study):
    gap = wg.explain(study, detail="shares", settings=fast(repeats=3))
    singles = [
        wg.explain(study, detail=(), settings=fast(seed=s)).parts["outcome"].value for s in range(3)
    ]
    assert min(singles) - 0.03 < gap.parts["outcome"].value < max(singles) + 0.03
    total = sum(gap.parts.values(), gap.total * 0)
    assert total.value == pytest.approx(gap.total.value, abs=1e-12)
    shares = sum(gap.shares["outcome"].values.values(), gap.shares["outcome"].base)
    assert shares.value == pytest.approx(1.0, abs=1e-10)


def test_the_risk_term_counts_source_rows_in_the_values(gap):
    assert np.ptp(gap.shares["outcome"].numerator(["b"]).influence.source) > 0


def test_common_support_restricts_every_mean_and_says_so():
    source, target = tables()
    target = target.assign(a=target["a"] + 2.0)
    gap = wg.explain(make_study(source, target), detail=(), settings=fast(support="common"))
    kept = gap.about.kept_share
    assert 0.1 < kept.source < 1
    assert 0.1 < kept.target < 1
    assert gap.about.rows.source == 400
    assert any(str(n).startswith("The tables are compared where") for n in gap.notes)


def test_clipping_is_counted():
    source, target = tables()
    target = target.assign(a=target["a"] + 1.5)
    gap = wg.explain(make_study(source, target), detail=(), settings=fast(clip=1.5))
    record = gap.diagnostics.ratios[1]
    assert record.largest_weight == 1.5
    assert 0 < record.clipped_share < 1
    expected = (
        f"{record.clipped_share:.2%} of the source rows had their density ratio on all variables "
        "cut at 1.5; this moves the estimates towards the source domain. Ratios on fewer columns "
        "are cut there as well, uncounted."
    )
    assert expected in warnings_of(gap)


def test_weights_agree_with_replicated_rows():
    source, target = tables()
    rng = np.random.default_rng(9)
    counts = [rng.integers(1, 3, len(t)) for t in (source, target)]
    weighted = [t.assign(k=c.astype(float)) for t, c in zip((source, target), counts, strict=True)]
    replicated = [
        t.assign(id=[f"{label}{i}" for i in range(len(t))]).loc[np.repeat(t.index, c)]
        for label, t, c in zip("st", (source, target), counts, strict=True)
    ]
    covariates = ["a", "b", "c"]
    one = wg.explain(
        make_study(*weighted, weights="k", covariates=covariates), detail=(), settings=fast()
    )
    two = wg.explain(
        make_study(*replicated, clusters="id", covariates=covariates), detail=(), settings=fast()
    )
    for name, part in one.parts.items():
        other = two.parts[name]
        assert part.value == pytest.approx(other.value, abs=0.02)
        assert part.standard_error == pytest.approx(other.standard_error, rel=0.2, abs=0.003)
    assert one.total.value == pytest.approx(two.total.value, abs=1e-12)
    error = two.total.standard_error
    assert one.total.standard_error == pytest.approx(error, rel=1e-9)


def test_clusters_widen_the_intervals_of_repeated_rows():
    source, target = (pd.concat([t] * 3, ignore_index=True) for t in tables(200, 150))
    named = [source.assign(id=np.arange(600) % 200), target.assign(id=200 + np.arange(450) % 150)]
    roles = {"covariates": ["a", "b", "c"]}
    plain = wg.explain(make_study(*named, **roles), detail=(), settings=fast())
    clustered = wg.explain(make_study(*named, clusters="id", **roles), detail=(), settings=fast())
    ratio = clustered.total.standard_error / plain.total.standard_error
    assert ratio == pytest.approx(math.sqrt(3), rel=0.02)


def test_an_empty_baseline_has_no_baseline_part():
    gap = wg.explain(make_study(baseline=[]), detail="shares", settings=fast())
    assert list(gap.parts) == ["covariate", "outcome"]
    assert sum(part.value for part in gap.parts.values()) == pytest.approx(gap.total.value)
    assert gap.about.baseline == ()
    assert gap.shares["outcome"].values.keys() == {"w", "a", "b", "c"}


def test_one_player_gets_everything_but_the_base():
    gap = wg.explain(make_study(covariates=["a"]), detail="shares", settings=fast())
    assert gap.shares["outcome"].values["a"].value == pytest.approx(
        1 - gap.shares["outcome"].base.value, abs=1e-12
    )
    assert gap.shares["outcome"].sampling.evaluated == 2


def test_groups_are_players():
    gap = wg.explain(make_study(groups={"ab": ["a", "b"]}), detail="shares", settings=fast())
    assert set(gap.shares["outcome"].values) == {"ab", "c"}
    assert gap.about.players == {"ab": ("a", "b"), "c": ("c",)}


@pytest.mark.parametrize("metric", ["zero_one", "brier", "log_loss"])
def test_other_metrics_run_and_add_up(metric):
    gap = wg.explain(make_study(metric=metric), detail="shares", settings=fast())
    total = sum(part.value for part in gap.parts.values())
    assert total == pytest.approx(gap.total.value, abs=1e-12)
    assert gap.total.value > 0, "the model got worse"


def test_zero_one_is_the_mirror_of_accuracy(gap):
    mirrored = wg.explain(make_study(metric="zero_one"), detail="shares", settings=fast())
    for name, part in gap.parts.items():
        assert mirrored.parts[name].value == pytest.approx(-part.value, abs=1e-9)
    for name, share in gap.shares["outcome"].values.items():
        assert mirrored.shares["outcome"].values[name].value == pytest.approx(share.value, abs=1e-6)


def test_a_known_source_risk_is_used():
    source, target = (t.assign(q=np.clip(t["risk"], 0.01, 0.99)) for t in tables())
    gap = wg.explain(make_study(source, target, source_risk="q"), detail="shares", settings=fast())
    assert all(record.name != "p_0" for record in gap.diagnostics.nuisances)
    assert gap.shares["outcome"].defined


def test_about_says_enough_to_repeat_it(gap):
    assert gap.about.settings == fast().to_mapping()
    assert set(gap.about.seconds) == {"aggregate", *STAGES}
    assert set(gap.about.versions) >= {
        "engine",
        "python",
        "whygap",
        "numpy",
        "scikit-learn",
        "lightgbm",
    }
    assert gap.table_kind == "pandas"


def test_ctrl_c_in_the_second_part_keeps_the_first(study, monkeypatch):
    from whygap._explain import was_interrupted
    from whygap.running.analysis import Analysis

    whole = Analysis._shares

    def stopped(self, part, run):
        if part == "outcome":
            raise KeyboardInterrupt
        return whole(self, part, run)

    monkeypatch.setattr(Analysis, "_shares", stopped)
    gap = wg.explain(study, detail="shares", settings=fast())
    assert was_interrupted(gap)
    assert gap.shares["covariate"].defined in (True, False)
    assert "outcome" not in gap.shares
    assert warnings_of(gap)[-1] == (
        "You interrupted the analysis: it has no shares of the outcome part."
    )


def test_two_tables_are_explained_without_naming_a_study(study):
    source, target = tables()
    roles = {"outcome": "y", "baseline": ["w"], "prediction": "risk"}
    short = wg.explain(source, target, detail=(), settings=fast(), **roles)
    long = wg.explain(wg.Study(source, target, **roles), detail=(), settings=fast())
    assert short.total.value == long.total.value
    assert short.parts["outcome"].value == long.parts["outcome"].value


def test_settings_as_keywords_override_settings(study):
    gap = wg.explain(study, detail=(), settings=fast(level=0.8), level=0.9, folds=4)
    assert gap.about.settings == fast(level=0.9, folds=4).to_mapping()


def test_what_must_not_be_trusted_is_heard():
    source, target = tables()
    spoilt = target.assign(a=1000 * target["a"] + 50_000)
    with pytest.warns(
        wg.errors.WhygapWarning, match="The tables share too little to compare them"
    ) as heard:
        gap = wg.explain(make_study(source, spoilt), detail=(), settings=fast())
    assert not gap.comparable
    assert [str(one.message) for one in heard] == list(gap.problems())
    assert gap.problems()[0] == gap.reason
