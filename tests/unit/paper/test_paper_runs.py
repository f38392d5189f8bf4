"""The published method on small tables: every metric, with and without a baseline, by hand."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score
from small_study import make_study, make_table

from whygap import paper
from whygap.errors import InputError, SettingsError
from whygap.paper.nuisances import Nuisances, binned

FAST = {"learner": "fast"}
STUDIES = [{}, {"metric": "brier"}, {"baseline": []}, {"metric": "brier", "baseline": []}]


def finite(estimate):
    return np.isfinite([estimate.value, estimate.standard_error, estimate.plugin]).all()


@pytest.mark.parametrize("roles", STUDIES, ids=str)
def test_parts_sum_to_the_gap_of_the_evaluation_rows(roles):
    study = make_study(**roles)
    parts = paper.aggregate(study, **FAST)
    assert parts.baseline.value + parts.covariate.value + parts.outcome.value == pytest.approx(
        parts.gap.value
    )
    rows, loss = Nuisances.from_study(study, "fast", 0).evaluation, study.design.loss
    assert rows.source.size == 80
    assert rows.target.size == 60
    gap = loss.target[rows.target].mean() - loss.source[rows.source].mean()
    assert parts.gap.value == parts.gap.plugin == pytest.approx(gap)
    assert all(map(finite, (parts.baseline, parts.covariate, parts.outcome)))
    if not study.design.baseline:
        assert parts.baseline.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("roles", STUDIES, ids=str)
def test_values_of_subsets(roles):
    study = make_study(**roles)
    players = [player.name for player in study.design.players]
    for value in (paper.value_covariate, paper.value_outcome):
        everything, nothing, one = (value(study, s, **FAST) for s in (players, (), "a"))
        assert everything.value.value == everything.value.plugin == 1
        assert everything.value.standard_error == 0
        assert finite(one.value)
        assert finite(one.numerator)
        assert one.denominator.value == pytest.approx(nothing.denominator.value)
    assert paper.value_covariate(study, (), **FAST).value.value == pytest.approx(0, abs=1e-12)


def test_an_interval_is_the_delta_methods():
    found = paper.value_outcome(make_study(), "a", **FAST)
    top, bottom = found.numerator, found.denominator
    ratio = top.value / bottom.value
    by_row = [
        (getattr(top.influence, domain) - ratio * getattr(bottom.influence, domain)) / bottom.value
        for domain in ("source", "target")
    ]
    error = np.sqrt(sum(rows.var(ddof=1) / len(rows) for rows in by_row))
    assert found.value.standard_error == pytest.approx(error)
    low, high = found.value.interval(0.9)
    assert (low + high) / 2 == pytest.approx(found.value.value)
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.95) * error, rel=0.05)  # Student's


def test_the_v_statistic_agrees_with_the_identity_within_its_error():
    """The phantom ratio is fitted for one and not for the other."""
    study = make_study(make_table(1500, 0.0, 1), make_table(1500, 1.0, 2))
    identity = paper.value_outcome(study, "b", **FAST)
    for n_draws in (0, 100):
        pairs = paper.value_outcome(study, "b", form="v_statistic", n_draws=n_draws, **FAST)
        difference = abs(pairs.numerator.value - identity.numerator.value)
        assert difference < 0.5 * identity.numerator.standard_error
        assert pairs.denominator.value == identity.denominator.value


@pytest.mark.parametrize("subset", [(), (0,), (1, 2)])
def test_the_phantom_ratio_has_mean_one_over_recombined_rows(subset):
    """It is the density of Z_-s given (W, Z_s, q_bin) over that of Z_-s, for pairs of two rows."""
    study = make_study(make_table(1500, 0.0, 1), make_table(1500, 1.0, 2))
    n = Nuisances.from_study(study, "fast", 0)
    ratio, rows = n.phantom_ratio(subset), n.binned_rows[n.evaluation.target]
    means = []
    for i, row in enumerate(rows):
        phantom = np.where(n.swapped(subset), np.delete(rows, i, axis=0), row)
        same_bin = binned(n.risks.source(phantom[:, :-1]), n.bins) == row[-1]
        means.append(ratio(phantom[same_bin]).sum() / len(phantom) if same_bin.any() else 0.0)
    assert np.mean(means) == pytest.approx(1, abs=0.1)


def test_rows_on_an_edge_of_the_bins_are_counted(monkeypatch):
    assert paper.value_outcome(make_study(), "a", **FAST).edge_rows == 0

    def two_risks(n):
        return n.encoded.map(lambda rows: np.where(np.arange(len(rows)) % 2, 0.525, 0.5))

    monkeypatch.setattr(Nuisances, "p_0", property(two_risks))
    rows = Nuisances.from_study(make_study(), "fast", 0).evaluation.target
    assert paper.value_outcome(make_study(), "a", **FAST).edge_rows == (rows % 2).sum()


@pytest.mark.parametrize("roles", STUDIES, ids=str)
def test_shares_sum_to_the_value_of_everything(roles):
    study = make_study(**roles)
    found = paper.detailed(study, gamma=0.5, **FAST)
    for shares in (found.covariate, found.outcome):
        assert list(shares.values) == [player.name for player in study.design.players]
        total = shares.base.value + sum(share.value for share in shares.values.values())
        assert total == pytest.approx(1)
        assert all(map(finite, shares.values.values()))
        assert shares.draws == 70
        assert len(shares.subsets) <= 2 ** len(study.design.players)
        assert shares.subsets[()].value.value == pytest.approx(shares.base.value, abs=1e-12)
        low, high = shares.values["a"].interval(0.9)
        assert low < shares.values["a"].value < high
    assert found.covariate.base.value == pytest.approx(0, abs=1e-12)
    assert found.outcome.values["a"].sampling_error > 0
    alone = paper.value_outcome(study, "a", **FAST)
    assert found.outcome.subsets["a",].value.interval(0.9) == alone.value.interval(0.9)
    assert found.outcome.subsets["a",].denominator.value == alone.denominator.value


def test_one_seed_gives_one_result_and_another_another():
    study = make_study()
    first, again, other = (paper.aggregate(study, seed=seed, **FAST) for seed in (1, 1, 2))
    assert first.outcome.value == again.outcome.value != other.outcome.value


def test_the_papers_learners_run():
    study = make_study(make_table(120, 0.0, 1), make_table(120, 1.0, 2), baseline=[])
    parts = paper.aggregate(study)
    assert all(map(finite, (parts.covariate, parts.outcome)))


def test_clusters_stay_whole_and_weights_count():
    source, target = make_table(300, 0.0, 1), make_table(300, 1.0, 2)
    for table in (source, target):
        table["person"], table["weight"] = np.arange(300) // 3, 1.0 + np.arange(300) % 2
    study = make_study(source, target, clusters="person", weights="weight")
    n = Nuisances.from_study(study, "fast", 0)
    for cluster, train in zip(study.design.clusters, n.training, strict=True):
        assert not set(cluster[train]) & set(cluster[~train])
    assert finite(paper.aggregate(study, **FAST).outcome)
    assert finite(paper.value_outcome(study, "a", form="v_statistic", **FAST).value)


def test_gaps_and_levels_are_encoded():
    source, target = make_table(300, 0.0, 1), make_table(300, 1.0, 2)
    source.loc[:20, "a"], target.loc[:9, "c"] = np.nan, None
    n = Nuisances.from_study(make_study(source, target), "fast", 0)
    assert n.owner.tolist().count(1) == 2
    assert n.owner.tolist().count(3) >= 3
    assert np.isfinite(np.vstack(list(n.encoded))).all()


def test_a_revision_is_measured_on_rows_it_has_not_seen():
    study = make_study(make_table(800, 0.0, 1), make_table(800, 1.0, 2))
    found = paper.revise(study, ["a", "b"], **FAST)
    assert found.difference.value == pytest.approx(found.after.value - found.before.value)
    assert found.difference.interval(0.9)[0] > 0
    rows = Nuisances.from_study(study, "fast", 0).evaluation.target
    y, risk = study.design.outcome.target[rows], study.design.prediction.target[rows]
    assert found.before.value == pytest.approx(roc_auc_score(y, risk))
    assert paper.revise(study, ["b", "a"], **FAST).after.value == found.after.value


MISTAKES = [
    (lambda study: paper.aggregate(study, learner="slow"), SettingsError, "slow"),
    (lambda study: paper.value_covariate(study, "aa", **FAST), InputError, "aa"),
    (lambda study: paper.value_outcome(study, "a", form="pairs", **FAST), SettingsError, "pairs"),
    (lambda study: paper.revise(study, "aa", **FAST), InputError, "aa"),
    (
        lambda _: paper.value_outcome(make_study(metric="brier"), "a", form="v_statistic", **FAST),
        SettingsError,
        "needs the model",
    ),
    (lambda _: paper.aggregate(make_study(metric="auc"), **FAST), SettingsError, "auc"),
]


@pytest.mark.parametrize(("call", "error", "words"), MISTAKES)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(make_study())
