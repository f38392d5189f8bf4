"""A case study's section: what is shown, and what is said to agree with the paper."""

from __future__ import annotations

import pytest
from result_factory import make_gap

from experiments.case_kept import Beside, Difference, Ranked, Revised
from experiments.case_page import (
    INSURANCE,
    NULL,
    READMISSION,
    case_section,
    overview_table,
    tidy,
    verdict,
)
from experiments.pages import Measured

HALF = Measured(0.5, 0.4, 0.6)


def difference(k, low, high):
    return Difference(k, Measured((low + high) / 2, low, high))


def beside(differences=(), flagged=3, variables=4):
    order = tuple(f"v{k}" for k in range(variables))
    return Beside(
        rivals=(
            Ranked("mean_change", "covariate", order, flagged),
            Ranked("random_forest_acc", "outcome", order, None),
            Ranked("parametric_change", "outcome", (), None),
        ),
        revisions=(Revised("the model as it is", HALF, HALF),),
        differences=tuple(differences),
    )


def insured(first=0.6, noise=0.02, **changes):
    shares = {"PINCP": first, "SCHL": 0.05, "DIS": 0.02}
    return make_gap(outcome=shares, covariate=shares, share_noise=noise, rows=(900, 900), **changes)


def test_a_section_shows_parts_shares_rivals_and_revisions(tmp_path):
    gap = insured()
    words = ["**Agrees**: yes."]
    text = case_section(
        "NE to WV", "ne_to_wv", gap, beside([difference(1, 0, 0.1)]), tmp_path, words
    )
    assert "| outcome | -.049 |" in text
    assert "### Covariate shares" in text
    assert "| PINCP | .600 |" in text
    assert "| (base) |" in text
    assert "| RandomForestAcc (outcome) | v0, v1, v2, v3 |" in text
    assert "| ParametricChange (outcome) | no answer |" in text
    assert "| the model as it is | .500 (.400 to .600) | .500 (.400 to .600) |" in text
    assert "| 1 | +0.050 | +0.000 to +0.100 |" in text
    assert text.endswith("### Beside the paper\n\n- **Agrees**: yes.")
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {"ne_to_wv.svg", "ne_to_wv_covariate.svg", "ne_to_wv_outcome.svg"}
    assert all(f"({name})" in text for name in drawn)


def test_undefined_shares_are_said_to_be_so(tmp_path):
    gap = insured(defined=())
    text = case_section("NE to WY", "ne_to_wy", gap, beside(), tmp_path, [])
    assert gap.shares["outcome"].reason in text
    assert "The outcome shares are undefined: they rank no variables." in text
    assert [path.name for path in tmp_path.iterdir()] == ["ne_to_wy.svg"]


def test_all_comparisons_at_a_glance():
    text = overview_table([("a", insured()), ("b", insured(defined=()))])
    first, second = text.splitlines()[2:]
    assert first.startswith("| a | .804 to .732 |")
    assert first.endswith("| PINCP, alone |")
    assert second.endswith("| undefined |")


def test_the_tidy_table_has_every_estimate():
    lines = tidy(insured()).splitlines()
    assert lines[0] == "part,term,kind,estimate,standard_error,low,high,level,p_value,unit,plugin"
    assert sum(line.startswith("outcome,") and ",share" in line for line in lines) == 4


def first_words(sentences):
    return [sentence.partition(":")[0] for sentence in sentences]


def test_agreement_in_everything_is_called_so():
    gap = insured(corners=(0.84, 0.83, 0.82, 0.66), noise=0.02)
    words = verdict(gap, beside([difference(1, 0.001, 0.01)]), INSURANCE)
    assert first_words(words) == ["**Agrees**"] * 4 + ["Not in the paper"]
    assert words[2] == "**Agrees**: income (PINCP) has the largest outcome share, by far."
    assert "clearly better than by RandomForestAcc's at 1 and clearly worse at 0 of 1" in words[3]


@pytest.mark.parametrize(
    ("gap", "place", "expected"),
    [
        (insured(corners=(0.84, 0.83, 0.82, 0.75)), 0, "**Partly**: a drop, but a smaller one: "),
        (insured(corners=(0.84, 0.83, 0.82, 0.85)), 0, "**Differs**: accuracy goes from .84"),
        (insured(corners=(0.84, 0.83, 0.70, 0.66)), 1, "**Differs**: the covariate part is the "),
        (insured(0.06, noise=0.06), 2, "**Partly**: income (PINCP) has "),
        (insured(-0.3), 2, "**Differs**: SCHL has the largest outcome share; income (PINCP), the"),
        (insured(defined=()), 2, "**Cannot be compared**: income is the paper's first; here no"),
        (make_gap(), 2, "**Cannot be compared**: income is not among these columns."),
    ],
)
def test_what_does_not_agree_is_named(gap, place, expected):
    assert verdict(gap, beside(), INSURANCE)[place].startswith(expected)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([(0.001, 0.01), (-0.01, 0.01)], "**Agrees**: "),
        ([(-0.02, -0.01), (0.001, 0.01)], "**Partly**: "),
        ([(-0.02, -0.01), (-0.01, 0.01)], "**Differs**: "),
    ],
)
def test_revisions_are_counted_by_their_intervals(ends, expected):
    found = [difference(k, low, high) for k, (low, high) in enumerate(ends, start=1)]
    assert verdict(insured(), beside(found), INSURANCE)[3].startswith(expected)


@pytest.mark.parametrize(("flagged", "expected"), [(10, "**Agrees**"), (5, "**Partly**")])
def test_mean_change_flags_nearly_everything_or_not(flagged, expected):
    words = verdict(make_gap(), beside(flagged=flagged, variables=10), READMISSION)
    assert (
        f"{expected}: MeanChange flags {flagged} of 10 variables (p < 0.05); in the paper nearly "
        "every one."
    ) in words


def test_few_variables_stand_out_or_none_does():
    assert "few variables stand out" in verdict(insured(), beside(), READMISSION)[2]
    assert "no variable is singled out" in verdict(insured(defined=()), beside(), READMISSION)[2]


def test_a_null_is_judged_as_one():
    still = insured(corners=(0.84, 0.84, 0.84, 0.84), defined=())
    assert first_words(verdict(still, beside(), NULL)) == ["**As expected**"] * 3
    moved = verdict(insured(), beside(), NULL)
    assert first_words(moved) == ["**Not as expected**"] * 3
