"""Wide tables before an analysis: an answer in seconds, groups to paste, numbers in words."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, make_table

import whygap as wg
from whygap.checks import Check
from whygap.checks.proposals import propose_groups
from whygap.checks.trial import some_columns
from whygap.errors import large

WORDS = ("lab", "vital", "heartRate")


def wide_table(rows: int, columns: int, seed: int, prefix: bool = True) -> pd.DataFrame:
    """Columns that go together by the remainder of their number by 4, whatever they are called."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(rows, 4))
    found = {}
    for k in range(columns):
        name = f"{WORDS[k % 3]}_{k:03d}" if prefix else f"{'abcdefghijklmnopqrstuvwxyz'[k]}q"
        found[name] = 0.9 * factors[:, k % 4] + 0.4 * rng.normal(size=rows)
    table = make_table(rows, 0.0, seed)[["w", "y", "risk"]]
    return pd.concat([table, pd.DataFrame(found)], axis=1)


def wide_study(columns: int = 24, prefix: bool = True, **roles) -> wg.Study:
    pair = (wide_table(400, columns, 1, prefix), wide_table(400, columns, 2, prefix))
    return make_study(*pair, **roles)


@pytest.fixture(scope="module")
def page() -> Check:
    return wg.check(wide_study(60), fast())


def test_groups_are_proposed_by_name_and_by_correlation():
    by_name, by_correlation = propose_groups(wide_study().design, 0)
    assert (by_name.by, by_name.players) == ("name", 3)
    assert list(by_name.groups) == ["lab", "vital", "heartRate"]
    assert by_name.groups["lab"] == tuple(f"lab_{k:03d}" for k in range(0, 24, 3))
    assert (by_correlation.by, by_correlation.players) == ("correlation", 4)
    for name, columns in by_correlation.groups.items():
        assert name.removeprefix("like ") in columns
        assert len({int(column[-3:]) % 4 for column in columns}) == 1
        assert len(columns) == 6


def test_names_without_a_common_word_are_grouped_by_correlation_alone():
    (proposal,) = propose_groups(wide_study(26, prefix=False).design, 0)
    assert (proposal.by, proposal.players) == ("correlation", 4)


def test_few_covariates_need_no_groups():
    assert propose_groups(wide_study(12).design, 0) == ()


def test_columns_that_go_with_nothing_stay_alone():
    rng = np.random.default_rng(0)
    names = list("abcdefghijklmnopqrstuvwx")
    pair = [
        pd.concat(
            [make_table(400, 0.0, seed)[["y", "risk"]],
             pd.DataFrame(rng.normal(size=(400, 24)), columns=names)], axis=1,
        )
        for seed in (1, 2)
    ]  # fmt: skip
    assert propose_groups(make_study(*pair, baseline=[]).design, 0) == ()


def test_what_is_grouped_already_is_left_alone():
    study = wide_study(24, groups={"lab": ["lab_000", "lab_003"]})
    by_name, _ = propose_groups(study.design, 0)
    assert list(by_name.groups) == ["vital", "heartRate"]
    assert by_name.players == 1 + 6 + 2


def test_a_proposal_can_be_pasted():
    by_name, by_correlation = propose_groups(wide_study().design, 0)
    for proposal in (by_name, by_correlation):
        text = proposal.toml()
        assert max(map(len, text.splitlines())) <= 80
        read = tomllib.loads(text)["groups"]
        assert {name: tuple(columns) for name, columns in read.items()} == dict(proposal.groups)
    assert len(wide_study(groups=by_name.groups).design.players) == 3


def test_names_that_toml_does_not_take_bare_are_quoted():
    odd = {'a "b"': ("x y", "z\\w"), "größe": ("ä",)}
    proposal = replace(propose_groups(wide_study().design, 0)[0], groups=odd)
    assert tomllib.loads(proposal.toml())["groups"] == {n: list(c) for n, c in odd.items()}


def test_the_page_proposes_groups(page):
    text = " ".join(page.summary().split())
    assert (
        "60 covariates make about 10^18 subsets, and a long list to read; they would be 3 in "
        "groups by name and 4 in groups by correlation. Paste this into study.toml, or use "
        'groups=check(study).proposals[0].groups: [groups] lab = [ "lab_000", "lab_003",'
    ) in text
    assert page.to_dict()["proposals"][0]["groups"]["lab"][0] == "lab_000"
    assert max(map(len, page.summary().splitlines())) <= 80


def test_long_lists_are_cut_short(page):
    assert " and 20 more " in " ".join(page.summary().split())


def test_wide_tables_are_judged_fairly(page):
    assert page.overlap.ratios[1].verdict != "poor"


def test_some_columns_keep_both_roles_and_their_names():
    design = wide_study(80, baseline=["w", "lab_000", "lab_003", "lab_006"]).design
    few = some_columns(design, 20)
    names = [column.name for column in few.columns]
    assert len(names) == 21
    assert [names[c] for c in few.baseline] == ["w", "lab_003"]
    assert [names[p.columns[0]] for p in few.players] == [p.name for p in few.players]
    whole = [column.name for column in design.columns]
    for k, name in enumerate(names):
        before = design.features.source[:, whole.index(name)]
        assert np.array_equal(few.features.source[:, k], before)
    assert some_columns(few, 20) is few


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1024, "1,024"),
        (999_999, "999,999"),
        (2.0**21, "about 2 million"),
        (2.0**33, "about 9 billion"),
        (2.0**49, "about 563 trillion"),
        (2.0**199, "about 10^60"),
    ],
)
def test_huge_numbers_in_words(number, words):
    assert large(number) == words
